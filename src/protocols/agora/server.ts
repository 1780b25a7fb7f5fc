import { AgentError, type Card, type Interface, type Maybe, type Records } from "../../envelope/index.js";
import { etagOf, isFresh } from "../../transport/etag.js";
import type { HttpRequest, HttpResponse } from "../../transport/exchange.js";
import { answerable } from "../answerable.js";
import { documentResponse } from "../document.js";
import type { Contribution, Host, Route, Served } from "../protocol.js";
import { DocumentLibrary } from "./documents/library.js";
import { errorReply } from "./errors.js";
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
import { KeptAnswers } from "./server/kept-answers.js";
import { answerMessage, hangUp, type MessageTools } from "./server/messages.js";
import { Routines } from "./server/routines.js";
import { shielded } from "./server/shielded-model.js";
import { BASE, CONVERSATIONS, decoded, PROTOCOLS, RESERVED, WELL_KNOWN, type Where, whereIn } from "./server/where.js";
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
      throw new AgentError("conflict", `an agent cannot be called ${JSON.stringify(name)}: the name is part of the Agora paths`);
  }
  const routines = new Routines(host);
  const records = recordsOf(host);
  const kept = (): Records => {
    const found = records();
    if (found === undefined) throw new AgentError("unsupported", "this host has nowhere to keep conversations");
    return found;
  };
  const library = libraryIn(records, host);
  const { dialect } = settings;
  const { keywords, programmer, model: given = host.model } = options;
  const model = given === undefined ? undefined : shielded(given);
  const followsDocuments = model !== undefined && settings.naturalLanguage === "model";
  const discovery: DiscoveryTools = { host, settings, routines, keywords, followsDocuments, library };

  let named = byName(host.cards());
  const cardNamed = (name: Maybe<string>): Card => {
    const cards = host.cards();
    if (named.cards !== cards) named = byName(cards);
    const card = name === undefined ? cards[0] : named.byName.get(name);
    if (card === undefined) throw new AgentError("not_found", "no such agent is served here");
    return card;
  };
  const messages: MessageTools = {
    host,
    settings,
    routines,
    cardNamed,
    kept: new KeptAnswers(records, () => host.now()),
    conversations: new Conversations(host, settings, kept),
    remembers: () => records() !== undefined,
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
    const where = whereIn(request.path);
    try {
      return await (answerAt(request, where) ?? readAt(request, where));
    } catch (thrown) {
      return errorReply(answerable(host, thrown), { dialect, whole: false });
    }
  }

  /** Answers messages and ended conversations. Undefined for other requests. */
  function answerAt(request: HttpRequest, where: Where): Maybe<Promise<HttpResponse>> {
    const { method } = request;
    const { rest } = where;
    if (rest === "" && method === "POST") return answerMessage(messages, request, where, undefined);
    if (!rest.startsWith(CONVERSATIONS)) return undefined;
    const id = decoded(rest.slice(CONVERSATIONS.length));
    if (method === "POST") return answerMessage(messages, request, where, id);
    return method === "DELETE" ? hangUp(messages, request, where, id) : undefined;
  }

  /** Serves the public documents. */
  async function readAt(request: HttpRequest, { agent, rest, base }: Where): Promise<HttpResponse> {
    const isRead = request.method === "GET" || request.method === "HEAD";
    if (isRead && rest.startsWith(PROTOCOLS))
      return textResponse(request, await publishedText(discovery, decoded(rest.slice(PROTOCOLS.length))));
    const known = Object.values(WELL_KNOWN).find((path) => path === rest);
    if (known === undefined && rest !== "") throw new AgentError("not_found", `nothing answers at ${request.path.slice(0, 200)}`);
    if (known === undefined || !isRead) throw new AgentError("unsupported_method", `${request.method} is not answered here`);
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
function recordsOf(host: Host): () => Maybe<Records> {
  let found: Maybe<Records>;
  return () => {
    try {
      found ??= host.records("agora");
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
  if (text === undefined) throw new AgentError("not_found", "no such protocol document is published here");
  const etag = etagOf(text);
  const headers = { "content-type": "text/plain; charset=utf-8", "cache-control": "max-age=60", etag };
  if (isFresh(request.headers["if-none-match"], etag)) return { status: 304, headers, body: undefined };
  return { status: 200, headers, body: request.method === "HEAD" ? undefined : text };
}
