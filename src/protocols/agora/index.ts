import type { LanguageModel } from "../../router/models/index.js";
import type { DeclaredLoss, Protocol } from "../protocol.js";
import { PLAIN } from "./client/plain.js";
import { connectWith } from "./client.js";
import { MEMBER_PATHS } from "./codec/envelope-members.js";
import { commands } from "./commands.js";
import { deployments } from "./deployments.js";
import { discover, probe } from "./discover.js";
import type { Programmer } from "./documents/programmer.js";
import { features, traits } from "./features.js";
import { primitives } from "./primitives.js";
import { sendCodec } from "./send-codec.js";
import type { SenderOptions } from "./sender/options.js";
import { KeywordResponder, type KeywordRule } from "./server/keywords.js";
import { routes, serveWith } from "./server.js";
import { SETTINGS } from "./settings.js";

export { fingerprintOf, protocolHash } from "./documents/hash.js";
export type { KnownDocument } from "./documents/library.js";
export type { Programmer, Routine } from "./documents/programmer.js";
export type { SenderOptions, SenderRoutine, SenderTask } from "./sender/options.js";
export type { KeywordRule } from "./server/keywords.js";

/** Options of `createAgora`, beyond the JSON settings. */
export interface AgoraOptions {
  /** The language model for negotiation, and for answers if the setting is `naturalLanguage: "model"`. */
  readonly model?: LanguageModel;
  /** Writes routines for frequently used documents. Default: none. */
  readonly programmer?: Programmer;
  /** Protocol document texts that the client knows. */
  readonly documents?: readonly string[];
  /** Moves repeated tasks from natural language to documents, and from models to routines. Default: off. */
  readonly sender?: SenderOptions;
  /** Keyword rules that answer natural language before the agent or the model. Default: none. */
  readonly keywords?: readonly KeywordRule[];
}

const VERSION = "0.2";

/** Creates the Agora protocol with the given options. */
export function createAgora(options: AgoraOptions = {}): Protocol {
  const { model, programmer, documents = [], sender, keywords } = options;
  return {
    id: "agora",
    versions: [VERSION, PLAIN.version],
    traits,
    versionTraits: { [PLAIN.version]: { inputTurns: false, proofs: false } },
    features,
    primitives,
    losses: [...LOSSES, ...PLAIN_LOSSES],
    deployments,
    routes,
    carrier: { binding: "HTTP", contentHeaders: ["idempotency-key"] },
    serve: serveWith({
      model,
      programmer,
      keywords: keywords === undefined ? undefined : new KeywordResponder(keywords),
    }),
    connect: connectWith(sender === undefined ? { documents } : { documents, sender }),
    discover,
    probe,
    codec: sendCodec,
    settings: SETTINGS,
    samples: async (text) => (await import("./samples.js")).samples(text),
    commands,
    requirements: async () => (await import("./requirements.js")).requirements,
  };
}

/** Losses towards peers that read only the official members. Koine peers read the rest as extension members. */
const LOSSES: readonly DeclaredLoss[] = [
  declaredLoss("message.parts[]", "Agora has a single text body"),
  declaredLoss("message.context.sessionId", "the peer assigns the conversation id; only Koine peers take the caller's"),
  declaredLoss("message.context.idempotencyKey", "only Koine peers honour idempotency keys"),
  ...MEMBER_PATHS.map((path) => declaredLoss(path, "Agora has no member for it")),
  declaredLoss("operation.delivery=stream", "Agora has no streams; the answer is one final event"),
  declaredLoss("operation.delivery=accepted", "only Koine peers issue receipts; other answers are waited for"),
  declaredLoss("operation.task=always", "only Koine peers have tasks"),
  declaredLoss("operation.push", "Agora has no push notifications"),
  declaredLoss("operation.outputModes", "a message cannot request content types"),
  declaredLoss("operation.historyLength", "a reply carries no history"),
  declaredLoss("operation.metadata", "a request carries only its message"),
  declaredLoss("task.artifacts", "an answer is a single text; only Koine peers receive artifacts"),
  declaredLoss("task.metadata", "only Koine peers have tasks"),
  declaredLoss("task.history", "a reply carries no history"),
];

/** The plain form has the context beside the text. */
const PLAIN_LOSSES: readonly DeclaredLoss[] = LOSSES.filter(({ path }) => !path.startsWith("message.context.")).map((loss) => ({
  ...loss,
  version: PLAIN.version,
}));

function declaredLoss(path: string, reason: string): DeclaredLoss {
  return { version: VERSION, path, reason };
}

/** Agora as implemented by the Python library 0.2.0. The settings select the dialects of the specification and of the demonstration. */
export const agora: Protocol = createAgora();
