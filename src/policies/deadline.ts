import { AgentError, type AgentEvent, isPromise, type Layer } from "../envelope/index.js";
import type { Clock } from "./clock.js";
import { type LinkedCancel, linkedCancel } from "./linked-cancel.js";
import { DONE, stopIterator } from "./replies/iterators.js";

/**
 * Limits the whole answer to `limitMs`, or to the call's own deadline if that comes first. A handler that does not react to
 * its cancellation is abandoned, and its late answer or failure is dropped.
 */
export function deadline(limitMs: number, clock: Clock): Layer {
  return (next) => (operation, call) => {
    const nowMs = clock.now();
    const waitMs = call.deadline === undefined ? limitMs : Math.min(limitMs, call.deadline - nowMs);
    if (waitMs <= 0)
      return Promise.reject(new AgentError("deadline", "the time for this call had passed before it began", { sent: "no" }));
    if (call.cancel.reason !== undefined) return Promise.reject(call.cancel.reason);
    const race = new Race(waitMs, clock, linkedCancel(call.cancel));
    try {
      const reply = next(operation, call.derive({ cancel: race.cancel, deadline: nowMs + waitMs }));
      return isPromise(reply) ? raceOne(reply, race) : new RacedStream(reply, race);
    } catch (thrown) {
      race.end();
      return Promise.reject(thrown);
    }
  };
}

/** Ends the wait when time is up or when the caller gives up, whichever comes first. */
class Race {
  readonly #linked: LinkedCancel;
  readonly #cancelTimer: () => void;
  #onLost: ((error: AgentError) => void) | undefined;

  constructor(waitMs: number, clock: Clock, linked: LinkedCancel) {
    this.#linked = linked;
    this.#cancelTimer = clock.after(waitMs, () =>
      linked.source.cancel(new AgentError("deadline", `no complete answer within ${Math.ceil(waitMs)} ms`, { sent: "maybe" })),
    );
    // Registered before listeners of inner layers, so that one that throws cannot keep the caller waiting.
    linked.source.onCancel((error) => {
      this.end();
      this.#onLost?.(error);
    });
  }

  get cancel(): LinkedCancel["source"] {
    return this.#linked.source;
  }

  onLost(run: (error: AgentError) => void): void {
    this.#onLost = run;
    if (this.cancel.reason !== undefined) run(this.cancel.reason);
  }

  /** Removes its timer and listener. */
  end(): void {
    this.#cancelTimer();
    this.#linked.unlink();
  }
}

function raceOne(reply: Promise<AgentEvent>, race: Race): Promise<AgentEvent> {
  return new Promise((resolve, reject) => {
    race.onLost(reject);
    reply.then(
      (event) => {
        race.end();
        resolve(event);
      },
      (thrown: unknown) => {
        race.end();
        reject(thrown);
      },
    );
  });
}

class RacedStream implements AsyncIterableIterator<AgentEvent> {
  readonly #race: Race;
  readonly #source: AsyncIterator<AgentEvent>;
  /** Pending pulls. Not `Promise.race`, which keeps every pull of a long stream alive until the race ends. */
  readonly #waiting = new Set<(error: AgentError | undefined) => void>();
  #lost: AgentError | undefined;
  #over = false;

  constructor(reply: AsyncIterable<AgentEvent>, race: Race) {
    this.#race = race;
    this.#source = reply[Symbol.asyncIterator]();
    race.onLost((error) => {
      if (this.#over) return;
      // Without a pending pull, the reader gets the error with its next one.
      if (this.#waiting.size === 0) this.#lost = error;
      this.#finish(error);
    });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<AgentEvent>> {
    const lost = this.#lost;
    this.#lost = undefined;
    if (lost !== undefined) return Promise.reject(lost);
    if (this.#over) return Promise.resolve(DONE);
    return new Promise((resolve, reject) => {
      const leave = (error: AgentError | undefined): void => (error === undefined ? resolve(DONE) : reject(error));
      this.#waiting.add(leave);
      this.#source.next().then(
        (result) => {
          this.#waiting.delete(leave);
          if (result.done === true) this.#end();
          resolve(result);
        },
        (thrown: unknown) => {
          this.#waiting.delete(leave);
          this.#end();
          reject(thrown);
        },
      );
    });
  }

  return(): Promise<IteratorResult<AgentEvent>> {
    this.#lost = undefined;
    if (!this.#over) {
      this.#finish(undefined);
      this.#race.cancel.cancel(new AgentError("cancelled", "the reader stopped before the end"));
    }
    return Promise.resolve(DONE);
  }

  /** The reader's side is over although the source is not. */
  #finish(error: AgentError | undefined): void {
    this.#end();
    stopIterator(this.#source);
    for (const leave of this.#waiting) leave(error);
    this.#waiting.clear();
  }

  #end(): void {
    this.#over = true;
    this.#race.end();
  }
}
