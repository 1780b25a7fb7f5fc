import { AgentError, type JsonObject, type Maybe } from "../../envelope/index.js";
import type { SettingInfo } from "../protocol.js";
import { DIALECTS, type Dialect } from "./wire.js";

/** What answers a message that follows no document: the agent's function, the language model of `createAgora`, or nothing. */
const NATURAL_LANGUAGE = ["agent", "model", "refuse"] as const;
export type NaturalLanguage = (typeof NATURAL_LANGUAGE)[number];

export interface AgoraSettings {
  /** The format of replies and errors; every dialect is read. */
  readonly dialect: Dialect;
  /** Lifetime of a conversation: from its start, as in the Python library, or with `conversationIdle` from its last use. */
  readonly conversationMs: number;
  readonly conversationIdle: boolean;
  /** Limit of open conversations per caller. */
  readonly maxConversations: number;
  /** How long a message of a conversation waits for its answer before it gets a receipt. */
  readonly replyWithinMs: number;
  readonly naturalLanguage: NaturalLanguage;
  /** Whether http(s) sources of documents are fetched, through the host's guard. Data URIs are always read. */
  readonly followSources: boolean;
  /** The use count from which the programmer is asked for a routine, if there is one. Default of the Python library. */
  readonly implementationThreshold: number;
}

const DEFAULT_SETTINGS: AgoraSettings = Object.freeze({
  dialect: "python",
  conversationMs: 300_000,
  conversationIdle: false,
  maxConversations: 100,
  replyWithinMs: 30_000,
  naturalLanguage: "agent",
  followSources: true,
  implementationThreshold: 5,
});

/** The settings, for help texts. */
export const SETTINGS: readonly SettingInfo[] = [
  {
    name: "dialect",
    kind: "text",
    example: "spec",
    about:
      "the format of replies: that of the Python library (python, the default), the specification (spec), or the demo (demo)",
  },
  {
    name: "naturalLanguage",
    kind: "text",
    example: "refuse",
    about:
      "what answers messages without a document: the agent's function (agent, the default), the language model (model), or nothing (refuse)",
  },
  {
    name: "conversationMs",
    kind: "number",
    example: "60000",
    about: "lifetime of a conversation, from its start; 300000 by default",
  },
  {
    name: "conversationIdle",
    kind: "boolean",
    example: "true",
    about: "measure the lifetime from the last use instead; false by default",
  },
  {
    name: "maxConversations",
    kind: "number",
    example: "10",
    about: "maximum number of open conversations per caller; 100 by default",
  },
  {
    name: "replyWithinMs",
    kind: "number",
    example: "5000",
    about: "how long a message of a conversation waits for its answer before it gets a receipt; 30000 by default",
  },
  {
    name: "followSources",
    kind: "boolean",
    example: "false",
    about: "whether http(s) sources of protocol documents are fetched, through the guard; true by default",
  },
  {
    name: "implementationThreshold",
    kind: "number",
    example: "10",
    about: "the use of a document from which the programmer, if configured, is asked for a routine; 5 by default",
  },
];

/** The settings of the user, validated at start. Unknown names are rejected, because they would have no effect. */
export function readSettings(given: Maybe<JsonObject>): AgoraSettings {
  const settings = given ?? {};
  for (const name of Object.keys(settings))
    if (!Object.hasOwn(DEFAULT_SETTINGS, name)) throw wrong(name, "is not a setting of agora");
  return {
    dialect: oneOf(DIALECTS, settings, "dialect"),
    conversationMs: count(settings, "conversationMs"),
    conversationIdle: flag(settings, "conversationIdle"),
    maxConversations: count(settings, "maxConversations"),
    replyWithinMs: count(settings, "replyWithinMs"),
    naturalLanguage: oneOf(NATURAL_LANGUAGE, settings, "naturalLanguage"),
    followSources: flag(settings, "followSources"),
    implementationThreshold: count(settings, "implementationThreshold"),
  };
}

function oneOf<T extends string>(known: readonly [T, ...T[]], given: JsonObject, field: string): T {
  const value = given[field] ?? known[0];
  const found = known.find((one) => one === value);
  if (found === undefined) throw wrong(field, `must be one of ${known.join(", ")}`);
  return found;
}

/** The maximum delay of a timer. */
const LONGEST_MS = 2_147_483_647;
/** Maximum values. Conversations are enumerated whenever one is opened. */
const MOST = {
  conversationMs: LONGEST_MS,
  maxConversations: 10_000,
  replyWithinMs: LONGEST_MS,
  implementationThreshold: Number.MAX_SAFE_INTEGER,
} as const;

function count(given: JsonObject, field: keyof typeof MOST): number {
  const value = given[field] ?? DEFAULT_SETTINGS[field];
  if (typeof value !== "number" || !Number.isSafeInteger(value) || value < 1 || value > MOST[field])
    throw wrong(field, `must be a whole number from 1 to ${MOST[field]}`);
  return value;
}

function flag(given: JsonObject, field: "conversationIdle" | "followSources"): boolean {
  const value = given[field] ?? DEFAULT_SETTINGS[field];
  if (typeof value !== "boolean") throw wrong(field, "must be true or false");
  return value;
}

function wrong(field: string, problem: string): AgentError {
  return new AgentError("invalid_message", `agora.${field} ${problem}`, { field });
}
