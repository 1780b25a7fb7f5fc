import { api } from "./api.js";
import { ServerEvents } from "./server-events.js";

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
  /** Called if the gateway refuses this visitor: retrying cannot help. */
  refused(): void;
}

/** Server-sent events with reconnect. Not an EventSource, which cannot send the token. */
export class LiveFeed {
  readonly #parts: FeedParts;
  #open: AbortController | undefined;
  #retry: ReturnType<typeof setTimeout> | undefined;
  #waitMs = FIRST_RETRY_MS;
  #lastId = "";

  constructor(parts: FeedParts) {
    this.#parts = parts;
  }

  open(): void {
    this.close();
    const opened = new AbortController();
    this.#open = opened;
    void this.#read(opened.signal);
  }

  close(): void {
    this.#open?.abort();
    this.#open = undefined;
    clearTimeout(this.#retry);
  }

  async #read(signal: AbortSignal): Promise<void> {
    try {
      const response = await api.feed(this.#parts.path, this.#lastId, signal);
      if (response.status === 401) {
        this.#parts.refused();
        return;
      }
      if (response.ok && response.body !== null) await this.#follow(response.body, signal);
    } catch {
      // Lost, as at the end of the feed.
    }
    if (!signal.aborted) this.#lost();
  }

  async #follow(body: ReadableStream<Uint8Array<ArrayBuffer>>, signal: AbortSignal): Promise<void> {
    this.#waitMs = FIRST_RETRY_MS;
    this.#parts.connected(true);
    const events = new ServerEvents();
    const reader = body.pipeThrough(new TextDecoderStream()).getReader();
    for (let step = await reader.read(); !step.done && !signal.aborted; step = await reader.read()) {
      for (const { event, data, id } of events.read(step.value)) {
        this.#lastId = id;
        if (event === this.#parts.event) this.#parts.take(data);
      }
    }
  }

  #lost(): void {
    this.#parts.connected(false);
    this.#retry = setTimeout(() => this.open(), this.#waitMs);
    this.#waitMs = Math.min(this.#waitMs * 2, LONGEST_RETRY_MS);
  }
}
