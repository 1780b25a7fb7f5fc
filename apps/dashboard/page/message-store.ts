import type { CapturedMessageSummary } from "../../../src/public/inspect.js";

/** The gateway's own capture limit. */
export const MESSAGES_KEPT = 10_000;

/** Messages by start time, oldest first; an update does not move a message. */
export class MessageStore {
  readonly #byId = new Map<string, CapturedMessageSummary>();
  readonly #limit: number;
  #ordered: CapturedMessageSummary[] | undefined;
  /** Incremented with every change. */
  version = 0;

  constructor(limit = MESSAGES_KEPT) {
    this.#limit = limit;
  }

  /** Ignores updates older than the known state. */
  put(message: CapturedMessageSummary): void {
    const known = this.#byId.get(message.id);
    if (known !== undefined && known.seq >= message.seq) return;
    this.#byId.set(message.id, message);
    this.#ordered = undefined;
    this.version++;
    if (this.#byId.size > this.#limit) this.#forgetOldest();
  }

  get size(): number {
    return this.#byId.size;
  }

  get(id: string): CapturedMessageSummary | undefined {
    return this.#byId.get(id);
  }

  all(): readonly CapturedMessageSummary[] {
    this.#ordered ??= [...this.#byId.values()].sort((a, b) => a.at - b.at || a.seq - b.seq);
    return this.#ordered;
  }

  /** Evicts a tenth at once, so that sorting is not repeated per message. */
  #forgetOldest(): void {
    for (const { id } of this.all().slice(0, Math.ceil(this.#limit / 10))) this.#byId.delete(id);
    this.#ordered = undefined;
  }
}
