import { type AgentError, type Maybe, RecentMap } from "../../envelope/index.js";

/** Hears what went wrong in the overlay, which itself goes on. */
export type ProblemSink = (problem: AgentError) => void;

/** So many problems are remembered as told; the oldest may be told again. */
const TOLD_PROBLEMS = 1_000;

/** Tells each problem when it begins, and then no more until it is over. */
export class TellOnce {
  readonly #sink: Maybe<ProblemSink>;
  readonly #told = new RecentMap<true>(TOLD_PROBLEMS);

  constructor(sink: Maybe<ProblemSink>) {
    this.#sink = sink;
  }

  begins(what: string, problem: AgentError): void {
    if (this.#told.get(what) !== undefined) return;
    this.#told.set(what, true);
    try {
      this.#sink?.(problem);
    } catch {
      // Whoever listens may fail, and the call goes on all the same.
    }
  }

  isOver(what: string): void {
    this.#told.delete(what);
  }
}
