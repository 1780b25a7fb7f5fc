import { AgentError, type Card, type Interface, type Maybe, type Records } from "../../envelope/index.js";
import type { LanguageModel } from "../../router/models/index.js";
import { etagOf, isFresh } from "../../transport/etag.js";
import type { HttpRequest, HttpResponse } from "../../transport/exchange.js";
import { documentResponse } from "../document.js";
import { callerError } from "../host.js";
import type { Contribution, Host, Route, Served } from "../protocol.js";
import { DocumentLibrary } from "./documents/library.js";
import { errorReply } from "./errors.js";
import { AnswerCache } from "./server/answer-cache.js";
import { Answerers, type ServerOptions } from "./server/answerers.js";
import { Conversations } from "./server/conversations.js";
import {
  baseUrl,
  type DiscoveryTools,
  ownDocument,
  publishedText,
  sourcesByHash,
  supportedDocuments,
} from "./server/discovery.js";
import { answerMessage, endConversation, type MessageTools } from "./server/messages.js";
import { type AgoraPath, BASE, CONVERSATIONS, decoded, PROTOCOLS, parsePath, RESERVED, WELL_KNOWN } from "./server/paths.js";
import { Routines } from "./server/routines.js";
import { readSettings } from "./settings.js";

const DOCUMENT_PATHS = [...Object.values(WELL_KNOWN), `${PROTOCOLS}*`];

export const routes: readonly Route[] = [
  // JSON-RPC requests and invalid JSON match routes with a higher rank; everything else is answered here.
  { method: "POST", path: "/" },
  { method: "POST", path: BASE },
  { method: "*", path: `${BASE}/*` },
  { method: "POST", path: `${CONVERSATIONS}*` },
  { method: "DELETE", path: `${CONVERSATIONS}*` },
  ...DOCUMENT_PATHS.flatMap((path): Route[] => [
    { method: "GET", path },
    { method: "HEAD", path },
  ]),
];

/** The server side. */
export function serveWith(options: ServerOptions): (host: Host) => Served {
  return (host) => serve(host, options);
}

function serve(host: Host, options: ServerOptions): Served {
  const settings = readSettings(host.settings("agora"));
  for (const { name } of host.cards()) {
    if (RESERVED.has(name))
      throw new AgentError(
        "conflict",
        `an agent cannot be named ${JSON.stringify(name)}: the name is reserved by the Agora paths`,
      );
  }
  const routines = new Routines(host);
  const records = recordsOf(host);
  const contents = recordsOf(host, "content");
  const answers = (): Records => {
    const found = contents();
    if (found === undefined) throw new AgentError("unsupported", "this host has no store for conversations");
    return found;
  };
  const library = libraryIn(records, host);
  const { dialect } = settings;
  const { keywords, programmer, model: given = host.model } = options;
  const model = given === undefined ? undefined : withoutDetails(given);
  const followsDocuments = model !== undefined && settings.naturalLanguage === "model";
  const discovery: DiscoveryTools = { host, settings, routines, keywords, followsDocuments, library };

  let named = byName(host.cards());
  const cardNamed = (name: Maybe<string>): Card => {
    const cards = host.cards();
    if (named.cards !== cards) named = byName(cards);
    const card = name === undefined ? cards[0] : named.byName.get(name);
    if (card === undefined) throw new AgentError("not_found", "unknown agent");
    return card;
  };
  const messages: MessageTools = {
    host,
    settings,
    routines,
    cardNamed,
    answers: new AnswerCache(contents, () => host.now()),
    conversations: new Conversations(host, settings, answers),
    hasStore: () => records() !== undefined,
    answerers: new Answerers({
      model,
      programmer,
      keywords,
      host,
      settings,
      routines,
      library,
      supported: ({ agent, request }) => supportedDocuments(discovery, agent, baseUrl(host, request, "")),
    }),
  };

  async function exchange(request: HttpRequest): Promise<HttpResponse> {
    const where = parsePath(request.path);
    try {
      return await (answerAt(request, where) ?? readAt(request, where));
    } catch (thrown) {
      return errorReply(callerError(host, thrown), { dialect, whole: host.koineCallers === true });
    }
  }

  /** Answers messages and ended conversations. Undefined for other requests. */
  function answerAt(request: HttpRequest, where: AgoraPath): Maybe<Promise<HttpResponse>> {
    const { method } = request;
    const { rest } = where;
    if (rest === "" && method === "POST") return answerMessage(messages, request, where, undefined);
    if (!rest.startsWith(CONVERSATIONS)) return undefined;
    const id = decoded(rest.slice(CONVERSATIONS.length));
    if (method === "POST") return answerMessage(messages, request, where, id);
    return method === "DELETE" ? endConversation(messages, request, where, id) : undefined;
  }

  /** Serves the public documents. */
  async function readAt(request: HttpRequest, { agent, rest, base }: AgoraPath): Promise<HttpResponse> {
    host.checkPublic?.(request);
    const isRead = request.method === "GET" || request.method === "HEAD";
    if (isRead && rest.startsWith(PROTOCOLS))
      return textResponse(request, await publishedText(discovery, decoded(rest.slice(PROTOCOLS.length))));
    const known = Object.values(WELL_KNOWN).find((path) => path === rest);
    if (known === undefined && rest !== "")
      throw new AgentError("not_found", `No route for ${request.method} ${request.path.slice(0, 200)}`);
    if (known === undefined || !isRead) throw new AgentError("unsupported_method", `${request.method} is not allowed here`);
    const card = cardNamed(agent);
    const documents = await supportedDocuments(discovery, agent, baseUrl(host, request, base));
    switch (known) {
      case WELL_KNOWN.ours:
        return documentResponse(
          request,
          ownDocument(discovery, card, addressOf(card.name, host.publicUrl(request)), documents),
          "",
        );
      case WELL_KNOWN.spec:
        return documentResponse(request, sourcesByHash(documents), "");
      default:
        return documentResponse(request, { status: "success", protocols: sourcesByHash(documents) }, "");
    }
  }

  function addressOf(agent: string, publicUrl: string): string {
    const isDefault = host.cards()[0]?.name === agent;
    return `${publicUrl}${BASE}${isDefault ? "" : `/${encodeURIComponent(agent)}`}`;
  }

  const interfaces = (agent: string, publicUrl: string): readonly Interface[] => [
    { protocol: "agora", version: "0.2", binding: "HTTP", url: addressOf(agent, publicUrl) },
  ];
  const contributions: readonly Contribution[] = [
    {
      path: "/.well-known/agent.json",
      vary: [],
      members() {
        const { name, description, version } = cardNamed(undefined);
        return { name, description, version };
      },
    },
  ];
  return { exchange, interfaces, contributions };
}

/** Cached until the host serves other agents: there may be a thousand, and every request needs it. */
function byName(cards: readonly Card[]) {
  return { cards, byName: new Map(cards.map((card) => [card.name, card])) };
}

/** The record store of the host. Undefined if it has none. */
function recordsOf(host: Host, holding?: "content"): () => Maybe<Records> {
  let found: Maybe<Records>;
  return () => {
    try {
      found ??= host.records("agora", holding);
    } catch {
      return undefined;
    }
    return found;
  };
}

function libraryIn(records: () => Maybe<Records>, host: Host): () => Maybe<DocumentLibrary> {
  let made: Maybe<DocumentLibrary>;
  return () => {
    const found = records();
    if (found !== undefined) made ??= new DocumentLibrary(found, { now: () => host.now() });
    return made;
  };
}

/** The text is sent unchanged, because it is identified by its hash. */
function textResponse(request: HttpRequest, text: Maybe<string>): HttpResponse {
  if (text === undefined) throw new AgentError("not_found", "unknown protocol document");
  const etag = etagOf(text);
  const headers = { "content-type": "text/plain; charset=utf-8", "cache-control": "max-age=60", etag };
  if (isFresh(request.headers["if-none-match"], etag)) return { status: 304, headers, body: undefined };
  return { status: 200, headers, body: request.method === "HEAD" ? undefined : text };
}

/**
 * A model whose errors are not disclosed. Callers learn only that it did not answer: its address, key and account are internal,
 * and a refused key is not the caller's.
 */
function withoutDetails(model: LanguageModel): LanguageModel {
  return {
    async complete(request, cancel) {
      try {
        return await model.complete(request, cancel);
      } catch (cause) {
        if (cancel.reason !== undefined) throw cancel.reason;
        const { code, facts } = AgentError.from(cause);
        throw new AgentError(code === "deadline" ? code : "unavailable", "the language model of this agent did not answer", {
          cause,
          ...(facts.retryAfterMs === undefined ? undefined : { retryAfterMs: facts.retryAfterMs }),
        });
      }
    },
  };
}
