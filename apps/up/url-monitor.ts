import { AgentError } from "../../src/index.js";
import { Pause, type UpClock } from "./clock.js";
import type { UpLimits } from "./limits.js";
import type { NodeStatus, Supervisor } from "./node-status.js";
import type { Pinger } from "./pinger.js";
import type { StatusBoard } from "./status-board.js";

export interface MonitorParts {
  readonly board: StatusBoard;
  readonly pinger: Pinger;
  readonly limits: UpLimits;
  readonly clock: UpClock;
}

/** Monitors an agent that is not managed here: health checks only. */
export class UrlMonitor implements Supervisor {
  readonly #parts: MonitorParts;
  readonly #pause: Pause;
  #running: Promise<void> | undefined;
  #stopping = false;

  constructor(parts: MonitorParts) {
    this.#parts = parts;
    this.#pause = new Pause(parts.clock);
  }

  get status(): NodeStatus {
    return this.#parts.board.status;
  }

  start(): void {
    this.#running ??= this.#run();
  }

  kill(): void {
    throw notManaged(this.status);
  }

  restart(): Promise<void> {
    return Promise.reject(notManaged(this.status));
  }

  async stop(): Promise<void> {
    this.#stopping = true;
    this.#pause.wake();
    await this.#running;
    await this.#parts.pinger.disconnect();
    this.#parts.board.set({ state: "stopped" });
  }

  async #run(): Promise<void> {
    const { board, pinger, limits } = this.#parts;
    while (!this.#stopping) {
      const problem = await pinger.ping();
      if (this.#stopping) return;
      board.set({ state: problem === undefined ? "ready" : "unhealthy", problem });
      await this.#pause.wait(limits.pingEveryMs);
    }
  }
}

/** A module whose protocol is not registered: only its status is shown. */
export class UnsupportedNode implements Supervisor {
  readonly status: NodeStatus;

  constructor(status: NodeStatus) {
    this.status = status;
  }

  start(): void {
    // Its protocol is not registered.
  }

  kill(): void {
    throw notManaged(this.status);
  }

  restart(): Promise<void> {
    return Promise.reject(notManaged(this.status));
  }

  async stop(): Promise<void> {
    // Never started.
  }
}

function notManaged({ id, kind, state }: NodeStatus): AgentError {
  const why = state === "unspoken" ? "its protocol is not registered" : `kind ${kind} is started elsewhere`;
  return new AgentError("unsupported", `${id} is not managed by koine up: ${why}`);
}
