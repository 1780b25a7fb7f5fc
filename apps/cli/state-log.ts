import type { Agent, Maybe, Store } from "../../src/index.js";
import { limitedSignal } from "../../src/internal.js";
import type { Clock } from "../../src/public/policies.js";
import type { LogSink } from "../../src/public/telemetry.js";

/** How often the health of a served process is checked for its log, and what does not answer in time is down. */
const CHECK_EVERY_MS = 5_000;
const CHECK_MS = 3_000;
const SERVER = "server";

export interface StateLogParts {
  readonly sink: LogSink;
  readonly agents: readonly Pick<Agent, "name" | "health">[];
  /** Undefined: in memory, which does not fail. */
  readonly store: Maybe<Pick<Store, "ping">>;
  readonly clock: Clock;
}

type Check = (signal: AbortSignal) => Promise<boolean>;

/** Logs the state changes of a served process: its start and end, and the health of its store and agents. */
export class StateLog {
  readonly #parts: StateLogParts;
  readonly #checks: ReadonlyMap<string, Check>;
  readonly #isUp = new Map<string, boolean>();
  readonly #stop = new AbortController();
  #running: Promise<void> = Promise.resolve();

  constructor(parts: StateLogParts) {
    this.#parts = parts;
    const { store, agents } = parts;
    this.#checks = new Map<string, Check>([
      ...(store?.ping === undefined ? [] : [["store", () => answers(store)] as const]),
      ...agents.map(
        (agent) =>
          [`agent ${agent.name}`, async (signal: AbortSignal) => (await agent.health?.(signal))?.usable !== false] as const,
      ),
    ]);
  }

  /** Starts the checks. */
  started(url: string): void {
    this.note(`listening at ${url}`, { state: "listening" });
    this.#running = this.#run();
  }

  draining(): void {
    this.#stop.abort();
    this.note("draining: no new calls are taken", { state: "draining" });
  }

  async stopped(): Promise<void> {
    await this.#running;
    this.note("stopped", { state: "stopped" });
  }

  /** A state change of the server itself. */
  note(message: string, facts: { readonly state: string }): void {
    this.#write({ level: "info", event: "koine.server", message, dst_id: SERVER, facts });
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      await Promise.all([...this.#checks].map(([what, check]) => this.#check(what, check)));
      await this.#pause();
    }
  }

  async #check(what: string, check: Check): Promise<void> {
    const { signal, stop } = limitedSignal(this.#stop.signal, CHECK_MS);
    const late = new Promise<false>((resolve) => signal.addEventListener("abort", () => resolve(false), { once: true }));
    const isUp = await Promise.race([check(signal).catch(() => false), late]);
    stop();
    if (this.#stop.signal.aborted || this.#isUp.get(what) === isUp) return;
    this.#isUp.set(what, isUp);
    const health = isUp ? "up" : "down";
    this.#write({
      level: isUp ? "info" : "warn",
      event: "koine.health",
      message: `${what} is ${health}`,
      dst_id: what.replace(/^agent /, ""),
      facts: { health },
    });
  }

  /** Until the next check, or the end. */
  #pause(): Promise<void> {
    const { signal } = this.#stop;
    return new Promise((resolve) => {
      const end = (): void => {
        cancel();
        signal.removeEventListener("abort", end);
        resolve();
      };
      const cancel = this.#parts.clock.after(CHECK_EVERY_MS, end);
      if (signal.aborted) end();
      else signal.addEventListener("abort", end);
    });
  }

  #write({ facts, ...line }: LineParts): void {
    const { clock, sink } = this.#parts;
    const time = new Date(clock.now()).toISOString();
    sink({ time, ...line, trace_id: undefined, src_agent: SERVER, protocol: "other", ...facts });
  }
}

async function answers(store: Pick<Store, "ping">): Promise<boolean> {
  await store.ping?.();
  return true;
}

interface LineParts {
  readonly level: "info" | "warn";
  readonly event: string;
  readonly message: string;
  readonly dst_id: string;
  readonly facts: { readonly [fact: string]: string };
}
