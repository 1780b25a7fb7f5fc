import { AgentError } from "../../src/index.js";
import { Pause, type UpClock } from "./clock.js";
import type { UpLimits } from "./limits.js";
import type { NodeStatus, Supervisor } from "./node-status.js";
import type { Pinger } from "./pinger.js";
import type { StatusBoard } from "./status-board.js";

export interface WatcherParts {
  readonly board: StatusBoard;
  readonly pinger: Pinger;
  readonly limits: UpLimits;
  readonly clock: UpClock;
}

/** Watches an agent that others started: it is pinged, and otherwise left alone. */
export class UrlMonitor implements Supervisor {
  readonly #parts: WatcherParts;
  readonly #pause: Pause;
  #life: Promise<void> | undefined;
  #stopping = false;

  constructor(parts: WatcherParts) {
    this.#parts = parts;
    this.#pause = new Pause(parts.clock);
  }

  get status(): NodeStatus {
    return this.#parts.board.status;
  }

  start(): void {
    this.#life ??= this.#live();
  }

  kill(): void {
    throw notOurs(this.status);
  }

  restart(): Promise<void> {
    return Promise.reject(notOurs(this.status));
  }

  async stop(): Promise<void> {
    this.#stopping = true;
    this.#pause.wake();
    await this.#life;
    await this.#parts.pinger.forget();
    this.#parts.board.set({ state: "stopped" });
  }

  async #live(): Promise<void> {
    const { board, pinger, limits } = this.#parts;
    while (!this.#stopping) {
      const problem = await pinger.ping();
      if (this.#stopping) return;
      board.set({ state: problem === undefined ? "ready" : "unhealthy", problem });
      await this.#pause.wait(limits.pingEveryMs);
    }
  }
}

/** A module whose protocol nothing here speaks: it is shown, and nothing else. */
export class UnsupportedNode implements Supervisor {
  readonly status: NodeStatus;

  constructor(status: NodeStatus) {
    this.status = status;
  }

  start(): void {
    // Nothing here could speak to it.
  }

  kill(): void {
    throw notOurs(this.status);
  }

  restart(): Promise<void> {
    return Promise.reject(notOurs(this.status));
  }

  async stop(): Promise<void> {
    // It never ran.
  }
}

function notOurs({ id, kind, state }: NodeStatus): AgentError {
  const why = state === "unspoken" ? "nothing here speaks its protocol" : `it is a ${kind} that others started`;
  return new AgentError("unsupported", `${id} has no process of ours: ${why}`);
}
