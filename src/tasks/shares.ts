import { AgentError, subjectOf } from "../envelope/index.js";

/** What one kind of work may take up at once: of all callers, and of one caller over all its tenants. */
export class Shares {
  readonly #most: number;
  readonly #mostPerSubject: number;
  readonly #work: string;
  readonly #bySubject = new Map<string, number>();
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
    if ((this.#bySubject.get(subjectOf(owner)) ?? 0) >= this.#mostPerSubject)
      throw new AgentError("overloaded", `too many ${this.#work} of this caller`);
  }

  enter(owner: string): void {
    this.#count(owner, 1);
  }

  leave(owner: string): void {
    this.#count(owner, -1);
  }

  #count(owner: string, by: 1 | -1): void {
    const subject = subjectOf(owner);
    const own = (this.#bySubject.get(subject) ?? 0) + by;
    this.#total += by;
    if (own === 0) this.#bySubject.delete(subject);
    else this.#bySubject.set(subject, own);
  }
}
