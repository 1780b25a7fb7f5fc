import { AgentError, type Awaitable, type JsonObject, type Maybe } from "../envelope/index.js";
import { backgroundClock, type Clock } from "../policies/clock.js";
import type { HealthStatus } from "../protocols/health.js";
import type { HealthSource } from "../protocols/host.js";
import type { Store } from "../tasks/index.js";
import type { Agent } from "./agent.js";

export interface ServerHealthParts {
  readonly agents: readonly Agent[];
  readonly store: Store;
  readonly probes: boolean;
  /** Default: the system's. */
  readonly clock?: Maybe<Clock>;
}

/** What does not answer a health check in this time is unavailable. */
const CHECK_MS = 3_000;

interface Checked {
  readonly status: HealthStatus;
  readonly problems: readonly string[];
}

/** What a health check found, for operators. */
interface HealthReport {
  readonly status: HealthStatus;
  readonly draining: boolean;
  readonly store: Checked & { readonly durability: string };
  readonly agents: readonly (Checked & { readonly name: string })[];
}

/** Asks the store and the agents whether they can answer. Requests at the same time share one check; no result is kept. */
export class ServerHealth implements HealthSource {
  /** The server stops: it takes no new calls. */
  draining = false;
  readonly probes: boolean;
  readonly #parts: ServerHealthParts;
  readonly #clock: Clock;
  #running: Maybe<Promise<HealthReport>>;

  constructor(parts: ServerHealthParts) {
    this.#parts = parts;
    this.probes = parts.probes;
    this.#clock = parts.clock ?? backgroundClock;
  }

  readonly status = async (): Promise<HealthStatus> => {
    if (this.draining) return "unavailable";
    const { status } = await this.#report();
    return this.draining ? "unavailable" : status;
  };

  readonly takesCalls = async (): Promise<HealthStatus> => {
    if (this.draining) return "unavailable";
    const { status } = await this.#storeChecked();
    return this.draining ? "unavailable" : status;
  };

  /** For operators: which part is unavailable, and why. */
  async details(): Promise<JsonObject> {
    const { store, agents, ...overall } = await this.#report();
    return { ...overall, store: { ...store }, agents: agents.map((each) => ({ ...each })) };
  }

  #report(): Promise<HealthReport> {
    this.#running ??= this.#check().finally(() => {
      this.#running = undefined;
    });
    return this.#running;
  }

  async #check(): Promise<HealthReport> {
    const { store, agents } = this.#parts;
    const [ofStore, ...ofAgents] = await Promise.all([
      this.#storeChecked(),
      ...agents.map(async (agent) => ({ name: agent.name, ...(await this.#within((signal) => agentChecked(agent, signal))) })),
    ]);
    const { draining } = this;
    const usable = !draining && [ofStore, ...ofAgents].every(({ status }) => status === "ok");
    return {
      status: usable ? "ok" : "unavailable",
      draining,
      store: { ...ofStore, durability: store.durability },
      agents: ofAgents,
    };
  }

  #storeChecked(): Promise<Checked> {
    return this.#within(async () => {
      await this.#parts.store.ping?.();
      return HEALTHY;
    });
  }

  /** A check that throws or takes too long has found a problem. */
  #within(check: (signal: AbortSignal) => Awaitable<Checked>): Promise<Checked> {
    return new Promise((resolve) => {
      const limit = new AbortController();
      const cancelTimer = this.#clock.after(CHECK_MS, () => {
        limit.abort();
        resolve(unavailable(`no answer within ${CHECK_MS} ms`));
      });
      const run = async (): Promise<Checked> => check(limit.signal);
      void run()
        .catch((thrown: unknown) => unavailable(AgentError.from(thrown).message))
        .then(resolve)
        .finally(cancelTimer);
    });
  }
}

const HEALTHY: Checked = { status: "ok", problems: [] };

function unavailable(problem: string): Checked {
  return { status: "unavailable", problems: [problem] };
}

async function agentChecked(agent: Agent, signal: AbortSignal): Promise<Checked> {
  if (agent.health === undefined) return HEALTHY;
  const { usable, problems } = await agent.health(signal);
  return { status: usable ? "ok" : "unavailable", problems };
}
