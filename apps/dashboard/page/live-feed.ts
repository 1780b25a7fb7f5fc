/** The wait before another try, and the longest it grows to. */
const FIRST_RETRY_MS = 500;
const LONGEST_RETRY_MS = 8_000;

export interface FeedParts {
  readonly path: string;
  /** The name of the events. */
  readonly event: string;
  /** One event; what it throws is a fault of this page and shows in the console. */
  take(data: string): void;
  /** Told when the connection is there, and when it is lost. */
  connected(is: boolean): void;
}

/** Server-sent events that come back by themselves, also where the browser's own retry gives up. */
export class LiveFeed {
  readonly #parts: FeedParts;
  #source: EventSource | undefined;
  #retry: ReturnType<typeof setTimeout> | undefined;
  #waitMs = FIRST_RETRY_MS;

  constructor(parts: FeedParts) {
    this.#parts = parts;
  }

  open(): void {
    this.close();
    const source = new EventSource(`api/${this.#parts.path}`);
    this.#source = source;
    source.addEventListener("open", () => {
      this.#waitMs = FIRST_RETRY_MS;
      this.#parts.connected(true);
    });
    source.addEventListener("error", () => this.#lost(source));
    source.addEventListener(this.#parts.event, (event) => this.#parts.take(String(event.data)));
  }

  close(): void {
    this.#source?.close();
    this.#source = undefined;
    clearTimeout(this.#retry);
  }

  /** A broken connection is taken up by the browser, at the last event it saw; a refusal it never tries again. */
  #lost(source: EventSource): void {
    this.#parts.connected(false);
    if (source.readyState !== EventSource.CLOSED) return;
    this.#retry = setTimeout(() => this.open(), this.#waitMs);
    this.#waitMs = Math.min(this.#waitMs * 2, LONGEST_RETRY_MS);
  }
}
