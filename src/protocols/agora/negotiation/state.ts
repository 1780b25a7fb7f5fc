import { isObject, type Json, type JsonObject } from "../../../envelope/index.js";

/** The round limit of the Python library, for both sides. */
export const ROUNDS = 10;

/** One stored turn of a conversation with a model. */
export interface Turn {
  readonly role: "user" | "assistant";
  readonly content: string;
}

/** Limit of remembered text, in characters: it is stored in one record and sent to the model with every message. */
const REMEMBERED_CHARACTERS = 40_000;

/** The newest turns within the limit. */
export function latestTurns<T extends Turn>(turns: readonly T[]): readonly T[] {
  let room = REMEMBERED_CHARACTERS;
  const tooOld = turns.findLastIndex(({ content }) => {
    room -= content.length;
    return room < 0;
  });
  return turns.slice(tooOld + 1);
}

/** The stored state of the answering side. */
export interface NegotiationState extends JsonObject {
  readonly round: number;
  /** The documents proposed by this side so far. */
  readonly countered: readonly string[];
  readonly turns: readonly (Turn & JsonObject)[];
}

export const NO_ROUNDS: NegotiationState = Object.freeze({ round: 0, countered: [], turns: [] });

/** Reads a stored state. Unknown data is read as a new negotiation. */
export function readState({ round, countered, turns }: JsonObject): NegotiationState {
  return {
    round: typeof round === "number" ? round : 0,
    countered: listOf(countered).filter((hash): hash is string => typeof hash === "string"),
    turns: listOf(turns).filter(isTurn),
  };
}

function listOf(value: JsonObject[string]): readonly Json[] {
  return Array.isArray(value) ? value : [];
}

function isTurn(value: Json): value is Turn & JsonObject {
  return isObject(value) && (value.role === "user" || value.role === "assistant") && typeof value.content === "string";
}
