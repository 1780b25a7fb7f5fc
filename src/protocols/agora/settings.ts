import { AgentError, type JsonObject, type Maybe } from "../../envelope/index.js";
import type { SettingInfo } from "../protocol.js";
import { DIALECTS, type Dialect } from "./wire.js";

/**
 * Who answers a message that follows no document: the agent's own function, the language model that `createAgora` was given,
 * or nobody.
 */
const NATURAL_LANGUAGE = ["agent", "model", "refuse"] as const;
export type NaturalLanguage = (typeof NATURAL_LANGUAGE)[number];

export interface AgoraSettings {
  /** How replies and errors are written; readers take every dialect. */
  readonly dialect: Dialect;
  /** How long a conversation lives: from its beginning, as in the library, or with `conversationIdle` from its last use. */
  readonly conversationMs: number;
  readonly conversationIdle: boolean;
  /** How many conversations one caller may have open. */
  readonly maxConversations: number;
  /** How long a message of a conversation waits for its answer before it gets a receipt. */
  readonly replyWithinMs: number;
  readonly naturalLanguage: NaturalLanguage;
  /** Whether http(s) sources of documents are fetched, through the host's guard; data URIs always are read. */
  readonly followSources: boolean;
  /** From which use on the programmer is asked for a routine, where there is one. The library's number. */
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

/** What people can set, for help texts. */
export const SETTINGS: readonly SettingInfo[] = [
  {
    name: "dialect",
    kind: "text",
    example: "spec",
    about: "how replies are written: as the library does (python, the default), the specification (spec), or the demo (demo)",
  },
  {
    name: "naturalLanguage",
    kind: "text",
    example: "refuse",
    about:
      "who answers without a document: the agent's function (agent, the default), the language model (model), nobody (refuse)",
  },
  {
    name: "conversationMs",
    kind: "number",
    example: "60000",
    about: "how long a conversation lives after it began; 300000 by default",
  },
  {
    name: "conversationIdle",
    kind: "boolean",
    example: "true",
    about: "count that time from the last use instead; false by default",
  },
  {
    name: "maxConversations",
    kind: "number",
    example: "10",
    about: "how many one caller may have open; 100 by default",
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
    about: "from which use of a document on a programmer is asked for a routine, where one is plugged in; 5 by default",
  },
];

/** The user's settings for this protocol, checked at start; a name that is not known is refused, because it does nothing. */
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

/** The longest time a timer of the machine can be set to. */
const LONGEST_MS = 2_147_483_647;
/** What a setting may be at most; conversations are looked through when one is opened. */
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
