import { type AgentError, type Maybe, RecentMap } from "../../envelope/index.js";

/** Called with problems of the bandit, which continues without the evidence. */
export type ProblemSink = (problem: AgentError) => void;

/** Problems remembered as reported; the oldest may be reported again. */
const REPORTED_PROBLEMS = 1_000;

/** Reports each problem once, until it is cleared. */
export class ReportOnce {
  readonly #sink: Maybe<ProblemSink>;
  readonly #reported = new RecentMap<true>(REPORTED_PROBLEMS);

  constructor(sink: Maybe<ProblemSink>) {
    this.#sink = sink;
  }

  report(what: string, problem: AgentError): void {
    if (this.#reported.get(what) !== undefined) return;
    this.#reported.set(what, true);
    try {
      this.#sink?.(problem);
    } catch {
      // A failing sink must not fail the call.
    }
  }

  clear(what: string): void {
    this.#reported.delete(what);
  }
}
