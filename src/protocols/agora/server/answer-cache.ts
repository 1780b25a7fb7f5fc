import { AgentError, type Cancel, encodeBase64, type JsonObject, type Maybe, type Records } from "../../../envelope/index.js";
import { SerialQueue } from "./serial-queue.js";

const DAY_MS = 24 * 60 * 60 * 1000;
/** How long an answer is kept if the card declares no idempotency window. */
const KEEP_MS = DAY_MS;
/** The limit of task idempotency keys, in bytes. */
const KEY_BYTES = 256;
/** Limit of answers kept per owner and day: keys are free to create, and record storage is shared. */
const KEPT_PER_DAY = 10_000;
/** Limit of messages with the same key that wait for its answer. */
const WAITING = 16;

export interface ResponderAnswer {
  readonly body: string;
  readonly state: Maybe<JsonObject>;
}

/** One message with an idempotency key. */
export interface KeyedMessage {
  readonly owner: string;
  readonly key: string;
  /** The values that make two messages equal. */
  readonly identity: readonly (string | null)[];
  readonly keepMs: Maybe<number>;
  readonly cancel: Cancel;
}

/**
 * Answers produced without a task, by a model, a negotiator or a rule. A repeated message with the same key gets the stored
 * answer, and no second call is made. Tasks have their own idempotency keys.
 */
export class AnswerCache {
  readonly #records: () => Maybe<Records>;
  readonly #now: () => number;
  readonly #perDay: number;
  readonly #line = new SerialQueue(WAITING);

  constructor(records: () => Maybe<Records>, now: () => number, perDay: number = KEPT_PER_DAY) {
    this.#records = records;
    this.#now = now;
    this.#perDay = perDay;
  }

  async once(keyed: KeyedMessage, answer: () => Promise<ResponderAnswer>): Promise<ResponderAnswer> {
    checkKey(keyed.key);
    const records = this.#records();
    if (records === undefined) throw new AgentError("unsupported", "this host has no store for idempotency keys");
    const name = `answer/${keyed.owner.length}:${keyed.owner}/${keyed.key}`;
    return this.#line.run(name, keyed.cancel, async () => {
      const digest = await digestOf(keyed.identity);
      const before = await records.get(name);
      if (before !== undefined) return repeated(before, digest);
      await this.#requireRoom(records, keyed.owner);
      const made = await answer();
      await keep(records, name, { digest, body: made.body }, keyed.keepMs ?? KEEP_MS);
      return made;
    });
  }

  /** Before the call: if the answer cannot be stored, a repeat would cost a second call. */
  async #requireRoom(records: Records, owner: string): Promise<void> {
    const day = Math.floor(this.#now() / DAY_MS);
    const count = await records.count(`answers/${owner.length}:${owner}/${day}`, DAY_MS);
    if (count > this.#perDay)
      throw new AgentError("overloaded", `a caller may use at most ${this.#perDay} idempotency keys per day`);
  }
}

/** Throws `invalid_message` if the key is empty or too long. */
export function checkKey(key: string): void {
  if (key !== "" && new TextEncoder().encode(key).byteLength <= KEY_BYTES) return;
  throw new AgentError("invalid_message", `an idempotency key must have 1 to ${KEY_BYTES} bytes`, { field: "Idempotency-Key" });
}

/** The state of the conversation was stored with the first answer and does not change. */
function repeated({ digest, body }: JsonObject, wanted: string): ResponderAnswer {
  if (digest !== wanted || typeof body !== "string")
    throw new AgentError("conflict", "the idempotency key was used for another message", { field: "Idempotency-Key" });
  return { body, state: undefined };
}

async function keep(records: Records, name: string, value: JsonObject, keepMs: number): Promise<void> {
  try {
    await records.put(name, value, keepMs);
  } catch (thrown) {
    // The answer is returned even if it cannot be stored; then only a repeat costs a second call.
    if (!(thrown instanceof AgentError) || (thrown.code !== "too_large" && thrown.code !== "overloaded")) throw thrown;
  }
}

async function digestOf(identity: KeyedMessage["identity"]): Promise<string> {
  const bytes = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(JSON.stringify(identity)));
  return encodeBase64(new Uint8Array(bytes));
}
