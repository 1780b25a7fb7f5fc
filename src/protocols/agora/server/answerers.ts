import { AgentError, type Card, type JsonObject, type Maybe, RecentMap } from "../../../envelope/index.js";
import type { LanguageModel } from "../../../router/models/index.js";
import type { Host } from "../../protocol.js";
import { isHash } from "../documents/hash.js";
import type { DocumentLibrary, KnownDocument } from "../documents/library.js";
import { NO_PROGRAMMER, type Programmer, type Routine } from "../documents/programmer.js";
import { findDocument } from "../documents/sources.js";
import { DOWNLOAD_FAILED, unsuitable } from "../errors.js";
import type { AgoraSettings } from "../settings.js";
import { NEGOTIATION } from "../wire.js";
import type { Answerer, IncomingMessage, Responder } from "./incoming-message.js";
import type { KeywordResponder } from "./keywords.js";
import type { Routines } from "./routines.js";

/** Options of a server beyond its settings. */
export interface ServerOptions {
  /** Answers natural language and documents without a routine, if enabled in the settings, and negotiates. */
  readonly model?: Maybe<LanguageModel>;
  readonly programmer?: Maybe<Programmer>;
  readonly keywords?: Maybe<KeywordResponder>;
}

export interface AnswererTools extends ServerOptions {
  readonly host: Host;
  readonly settings: AgoraSettings;
  readonly routines: Routines;
  /** Undefined if the host has no record store. */
  library(): Maybe<DocumentLibrary>;
  /** The supported documents, with the URLs of their texts. */
  supported(incoming: IncomingMessage): Promise<readonly KnownDocument[]>;
}

/** The maximum number of cached routines from the programmer. */
const WRITTEN_ROUTINES = 100;

/** The maximum length of a document URL that is stored and published. */
const SOURCE_CHARACTERS = 2_048;

/** The maximum number of concurrent document searches, for all callers together. */
const SEARCHES_AT_ONCE = 16;
const SEARCH_AGAIN_MS = 5_000;

/** Selects what answers a message: the agent, a routine, the model, keywords or the negotiator. */
export class Answerers {
  readonly #tools: AnswererTools;
  #searches = 0;
  readonly #written = new RecentMap<Promise<Maybe<Routine>>>(WRITTEN_ROUTINES);

  constructor(tools: AnswererTools) {
    this.#tools = tools;
  }

  async find(incoming: IncomingMessage, card: Card, hash: string | null): Promise<Answerer> {
    if (hash === null) return this.#natural(incoming, card);
    if (hash === NEGOTIATION) return { kind: "talker", responder: this.#negotiator(card) };
    const routine = await this.#tools.routines.find(hash, card.name);
    if (routine !== undefined) return { kind: "agent", intent: routine.skill, json: routine.json };
    if (!isHash(hash))
      throw new AgentError("invalid_message", "protocolHash must be null, negotiation, or a SHA-1 in base64", {
        field: "protocolHash",
      });
    return this.#byDocument(incoming, card, await this.#document(hash, incoming));
  }

  async #natural({ wire }: IncomingMessage, card: Card): Promise<Answerer> {
    const { keywords, settings, model } = this.#tools;
    const fired = keywords?.answerTo(wire.body ?? "");
    if (fired !== undefined) return { kind: "talker", responder: fired };
    switch (settings.naturalLanguage) {
      case "agent":
        return { kind: "agent", intent: undefined, json: "never" };
      case "model": {
        if (model === undefined) throw new AgentError("unsupported", "no language model is configured");
        const { modelResponder: modelTalker } = await import("./model-responder.js");
        return { kind: "talker", responder: modelTalker(model, card, undefined) };
      }
      case "refuse":
        throw new AgentError(
          "unsupported",
          "natural language is not supported here; use one of the supported protocol documents",
        );
      default:
        return settings.naturalLanguage satisfies never;
    }
  }

  #negotiator(card: Card): Responder {
    const { model, supported } = this.#tools;
    return {
      async reply(state, text, incoming) {
        const [{ negotiatorFor }, { aboutAgent }] = await Promise.all([
          import("../negotiation/negotiator.js"),
          import("./model-responder.js"),
        ]);
        const negotiator = negotiatorFor({ catalogue: () => supported(incoming), model, about: aboutAgent(card) });
        return negotiator.reply(state ?? negotiator.open(incoming.caller), text, incoming.call.cancel);
      },
    };
  }

  /** A document from the library, or one that the message brings. Only a text with exactly this hash is accepted. */
  async #document(hash: string, { wire, caller }: IncomingMessage): Promise<KnownDocument> {
    const { host, settings } = this.#tools;
    const library = this.#tools.library();
    const known = await library?.get(hash);
    if (known !== undefined) return known;
    const usable = this.#modelForDocuments() !== undefined;
    // A document that nothing here could follow is not worth a request to an address that the caller chose.
    const follow: Maybe<Host["follow"]> =
      usable && settings.followSources ? (url, limits) => host.follow(url, limits) : undefined;
    const text = await this.#searching(() => findDocument(hash, wire.sources, follow));
    if (text === undefined && !usable && wire.sources.some(isHttp)) throw unsuitable(hash);
    if (text === undefined) throw new AgentError("invalid_message", DOWNLOAD_FAILED, { field: "protocolSources" });
    if (library === undefined) throw unsuitable(hash);
    const sources = wire.sources.filter((source) => isHttp(source) && source.length <= SOURCE_CHARACTERS);
    return library.add(text, { sources, learned: true, from: caller.owner });
  }

  /** Untrusted callers choose the URLs and each can be slow, so the number of concurrent searches is limited. */
  async #searching<T>(search: () => Promise<T>): Promise<T> {
    if (this.#searches >= SEARCHES_AT_ONCE)
      throw new AgentError("overloaded", "too many protocol documents are being fetched", { retryAfterMs: SEARCH_AGAIN_MS });
    this.#searches += 1;
    try {
      return await search();
    } finally {
      this.#searches -= 1;
    }
  }

  /** The model that follows documents without a routine; a programmer writes one only for documents that it followed. */
  #modelForDocuments(): Maybe<LanguageModel> {
    const { model, settings } = this.#tools;
    return settings.naturalLanguage === "model" && this.#tools.library() !== undefined ? model : undefined;
  }

  /** No routine is registered: a model can follow the document, if one is configured and judged it suitable. */
  async #byDocument(incoming: IncomingMessage, card: Card, document: KnownDocument): Promise<Answerer> {
    const { settings } = this.#tools;
    const model = this.#modelForDocuments();
    const library = this.#tools.library();
    if (model === undefined || library === undefined) throw unsuitable(document.hash);
    const { isJudgedSuitable: judgedByModel, modelResponder: modelTalker } = await import("./model-responder.js");
    let suitability = await library.suitability(document);
    if (suitability === "unknown") {
      suitability = (await judgedByModel(model, card, document, incoming)) ? "adequate" : "inadequate";
      await library.judge(document, suitability);
    }
    if (suitability !== "adequate") throw unsuitable(document.hash);
    // Uses by anonymous callers count too: the host has admitted them.
    const uses = incoming.conversation === undefined ? await library.use(document) : await library.uses(document.hash);
    const routine = uses >= settings.implementationThreshold ? await this.#routine(document, incoming) : undefined;
    return { kind: "talker", responder: routine === undefined ? modelTalker(model, card, document) : routineResponder(routine) };
  }

  /** Undefined if no routine is available: the model continues to answer. Requested once per document text. */
  #routine(document: KnownDocument, { call }: IncomingMessage): Promise<Maybe<Routine>> {
    const known = this.#written.get(document.sha256);
    if (known !== undefined) return known;
    const writing = (this.#tools.programmer ?? NO_PROGRAMMER).write(document, call.cancel).catch(() => undefined);
    this.#written.set(document.sha256, writing);
    return writing;
  }
}

function isHttp(source: string): boolean {
  return /^https?:/i.test(source);
}

function routineResponder(routine: Routine): Responder {
  return {
    async reply(state: Maybe<JsonObject>, text, { call }) {
      const { body, memory } = await routine.run(text, state ?? {}, call.cancel);
      return { state: memory, body };
    },
  };
}
