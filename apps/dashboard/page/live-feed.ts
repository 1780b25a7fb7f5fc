/** Reconnect backoff. */
const FIRST_RETRY_MS = 500;
const LONGEST_RETRY_MS = 8_000;

export interface FeedParts {
  readonly path: string;
  /** Name of the server-sent events. */
  readonly event: string;
  /** Handles one event. */
  take(data: string): void;
  /** Called when the connection is established or lost. */
  connected(is: boolean): void;
}

/** Server-sent events with reconnect, also where the browser itself gives up. */
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

  /** The browser resumes a broken connection itself, but never retries after an error response. */
  #lost(source: EventSource): void {
    this.#parts.connected(false);
    if (source.readyState !== EventSource.CLOSED) return;
    this.#retry = setTimeout(() => this.open(), this.#waitMs);
    this.#waitMs = Math.min(this.#waitMs * 2, LONGEST_RETRY_MS);
  }
}
