import { AgentError } from "../../src/index.js";
import { encodeSse, SSE_COMMENT } from "../../src/internal.js";
import type { HttpResponse } from "../../src/public/protocols.js";
import type { Console, NetworkState } from "./console.js";

/** A page is told at most five times a second, however fast things change. */
const STATE_EVERY_MS = 200;
/** Pages that look at the same time. */
const STATE_READERS = 64;
/** A silent stream gets a comment this often, so that proxies keep it. */
export const KEEP_ALIVE_MS = 15_000;

/** The state as server-sent events: the first holds everything, later ones only the members that changed. */
export function stateFeed(console: Console): () => HttpResponse {
  let readers = 0;
  return () => {
    if (readers >= STATE_READERS)
      throw new AgentError("overloaded", `${STATE_READERS} pages are looking already`, { retryAfterMs: 5_000 });
    readers++;
    return {
      status: 200,
      headers: { "content-type": "text/event-stream", "cache-control": "no-store", "x-accel-buffering": "no" },
      body: new StateBody(console, () => void readers--),
      idle: { chunk: SSE_COMMENT, everyMs: KEEP_ALIVE_MS },
    };
  };
}

const OVER: IteratorResult<string, void> = Object.freeze({ done: true, value: undefined });

/** Pulled by the socket: whoever reads slowly is told less often, and nothing piles up. */
class StateBody implements AsyncIterableIterator<string> {
  readonly #console: Console;
  readonly #told = new Map<string, string>();
  readonly #stopListening: () => void;
  readonly #left: () => void;
  #changed = true;
  #ended = false;
  #wake = (): void => undefined;

  constructor(console: Console, left: () => void) {
    this.#console = console;
    this.#left = left;
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
      if (this.#told.size > 0) await this.#wait(STATE_EVERY_MS);
      if (!this.#changed && !this.#ended) await this.#wait();
      if (this.#ended) break;
      this.#changed = false;
      const news = this.#news(this.#console.state());
      if (news !== undefined) return { done: false, value: encodeSse(news, undefined, "state") };
    }
    return OVER;
  }

  async return(): Promise<IteratorResult<string, void>> {
    this.#end();
    return OVER;
  }

  readonly #end = (): void => {
    if (this.#ended) return;
    this.#ended = true;
    this.#console.ending?.removeEventListener("abort", this.#end);
    this.#stopListening();
    this.#left();
    this.#wake();
  };

  /** For a time, or until something changes; hanging up ends both. */
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

  /** The members that read otherwise than this reader was told, as one document. */
  #news(state: NetworkState): string | undefined {
    const members: string[] = [];
    for (const [name, value] of Object.entries(state)) {
      const text = JSON.stringify(value) ?? "null";
      if (this.#told.get(name) === text) continue;
      this.#told.set(name, text);
      members.push(`${JSON.stringify(name)}:${text}`);
    }
    return members.length === 0 ? undefined : `{${members.join(",")}}`;
  }
}
