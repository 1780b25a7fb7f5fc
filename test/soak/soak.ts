import { setTimeout as pause } from "node:timers/promises";
import { chance, oneOf } from "../../bench/harness/chance.js";
import { AgentError } from "../../src/index.js";
import { openProtocols } from "../helpers/open-protocols.js";
import { CALLS, SoakCallers } from "./calls.js";
import { SoakNetwork } from "./network.js";
import { trendOf } from "./trend.js";

export interface SoakOptions {
  readonly minutes: number;
  readonly callers: number;
  readonly seed: number;
}

export interface SoakOutcome {
  /** The summary. */
  readonly lines: readonly string[];
  /** Empty if everything held. */
  readonly problems: readonly string[];
}

/** Between kills, and how long a killed upstream is gone. */
const KILL_EVERY_MS = 30_000;
const GONE_MS = 2_000;
const RELOAD_EVERY_MS = 10_000;
/** Memory is compared between readings after the warm-up and readings at the end. */
const READINGS = 24;
const WARM_UP = 6;
const COMPARED = 6;
/** The second half must not certainly grow by more than this. */
const CERTAIN_GROWTH_BYTES = 2 * 1024 * 1024;
/** Growth of memory that is no leak: caches and compiled code. */
const GROWTH = 0.1;
const GROWTH_BYTES = 4 * 1024 * 1024;
const MOST_PROBLEMS = 50;
const MIB = 1024 * 1024;

/** One long run. */
export class Soak {
  readonly #options: SoakOptions;
  readonly #say: (line: string) => void;
  readonly #random: () => number;
  readonly #problems: string[] = [];
  readonly #memory: number[] = [];
  readonly #counts = { calls: 0, injected: 0, failed: 0, kills: 0, reloads: 0 };
  readonly #callsBy = new Map<string, number>();
  #stopped = false;
  /** Callers wait while memory is read. */
  #reading: Promise<void> = Promise.resolve();
  #running = 0;

  constructor(options: SoakOptions, say: (line: string) => void) {
    this.#options = options;
    this.#say = say;
    this.#random = chance(options.seed);
  }

  async run(): Promise<SoakOutcome> {
    const network = await SoakNetwork.open();
    const callers = new SoakCallers(network);
    try {
      const work = [
        ...Array.from({ length: this.#options.callers }, () => this.#call(network, callers)),
        this.#every(KILL_EVERY_MS, () => this.#kill(network)),
        this.#every(RELOAD_EVERY_MS, () => this.#reload(network)),
      ];
      await this.#watchMemory(network);
      this.#stopped = true;
      await Promise.all(work);
    } finally {
      this.#stopped = true;
      await callers.close();
      await network.close();
    }
    this.#compareMemory();
    return { lines: [...this.#summary(), this.#judgeTrend()], problems: this.#problems };
  }

  async #call(network: SoakNetwork, callers: SoakCallers): Promise<void> {
    const spoken = openProtocols.map(({ id }) => id);
    while (!this.#stopped) {
      await this.#reading;
      const [kind, agent, protocol] = [
        oneOf(CALLS, this.#random),
        oneOf(network.names, this.#random),
        oneOf(spoken, this.#random),
      ];
      if (kind === undefined || agent === undefined || protocol === undefined) throw new Error("nothing to call");
      const startedAt = performance.now();
      this.#counts.calls++;
      const name = `${kind} ${agent} by ${protocol}`;
      this.#callsBy.set(name, (this.#callsBy.get(name) ?? 0) + 1);
      this.#running++;
      try {
        await callers.call(kind, agent, protocol);
      } catch (thrown) {
        // A wrong answer is never excused; only a call that met a killed upstream may fail.
        if (thrown instanceof AgentError && network.wasKilledSince(agent, startedAt)) this.#counts.injected++;
        else this.#failed(name, thrown);
        await pause(100);
      } finally {
        this.#running--;
      }
    }
  }

  #failed(name: string, thrown: unknown): void {
    this.#counts.failed++;
    const code = thrown instanceof AgentError ? `${thrown.code}: ` : "";
    const problem = `${name}: ${code}${thrown instanceof Error ? thrown.message : String(thrown)}`;
    if (this.#problems.length < MOST_PROBLEMS) this.#problems.push(problem);
    this.#say(`FAILED ${problem}`);
  }

  async #kill(network: SoakNetwork): Promise<void> {
    const agent = oneOf(network.names, this.#random) ?? "";
    this.#counts.kills++;
    await network.killAndRestart(agent, GONE_MS);
  }

  async #reload(network: SoakNetwork): Promise<void> {
    this.#counts.reloads++;
    await network.reload();
  }

  async #every(ms: number, work: () => Promise<void>): Promise<void> {
    for (;;) {
      for (let waited = 0; waited < ms && !this.#stopped; waited += 500) await pause(500);
      if (this.#stopped) return;
      await this.#reading;
      await work().catch((thrown: unknown) => this.#failed("trouble", thrown));
    }
  }

  /** Reads the memory of the idle gateway several times over the run. */
  async #watchMemory(network: SoakNetwork): Promise<void> {
    for (let reading = 0; reading < READINGS; reading++) {
      await pause((this.#options.minutes * 60_000) / READINGS);
      let resume = (): void => undefined;
      this.#reading = new Promise((resolve) => {
        resume = resolve;
      });
      while (this.#running > 0) await pause(50);
      const bytes = await network.memory(`reading-${reading}`);
      this.#memory.push(bytes);
      const { calls, injected, failed, kills, reloads } = this.#counts;
      this.#say(
        `${(((reading + 1) * this.#options.minutes) / READINGS).toFixed(1)} min: ${(bytes / MIB).toFixed(1)} MiB, ${calls} calls, ${injected} failed by ${kills} kills, ${failed} otherwise, ${reloads} reloads`,
      );
      resume();
    }
  }

  #compareMemory(): void {
    const before = Math.min(...this.#memory.slice(WARM_UP, WARM_UP + COMPARED));
    const after = Math.min(...this.#memory.slice(-COMPARED));
    if (after > before * (1 + GROWTH) + GROWTH_BYTES)
      this.#problems.push(`the memory of the gateway grew from ${(before / MIB).toFixed(1)} to ${(after / MIB).toFixed(1)} MiB`);
  }

  /** The slope of the second half with its interval: a growth that noise explains is none. */
  #judgeTrend(): string {
    const hoursEach = this.#options.minutes / 60 / READINGS;
    const all = this.#memory.map((value, index) => ({ hours: index * hoursEach, value }));
    const trend = trendOf(all.slice(all.length / 2));
    if (trend === undefined) return "memory of the gateway: too few readings for a trend";
    const [perHour, low, high] = [trend.perHour, trend.low, trend.high].map((bytes) => (bytes / MIB).toFixed(2));
    const line = `memory of the gateway in the second half: ${perHour} MiB per hour (95 %: ${low} to ${high})`;
    if (trend.low * hoursEach * (READINGS / 2) > CERTAIN_GROWTH_BYTES) this.#problems.push(`it grows: ${line}`);
    return line;
  }

  #summary(): readonly string[] {
    const { calls, injected, failed, kills, reloads } = this.#counts;
    const kinds = this.#callsBy.size;
    return [
      `${calls} calls of ${kinds} kinds, ${injected} failed by ${kills} kills, ${failed} failed otherwise; ${reloads} reloads`,
      `memory of the gateway, MiB: ${this.#memory.map((bytes) => (bytes / MIB).toFixed(1)).join(" ")}`,
    ];
  }
}
