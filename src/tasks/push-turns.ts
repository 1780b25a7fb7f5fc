import { subjectOf } from "../envelope/index.js";
import type { TaskLimits } from "./limits.js";
import type { DuePush } from "./store.js";

/** Leased webhooks that wait for a slot of their owner. More stay leased, and are due again when the lease expires. */
const WAITING = 1_000;

interface Turn {
  active: number;
  readonly waiting: { readonly due: DuePush; readonly untilMs: number }[];
}

/**
 * Which leased webhooks are notified now: at most `pushesAtOncePerOwner` of one caller, over all its tenants, so that webhooks that hang
 * do not delay those of others.
 */
export class PushTurns {
  readonly #perSubject: number;
  readonly #waitMs: number;
  readonly #now: () => number;
  readonly #bySubject = new Map<string, Turn>();
  #waiting = 0;

  constructor({ pushesAtOncePerOwner, leaseMs }: TaskLimits, now: () => number) {
    this.#perSubject = pushesAtOncePerOwner;
    // The lease lasts for one attempt beyond this.
    this.#waitMs = leaseMs;
    this.#now = now;
  }

  /** True if it is notified now; release it with `end`. Otherwise it waits for that, or for another lease. */
  begin(due: DuePush): boolean {
    const turn = this.#turnOf(due);
    if (turn.active < this.#perSubject) {
      turn.active++;
      return true;
    }
    if (this.#waiting < WAITING) {
      this.#waiting++;
      turn.waiting.push({ due, untilMs: this.#now() + this.#waitMs });
    }
    return false;
  }

  /** The webhook of the same caller that is notified next, in the place of this one. */
  end(due: DuePush): DuePush | undefined {
    const turn = this.#turnOf(due);
    for (let next = turn.waiting.shift(); next !== undefined; next = turn.waiting.shift()) {
      this.#waiting--;
      if (next.untilMs > this.#now()) return next.due;
    }
    turn.active--;
    if (turn.active === 0) this.#bySubject.delete(subjectOf(due.owner));
    return undefined;
  }

  #turnOf({ owner }: DuePush): Turn {
    const subject = subjectOf(owner);
    const turn = this.#bySubject.get(subject) ?? { active: 0, waiting: [] };
    this.#bySubject.set(subject, turn);
    return turn;
  }
}
