import type { CapturedMessageSummary } from "../../../src/public/inspect.js";

/** As many as the gateway itself remembers. */
export const MESSAGES_KEPT = 10_000;

/** Messages in the order they began, the oldest first; one that changes keeps its place. */
export class MessageStore {
  readonly #byId = new Map<string, CapturedMessageSummary>();
  readonly #limit: number;
  #ordered: CapturedMessageSummary[] | undefined;
  /** Rises with every change: whoever shows messages compares it. */
  version = 0;

  constructor(limit = MESSAGES_KEPT) {
    this.#limit = limit;
  }

  /** An older state of one that is known is passed over. */
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

  /** A tenth at once, so that the order is not looked up for every single one. */
  #forgetOldest(): void {
    for (const { id } of this.all().slice(0, Math.ceil(this.#limit / 10))) this.#byId.delete(id);
    this.#ordered = undefined;
  }
}
