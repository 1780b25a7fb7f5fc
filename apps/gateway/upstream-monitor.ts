import {
  AgentError,
  type Card,
  type ConnectOptions,
  type Credentials,
  DiscoveryCache,
  type Handler,
  type Layer,
  type Maybe,
  type RemoteAgent,
  type UpstreamCredentials,
} from "../../src/index.js";
import { around, type RelayableAgent } from "../../src/internal.js";
import type { CardTrust } from "../../src/public/auth.js";
import type { Identity } from "../../src/public/identity.js";
import type { Clock, PolicySink } from "../../src/public/policies.js";
import type { Records } from "../../src/public/stores.js";
import type { Telemetry } from "../../src/public/telemetry.js";
import type { AgentConfig, UpstreamConfig } from "./config.js";
import type { UpstreamPolicies } from "./policy-layers.js";
import { type ResolvedUpstream, resolveUpstream } from "./resolve-upstream.js";

/** The name of the gateway in labels and log lines. */
export const GATEWAY = "gateway";

/** Health check interval and timeout. */
const PING_EVERY_MS = 5_000;
const PING_MS = 4_000;
/** Failed checks in a row after which an upstream is down, as `unhealthy_threshold` of Envoy: one lost connection is no outage. */
const UNHEALTHY_THRESHOLD = 3;
/** After a failed check the next one comes sooner, so that an outage is still noticed soon. */
const CHECK_AGAIN_MS = 1_000;
/** Backoff between connection attempts; doubles each time. */
const FIRST_RETRY_MS = 1_000;
const LONGEST_RETRY_MS = 30_000;
const DISCOVER_MS = 5_000;

/** The default of `connect`. */
const CONNECTION_QUEUE = 10_000;

export const CIRCUIT_OPEN = new AgentError("unavailable", "the circuit breaker is open after failed calls");

export type Health = "starting" | "up" | "down";

export interface UpstreamParts {
  readonly config: UpstreamConfig;
  /** Name in metrics and on the page. */
  readonly id: string;
  readonly credentials: Credentials;
  /** Signs the requests to it. */
  readonly identity: Maybe<Identity>;
  /** Where some DIDs are found. */
  readonly records: Records;
  /** Which credential it receives. */
  readonly callers: UpstreamCredentials;
  readonly trust: Maybe<CardTrust>;
  readonly timeoutMs: Maybe<number>;
  readonly connections: Pick<AgentConfig, "connections" | "connectionQueue">;
  /** How its protocol is chosen, where it speaks several. */
  readonly choice: Pick<ConnectOptions, "feasible" | "chooser">;
  readonly telemetry: Telemetry;
  readonly clock: Clock;
  /** Receives notes about calls with less security than they must have, and about those that wait for a connection. */
  readonly notes: PolicySink;
  policies(idempotentSend: () => boolean): UpstreamPolicies;
  /** Called when its health, card or interface changes. */
  changed(): void;
}

/** Connects to one upstream, retries with backoff, and checks its health. */
export class UpstreamMonitor {
  readonly id: string;
  readonly config: UpstreamConfig;
  readonly policies: UpstreamPolicies;
  readonly #parts: UpstreamParts;
  /** Not shared: results for another process at this address do not apply. */
  readonly #discoveryCache = new DiscoveryCache();
  #resolved: Maybe<ResolvedUpstream>;
  #health: Health = "starting";
  #problem: Maybe<AgentError>;
  /** In a row. */
  #failedChecks = 0;
  #nextAttemptAt = 0;
  #lastAttemptAt = 0;
  #wakeUp: () => void = () => undefined;
  #stopped = false;
  #running: Promise<void> = Promise.resolve();

  constructor(parts: UpstreamParts) {
    this.#parts = parts;
    this.id = parts.id;
    this.config = parts.config;
    this.policies = parts.policies(() => this.remote?.card.capabilities.idempotentSend ?? false);
  }

  /** Undefined until it is resolved for the first time. */
  get remote(): Maybe<RelayableAgent> {
    return this.#resolved?.remote;
  }

  /** Notes for the operator about forwarded credentials. */
  get notes(): readonly string[] {
    return this.#resolved?.callers.notes ?? [];
  }

  /** Down also while its circuit breaker lets no call through. */
  get health(): Health {
    return this.#health === "up" && this.#isBlocked ? "down" : this.#health;
  }

  /** Why it is down. */
  get problem(): Maybe<AgentError> {
    return this.#problem ?? (this.#isBlocked ? CIRCUIT_OPEN : undefined);
  }

  /** A breaker whose time is over lets the next call through, so it does not block: without calls it would never close. */
  get #isBlocked(): boolean {
    const circuit = this.policies.breaker?.state();
    return circuit?.state === "open" && (circuit.probeInMs ?? 0) > 0;
  }

  /** How many calls may wait for a connection. */
  get connectionQueue(): number {
    return this.#parts.connections.connectionQueue ?? CONNECTION_QUEUE;
  }

  get card(): Maybe<Card> {
    return this.remote?.card;
  }

  readonly handler: Handler = (operation, call) => {
    if (this.remote !== undefined) return this.remote.handler(operation, call);
    return Promise.reject(this.refuse());
  };

  /**
   * The error for a call that came before the upstream was resolved, without address and cause: these are for the operator. The call
   * brings the next attempt forward: an upstream that is back is not unreachable for the rest of a long wait.
   */
  refuse(): AgentError {
    if (this.#parts.clock.now() - this.#lastAttemptAt >= FIRST_RETRY_MS) this.#wakeUp();
    const seconds = Math.max(1, Math.ceil((this.#nextAttemptAt - this.#parts.clock.now()) / 1000));
    const reason = this.#problem === undefined ? "not connected yet" : `connection failed, retry in ${seconds} s`;
    const facts = { sent: "no", ...(this.#problem === undefined ? {} : { cause: this.#problem }) } as const;
    return new AgentError("unavailable", `Upstream "${this.id}" is unreachable (${reason})`, facts);
  }

  /** Makes the first attempt; later ones run in the background. */
  async start(): Promise<void> {
    await this.#resolve();
    if (!this.#stopped) this.#running = this.#run();
  }

  /** Stops health checks. Calls in progress continue. */
  stop(): void {
    this.#stopped = true;
    this.#wakeUp();
  }

  async close(): Promise<void> {
    this.stop();
    await this.#running;
    await this.remote?.close();
  }

  async #run(): Promise<void> {
    let waitMs = FIRST_RETRY_MS;
    while (!this.#stopped) {
      await this.#sleep(this.remote === undefined ? waitMs : this.#checkInMs);
      if (this.#stopped) return;
      if (this.remote !== undefined) {
        await this.#checkHealth(this.remote);
        continue;
      }
      await this.#resolve();
      waitMs = Math.min(LONGEST_RETRY_MS, waitMs * 2);
    }
  }

  get #checkInMs(): number {
    const isDoubtful = this.#health === "up" && this.#failedChecks > 0;
    return isDoubtful ? CHECK_AGAIN_MS : PING_EVERY_MS;
  }

  #sleep(ms: number): Promise<void> {
    const { clock } = this.#parts;
    this.#nextAttemptAt = clock.now() + ms;
    return new Promise((resolve) => {
      const cancelTimer = clock.after(ms, resolve);
      this.#wakeUp = () => {
        this.#wakeUp = () => undefined;
        cancelTimer();
        resolve();
      };
      if (this.#stopped) this.#wakeUp();
    });
  }

  async #resolve(): Promise<void> {
    const { id, telemetry, timeoutMs, clock } = this.#parts;
    this.#lastAttemptAt = clock.now();
    try {
      const resolved = await this.#connect({
        id,
        telemetry,
        layers: [...this.policies.layers, this.#successes],
        ...(timeoutMs === undefined ? {} : { timeoutMs }),
      });
      if (this.#stopped) return void resolved.remote.close();
      this.#resolved = resolved;
      const failure = await this.#ping(resolved.remote);
      this.#setHealth(failure === undefined ? "up" : "down", failure);
      this.#parts.changed();
    } catch (thrown) {
      this.#setHealth("down", AgentError.from(thrown));
    }
  }

  #connect(more: Pick<ConnectOptions, "id" | "telemetry" | "layers" | "timeoutMs">): Promise<ResolvedUpstream> {
    const { config, credentials, identity, callers, trust, clock, notes, records } = this.#parts;
    const { connections, connectionQueue } = this.#parts.connections;
    const options = {
      ...config.floor,
      settings: config.settings,
      ...this.#parts.choice,
      connections,
      connectionQueue,
      as: GATEWAY,
      notes,
      credentials,
      records,
      clock,
      discoveryCache: this.#discoveryCache,
      discoverMs: DISCOVER_MS,
      ...(config.pin === undefined ? {} : { pin: config.pin }),
      ...(trust === undefined ? {} : { trust }),
      ...(identity === undefined ? {} : { identity }),
      ...more,
    };
    return resolveUpstream(config.url, options, callers);
  }

  async #checkHealth(remote: RemoteAgent): Promise<void> {
    const problem = await this.#ping(remote);
    this.#failedChecks = problem === undefined ? 0 : this.#failedChecks + 1;
    if (problem !== undefined && this.#health === "up" && this.#failedChecks < UNHEALTHY_THRESHOLD) return;
    const returned = problem === undefined && this.#health === "down";
    if (returned) await this.#readCardAgain(remote);
    this.#setHealth(problem === undefined ? "up" : "down", problem);
    if (returned) this.#parts.changed();
  }

  /** After an outage it may be another process with another card. */
  async #readCardAgain(remote: RemoteAgent): Promise<void> {
    await remote.initialize().catch(() => undefined);
  }

  /** Innermost: a call that was answered proves more than a check that failed. */
  readonly #successes: Layer = around<true>({
    begin: ({ kind }) => (kind === "card" ? undefined : true),
    end: (_, { kind }) => {
      if (kind === "ended") this.#answered();
    },
  });

  #answered(): void {
    this.#failedChecks = 0;
    const { remote } = this;
    if (this.#health !== "down" || remote === undefined) return;
    this.#setHealth("up", undefined);
    void this.#readCardAgain(remote).then(() => this.#parts.changed());
  }

  /** Undefined on success. On the connection that calls use, outside their policies: load must not affect health. */
  async #ping(remote: RemoteAgent): Promise<Maybe<AgentError>> {
    const timeout = new AbortController();
    const cancelTimer = this.#parts.clock.after(PING_MS, () =>
      timeout.abort(new AgentError("deadline", `No reply to a ping within ${PING_MS} ms`)),
    );
    try {
      await remote.ping(timeout.signal);
      return undefined;
    } catch (thrown) {
      const problem = AgentError.from(thrown);
      // With forwarded credentials the gateway has no token of its own: a rejected ping still proves the upstream is up.
      return problem.code === "unauthenticated" && this.#parts.callers !== "own" ? undefined : problem;
    } finally {
      cancelTimer();
    }
  }

  #setHealth(health: Health, problem: Maybe<AgentError>): void {
    const changed = this.#health !== health || this.#problem?.message !== problem?.message;
    this.#health = health;
    this.#problem = problem;
    if (changed) this.#parts.changed();
  }
}
