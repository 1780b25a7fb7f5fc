import { AgentError, type Cancel, encodeBase64, type JsonObject, type Maybe, type Records } from "../../../envelope/index.js";
import { InTurn } from "./in-turn.js";

const DAY_MS = 24 * 60 * 60 * 1000;
/** How long an answer is kept if the card declares no idempotency window. */
const KEEP_MS = DAY_MS;
/** As many bytes as the keys of tasks have. */
const KEY_BYTES = 256;
/** How many answers are kept for one owner in a day: keys cost nothing to make up, and the room for records is everybody's. */
const KEPT_PER_DAY = 10_000;
/** How many messages with one key may wait for its answer. */
const WAITING = 16;

export interface Talked {
  readonly body: string;
  readonly state: Maybe<JsonObject>;
}

/** One message under a key. */
export interface Keyed {
  readonly owner: string;
  readonly key: string;
  /** All that makes two messages the same. */
  readonly said: readonly (string | null)[];
  readonly keepMs: Maybe<number>;
  readonly cancel: Cancel;
}

/**
 * What was answered without a task, by a model, a negotiator or a rule: a message that comes a second time under its key gets
 * the same again, and nobody is asked anew. Tasks have keys of their own.
 */
export class KeptAnswers {
  readonly #records: () => Maybe<Records>;
  readonly #now: () => number;
  readonly #perDay: number;
  readonly #line = new InTurn(WAITING);

  constructor(records: () => Maybe<Records>, now: () => number, perDay: number = KEPT_PER_DAY) {
    this.#records = records;
    this.#now = now;
    this.#perDay = perDay;
  }

  async once(keyed: Keyed, answer: () => Promise<Talked>): Promise<Talked> {
    checkKey(keyed.key);
    const records = this.#records();
    if (records === undefined) throw new AgentError("unsupported", "this host has nowhere to keep what a key guards");
    const name = `answer/${keyed.owner.length}:${keyed.owner}/${keyed.key}`;
    return this.#line.run(name, keyed.cancel, async () => {
      const digest = await digestOf(keyed.said);
      const before = await records.get(name);
      if (before !== undefined) return repeated(before, digest);
      await this.#requireRoom(records, keyed.owner);
      const made = await answer();
      await keep(records, name, { digest, body: made.body }, keyed.keepMs ?? KEEP_MS);
      return made;
    });
  }

  /** Before anybody is asked: what cannot be kept would be asked for again. */
  async #requireRoom(records: Records, owner: string): Promise<void> {
    const day = Math.floor(this.#now() / DAY_MS);
    const count = await records.count(`answers/${owner.length}:${owner}/${day}`, DAY_MS);
    if (count > this.#perDay) throw new AgentError("overloaded", `at most ${this.#perDay} keys are kept for one caller in a day`);
  }
}

/** Throws `invalid_message` for a key that guards nothing. */
export function checkKey(key: string): void {
  if (key !== "" && new TextEncoder().encode(key).byteLength <= KEY_BYTES) return;
  throw new AgentError("invalid_message", `an idempotency key must have 1 to ${KEY_BYTES} bytes`, { field: "Idempotency-Key" });
}

/** What the conversation remembers was written with the first answer, and stays as it is. */
function repeated({ digest, body }: JsonObject, wanted: string): Talked {
  if (digest !== wanted || typeof body !== "string")
    throw new AgentError("conflict", "the idempotency key was used for another message", { field: "Idempotency-Key" });
  return { body, state: undefined };
}

async function keep(records: Records, name: string, value: JsonObject, keepMs: number): Promise<void> {
  try {
    await records.put(name, value, keepMs);
  } catch (thrown) {
    // There is an answer, and it was paid for: where it finds no room only its repeat costs again.
    if (!(thrown instanceof AgentError) || (thrown.code !== "too_large" && thrown.code !== "overloaded")) throw thrown;
  }
}

async function digestOf(said: Keyed["said"]): Promise<string> {
  const bytes = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(JSON.stringify(said)));
  return encodeBase64(new Uint8Array(bytes));
}
