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
  /** A program of ours, which tells why it failed. */
  readonly ours: boolean;
  readonly readyMs: number;
  readonly limits: UpLimits;
  readonly clock: UpClock;
}

/** Starts a process, watches it by pings, and starts it again when it dies or hangs, until that happens too often. */
export class ProcessSupervisor implements Supervisor {
  readonly #parts: SupervisorParts;
  readonly #budget: RestartBudget;
  readonly #betweenPings: Pause;
  readonly #beforeRestart: Pause;
  #process: GroupProcess | undefined;
  #life: Promise<void> | undefined;
  #stopping = false;
  /** What the next start adds to the number of restarts: nothing only for the first. */
  #comeback = 0;
  /** Somebody asked for this end: it counts for nothing. */
  #wanted = false;
  /** What is wrong with the process that runs, where something is. */
  #complaint: string | undefined;

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
    this.#life ??= this.#live();
  }

  kill(): void {
    if (this.#process?.isOver !== false)
      throw new AgentError("unavailable", `${this.status.id} has no process now: it is ${this.status.state}`);
    this.#process.signal("SIGKILL");
  }

  async restart(): Promise<void> {
    this.#budget.forgive();
    this.#wanted = true;
    await this.#process?.stop(this.#parts.limits.drainMs, this.#parts.clock);
    this.#beforeRestart.wake();
  }

  async stop(): Promise<void> {
    const { board, pinger, limits, clock } = this.#parts;
    this.#stopping = true;
    if (this.#process?.isOver === false) board.set({ state: "stopping" });
    this.#beforeRestart.wake();
    await this.#process?.stop(limits.drainMs, clock);
    await this.#life;
    await pinger.forget();
    board.set({ state: "stopped", pid: undefined });
  }

  async #live(): Promise<void> {
    while (!this.#stopping) {
      this.#wanted = false;
      const problem = await this.#runOnce();
      if (this.#stopping) return;
      if (!this.#wanted) await this.#rest(problem);
      this.#comeback = 1;
    }
  }

  /** The pause before the next start; without end for one that came back too often, until somebody restarts it. */
  async #rest(problem: string): Promise<void> {
    const { board } = this.#parts;
    const pauseMs = this.#budget.next();
    if (pauseMs === undefined) board.set({ state: "gave-up", pid: undefined, problem: `${problem}; ${this.#budget.words}` });
    else board.set({ state: "restarting", pid: undefined, problem });
    await this.#beforeRestart.wait(pauseMs);
  }

  /** One process from its start to its end; says how it came to that. */
  async #runOnce(): Promise<string> {
    const { board, pinger, ours } = this.#parts;
    this.#complaint = undefined;
    const child = this.#spawned(ours);
    if (typeof child === "string") return child;
    this.#process = child;
    board.set({ state: "starting", pid: child.pid, restarts: board.status.restarts + this.#comeback });
    const watching = this.#watch(child);
    const how = await child.ended;
    this.#betweenPings.wake();
    await watching;
    await pinger.forget();
    return this.#complaint ?? how;
  }

  /** A process, or why the system does not even try: a text that no program can be given, for example. */
  #spawned(ours: boolean): GroupProcess | string {
    const hear = ours ? { onMessage: (message: unknown) => this.#hear(message) } : {};
    try {
      return new GroupProcess({ ...this.#parts.process, ...hear });
    } catch (thrown) {
      return `cannot be started (${thrown instanceof Error ? thrown.message : String(thrown)})`;
    }
  }

  #hear(message: unknown): void {
    if (typeof message !== "object" || message === null) return;
    if ("failed" in message && typeof message.failed === "string") this.#complaint = message.failed;
    // It says that it listens: no need to wait for the next look.
    else this.#betweenPings.wake();
  }

  async #watch(child: GroupProcess): Promise<void> {
    const { board, pinger, limits, clock, readyMs } = this.#parts;
    const readyBy = clock.now() + readyMs;
    let isReady = false;
    let unanswered = 0;
    while (!child.isOver) {
      const problem = await pinger.ping();
      if (child.isOver) return;
      if (problem === undefined) {
        if (!isReady) this.#budget.ready();
        isReady = true;
        unanswered = 0;
        if (!this.#stopping) board.set({ state: "ready", problem: undefined });
      } else if (!isReady && clock.now() >= readyBy) {
        this.#end(child, `was not ready within ${readyMs / 1000} s: ${problem}`);
      } else if (isReady && ++unanswered >= limits.hungPings) {
        this.#end(child, `left ${unanswered} pings unanswered: ${problem}`);
      } else if (isReady && !this.#stopping) board.set({ state: "unhealthy", problem });
      await this.#betweenPings.wait(isReady ? limits.pingEveryMs : limits.pollMs);
    }
  }

  #end(child: GroupProcess, complaint: string): void {
    this.#complaint ??= complaint;
    child.signal("SIGKILL");
  }
}
