import { AgentError, Counts, subjectOf } from "../envelope/index.js";

/** What one kind of work may take up at once: of all callers, and of one caller over all its tenants. */
export class Shares {
  readonly #most: number;
  readonly #mostPerSubject: number;
  readonly #work: string;
  readonly #bySubject = new Counts();
  #total = 0;

  /** `work` completes the refusal: "too many … ". */
  constructor(most: number, mostPerSubject: number, work: string) {
    this.#most = most;
    this.#mostPerSubject = mostPerSubject;
    this.#work = work;
  }

  get total(): number {
    return this.#total;
  }

  /** Throws `overloaded` at a limit. */
  check(owner: string): void {
    if (this.#total >= this.#most) throw new AgentError("overloaded", `too many ${this.#work}`);
    if (this.#bySubject.of(subjectOf(owner)) >= this.#mostPerSubject)
      throw new AgentError("overloaded", `too many ${this.#work} of this caller`);
  }

  enter(owner: string): void {
    this.#total++;
    this.#bySubject.add(subjectOf(owner), 1);
  }

  leave(owner: string): void {
    this.#total--;
    this.#bySubject.add(subjectOf(owner), -1);
  }
}
