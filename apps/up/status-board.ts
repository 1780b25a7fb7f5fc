import type { UpClock } from "./clock.js";
import type { NodeStatus } from "./node-status.js";

/** The status of one node; notifies on every change. */
export class StatusBoard {
  readonly #clock: UpClock;
  readonly #changed: (status: NodeStatus) => void;
  #status: NodeStatus;

  constructor(first: Omit<NodeStatus, "since">, clock: UpClock, changed: (status: NodeStatus) => void) {
    this.#clock = clock;
    this.#changed = changed;
    this.#status = { ...first, since: clock.now() };
  }

  get status(): NodeStatus {
    return this.#status;
  }

  /** Notifies only if something changed. */
  set(change: Partial<Omit<NodeStatus, "since">>): void {
    const next = { ...this.#status, ...change };
    const { state, pid, restarts, problem } = this.#status;
    if (next.state === state && next.pid === pid && next.restarts === restarts && next.problem === problem) return;
    this.#status = next.state === state ? next : { ...next, since: this.#clock.now() };
    this.#changed(this.#status);
  }
}
