import { AgentError } from "../../src/index.js";
import { encodeSse, SSE_COMMENT } from "../../src/internal.js";
import type { HttpResponse } from "../../src/public/protocols.js";
import type { Console, NetworkState } from "./console.js";

/** Minimum interval between updates. */
const STATE_EVERY_MS = 200;
/** Limit of open feeds. */
const STATE_READERS = 64;
/** Interval of keep-alive comments. */
export const KEEP_ALIVE_MS = 15_000;

/** Streams the state as server-sent events: first the whole state, then only changed members. */
export function stateFeed(console: Console): () => HttpResponse {
  let readers = 0;
  return () => {
    if (readers >= STATE_READERS)
      throw new AgentError("overloaded", `${STATE_READERS} pages are already open; retry later`, { retryAfterMs: 5_000 });
    readers++;
    return {
      status: 200,
      headers: { "content-type": "text/event-stream", "cache-control": "no-store", "x-accel-buffering": "no" },
      body: new StateBody(console, () => void readers--),
      idle: { chunk: SSE_COMMENT, everyMs: KEEP_ALIVE_MS },
    };
  };
}

const DONE: IteratorResult<string, void> = Object.freeze({ done: true, value: undefined });

/** Pulled by the socket: slow readers get fewer updates, and nothing is buffered. */
class StateBody implements AsyncIterableIterator<string> {
  readonly #console: Console;
  readonly #sent = new Map<string, string>();
  readonly #stopListening: () => void;
  readonly #onClose: () => void;
  #changed = true;
  #ended = false;
  #wake = (): void => undefined;

  constructor(console: Console, onClose: () => void) {
    this.#console = console;
    this.#onClose = onClose;
    this.#stopListening = console.onChange(() => {
      this.#changed = true;
      this.#wake();
    });
    console.ending?.addEventListener("abort", this.#end);
    if (console.ending?.aborted === true) this.#end();
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<string, void>> {
    while (!this.#ended) {
      if (this.#sent.size > 0) await this.#wait(STATE_EVERY_MS);
      if (!this.#changed && !this.#ended) await this.#wait();
      if (this.#ended) break;
      this.#changed = false;
      const changes = this.#changes(this.#console.state());
      if (changes !== undefined) return { done: false, value: encodeSse(changes, undefined, "state") };
    }
    return DONE;
  }

  async return(): Promise<IteratorResult<string, void>> {
    this.#end();
    return DONE;
  }

  readonly #end = (): void => {
    if (this.#ended) return;
    this.#ended = true;
    this.#console.ending?.removeEventListener("abort", this.#end);
    this.#stopListening();
    this.#onClose();
    this.#wake();
  };

  /** Waits for a time, or for the next change; closing ends both. */
  #wait(ms?: number): Promise<void> {
    return new Promise((resolve) => {
      if (ms === undefined) {
        this.#wake = resolve;
        return;
      }
      const timer = setTimeout(resolve, ms);
      this.#wake = () => {
        if (!this.#ended) return;
        clearTimeout(timer);
        resolve();
      };
    });
  }

  /** The members that changed since the last event of this reader. */
  #changes(state: NetworkState): string | undefined {
    const members: string[] = [];
    for (const [name, value] of Object.entries(state)) {
      const text = JSON.stringify(value) ?? "null";
      if (this.#sent.get(name) === text) continue;
      this.#sent.set(name, text);
      members.push(`${JSON.stringify(name)}:${text}`);
    }
    return members.length === 0 ? undefined : `{${members.join(",")}}`;
  }
}
