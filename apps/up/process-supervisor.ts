import { AgentError } from "../../src/index.js";
import { Pause, type UpClock } from "./clock.js";
import { GroupProcess, type ProcessStart } from "./group-process.js";
import type { UpLimits } from "./limits.js";
import type { NodeStatus, Supervisor } from "./node-status.js";
import type { Pinger } from "./pinger.js";
import { RestartBudget } from "./restart-budget.js";
import type { StatusBoard } from "./status-board.js";

export interface SupervisorParts {
  readonly board: StatusBoard;
  readonly pinger: Pinger;
  readonly process: Omit<ProcessStart, "onMessage">;
  /** Our own child program, which reports why it failed. */
  readonly isOwn: boolean;
  readonly readyMs: number;
  readonly limits: UpLimits;
  readonly clock: UpClock;
}

/** Starts a process, checks its health, and restarts it when it dies or hangs, within the restart budget. */
export class ProcessSupervisor implements Supervisor {
  readonly #parts: SupervisorParts;
  readonly #budget: RestartBudget;
  readonly #betweenPings: Pause;
  readonly #beforeRestart: Pause;
  #process: GroupProcess | undefined;
  #running: Promise<void> | undefined;
  #stopping = false;
  /** Added to the restart counter at the next start: 0 for the first start. */
  #restartIncrement = 0;
  /** A requested restart does not count against the budget. */
  #isRequested = false;
  /** Why the current process failed. */
  #failure: string | undefined;

  constructor(parts: SupervisorParts) {
    this.#parts = parts;
    this.#budget = new RestartBudget(parts.limits, parts.clock);
    this.#betweenPings = new Pause(parts.clock);
    this.#beforeRestart = new Pause(parts.clock);
  }

  get status(): NodeStatus {
    return this.#parts.board.status;
  }

  start(): void {
    this.#running ??= this.#run();
  }

  kill(): void {
    if (this.#process?.hasEnded !== false)
      throw new AgentError("unavailable", `${this.status.id} has no running process: its state is ${this.status.state}`);
    this.#process.signal("SIGKILL");
  }

  async restart(): Promise<void> {
    this.#budget.reset();
    this.#isRequested = true;
    await this.#process?.stop(this.#parts.limits.drainMs, this.#parts.clock);
    this.#beforeRestart.wake();
  }

  async stop(): Promise<void> {
    const { board, pinger, limits, clock } = this.#parts;
    this.#stopping = true;
    if (this.#process?.hasEnded === false) board.set({ state: "stopping" });
    this.#beforeRestart.wake();
    await this.#process?.stop(limits.drainMs, clock);
    await this.#running;
    await pinger.disconnect();
    board.set({ state: "stopped", pid: undefined });
  }

  async #run(): Promise<void> {
    while (!this.#stopping) {
      this.#isRequested = false;
      const problem = await this.#runOnce();
      if (this.#stopping) return;
      if (!this.#isRequested) await this.#backOff(problem);
      this.#restartIncrement = 1;
    }
  }

  /** Waits before the next start; indefinitely once the budget is exhausted. */
  async #backOff(problem: string): Promise<void> {
    const { board } = this.#parts;
    const pauseMs = this.#budget.next();
    if (pauseMs === undefined) board.set({ state: "gave-up", pid: undefined, problem: `${problem}; ${this.#budget.reason}` });
    else board.set({ state: "restarting", pid: undefined, problem });
    await this.#beforeRestart.wait(pauseMs);
  }

  /** Runs one process to its end; returns why it ended. */
  async #runOnce(): Promise<string> {
    const { board, pinger, isOwn } = this.#parts;
    this.#failure = undefined;
    const child = this.#spawn(isOwn);
    if (typeof child === "string") return child;
    this.#process = child;
    board.set({ state: "starting", pid: child.pid, restarts: board.status.restarts + this.#restartIncrement });
    const watching = this.#watch(child);
    const how = await child.ended;
    this.#betweenPings.wake();
    await watching;
    await pinger.disconnect();
    return this.#failure ?? how;
  }

  /** A process, or why it cannot be spawned, for example a null byte in an argument. */
  #spawn(isOwn: boolean): GroupProcess | string {
    const messages = isOwn ? { onMessage: (message: unknown) => this.#onMessage(message) } : {};
    try {
      return new GroupProcess({ ...this.#parts.process, ...messages });
    } catch (thrown) {
      return `cannot be started (${thrown instanceof Error ? thrown.message : String(thrown)})`;
    }
  }

  #onMessage(message: unknown): void {
    if (typeof message !== "object" || message === null) return;
    if ("failed" in message && typeof message.failed === "string") this.#failure = message.failed;
    // It is listening: ping at once.
    else this.#betweenPings.wake();
  }

  async #watch(child: GroupProcess): Promise<void> {
    const { board, pinger, limits, clock, readyMs } = this.#parts;
    const readyBy = clock.now() + readyMs;
    let isReady = false;
    let unanswered = 0;
    while (!child.hasEnded) {
      const problem = await pinger.ping();
      if (child.hasEnded) return;
      if (problem === undefined) {
        if (!isReady) this.#budget.ready();
        isReady = true;
        unanswered = 0;
        if (!this.#stopping) board.set({ state: "ready", problem: undefined });
      } else if (!isReady && clock.now() >= readyBy) {
        this.#end(child, `was not ready within ${readyMs / 1000} s: ${problem}`);
      } else if (isReady && ++unanswered >= limits.hungPings) {
        this.#end(child, `did not respond to ${unanswered} pings: ${problem}`);
      } else if (isReady && !this.#stopping) board.set({ state: "unhealthy", problem });
      await this.#betweenPings.wait(isReady ? limits.pingEveryMs : limits.pollMs);
    }
  }

  #end(child: GroupProcess, failure: string): void {
    this.#failure ??= failure;
    child.signal("SIGKILL");
  }
}
