import {
  AgentError,
  type AgentEvent,
  type Card,
  type ConnectOptions,
  type Credentials,
  DiscoveryCache,
  type Handler,
  type Maybe,
  type RemoteAgent,
  type UpstreamCredentials,
} from "../../src/index.js";
import { isPromise } from "../../src/internal.js";
import type { CardTrust } from "../../src/public/auth.js";
import type { Clock } from "../../src/public/policies.js";
import { startCall } from "../../src/public/protocols.js";
import type { Telemetry } from "../../src/public/telemetry.js";
import type { UpstreamConfig } from "./config.js";
import type { UpstreamPolicies } from "./policy-layers.js";
import { type ResolvedUpstream, resolveUpstream } from "./resolve-upstream.js";

/** How often an upstream is asked whether it is there, and how long it may take. */
const PING_EVERY_MS = 5_000;
const PING_MS = 4_000;
/** Between two attempts to reach one that was never reached; twice as long each time. */
const FIRST_RETRY_MS = 1_000;
const LONGEST_RETRY_MS = 30_000;
const DISCOVER_MS = 5_000;

export type Health = "starting" | "up" | "down";

export interface UpstreamParts {
  readonly config: UpstreamConfig;
  /** In metrics and on the page. */
  readonly id: string;
  readonly credentials: Credentials;
  /** Whose credential it sees. */
  readonly callers: UpstreamCredentials;
  readonly trust: Maybe<CardTrust>;
  readonly timeoutMs: Maybe<number>;
  readonly telemetry: Telemetry;
  readonly clock: Clock;
  policies(idempotentSend: () => boolean): UpstreamPolicies;
  /** It came, it went, or it speaks otherwise than before. */
  changed(): void;
}

/** One upstream: reached as soon as it can be, asked how it is, and let go of at the end. */
export class UpstreamMonitor {
  readonly id: string;
  readonly config: UpstreamConfig;
  readonly policies: UpstreamPolicies;
  readonly #parts: UpstreamParts;
  /** What was found out about another process at this address says nothing about this one. */
  readonly #verdicts = new DiscoveryCache();
  #reached: Maybe<ResolvedUpstream>;
  /** The same peer by a way of its own, for pings alone. */
  #asked: Maybe<RemoteAgent>;
  #health: Health = "starting";
  #problem: Maybe<AgentError>;
  #wakeUp: () => void = () => undefined;
  #ended = false;
  #life: Promise<void> = Promise.resolve();

  constructor(parts: UpstreamParts) {
    this.#parts = parts;
    this.id = parts.id;
    this.config = parts.config;
    this.policies = parts.policies(() => this.remote?.card.capabilities.idempotentSend ?? false);
  }

  /** Undefined until it was reached for the first time. */
  get remote(): Maybe<RemoteAgent> {
    return this.#reached?.remote;
  }

  /** What an operator should know of what it learns of callers. */
  get notes(): readonly string[] {
    return this.#reached?.callers.notes ?? [];
  }

  get health(): Health {
    return this.#health;
  }

  /** Why it is down. */
  get problem(): Maybe<AgentError> {
    return this.#problem;
  }

  get card(): Maybe<Card> {
    return this.remote?.card;
  }

  readonly handler: Handler = (operation, call) => {
    if (this.remote !== undefined) return this.remote.handler(operation, call);
    return Promise.reject(this.unreached());
  };

  unreached(): AgentError {
    const why = this.#problem === undefined ? "it has not been reached yet" : this.#problem.message;
    return new AgentError("unavailable", `the agent behind this gateway cannot be reached: ${why}`, { sent: "no" });
  }

  /** The first attempt; what comes after it goes on in the background. */
  async start(): Promise<void> {
    await this.#reach();
    if (!this.#ended) this.#life = this.#live();
  }

  /** Stops asking. Calls under way go on. */
  stop(): void {
    this.#ended = true;
    this.#wakeUp();
  }

  async close(): Promise<void> {
    this.stop();
    await this.#life;
    await Promise.all([this.remote?.close(), this.#asked?.close()]);
  }

  async #live(): Promise<void> {
    let waitMs = FIRST_RETRY_MS;
    while (!this.#ended) {
      await this.#pause(this.remote === undefined ? waitMs : PING_EVERY_MS);
      if (this.#ended) return;
      if (this.remote !== undefined) {
        await this.#ask(this.remote);
        continue;
      }
      await this.#reach();
      waitMs = Math.min(LONGEST_RETRY_MS, waitMs * 2);
    }
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const takeBack = this.#parts.clock.after(ms, resolve);
      this.#wakeUp = () => {
        takeBack();
        resolve();
      };
      if (this.#ended) this.#wakeUp();
    });
  }

  async #reach(): Promise<void> {
    const { id, telemetry, timeoutMs } = this.#parts;
    try {
      const reached = await this.#connect({
        id,
        telemetry,
        layers: this.policies.layers,
        ...(timeoutMs === undefined ? {} : { timeoutMs }),
      });
      if (this.#ended) return void reached.remote.close();
      // Asked past all policies and unseen: whether it is there has nothing to do with how much it has to do.
      const asked = await this.#connect({ timeoutMs: PING_MS }).catch(async (thrown: unknown) => {
        await reached.remote.close();
        throw thrown;
      });
      this.#asked = asked.remote;
      this.#reached = reached;
      const refused = await this.#ping(this.#asked);
      this.#is(refused === undefined ? "up" : "down", refused);
      this.#parts.changed();
    } catch (thrown) {
      this.#is("down", AgentError.from(thrown));
    }
  }

  #connect(more: Pick<ConnectOptions, "id" | "telemetry" | "layers" | "timeoutMs">): Promise<ResolvedUpstream> {
    const { config, credentials, callers, trust, clock } = this.#parts;
    const options = {
      credentials,
      clock,
      verdicts: this.#verdicts,
      discoverMs: DISCOVER_MS,
      ...(config.pin === undefined ? {} : { pin: config.pin }),
      ...(trust === undefined ? {} : { trust }),
      ...more,
    };
    return resolveUpstream(config.url, options, callers);
  }

  async #ask(remote: RemoteAgent): Promise<void> {
    const problem = this.#asked && (await this.#ping(this.#asked));
    const returned = problem === undefined && this.#health === "down";
    // Whoever comes back may be another process, with another card.
    if (returned) await remote.initialize().catch(() => undefined);
    this.#is(problem === undefined ? "up" : "down", problem);
    if (returned) this.#parts.changed();
  }

  /** Undefined after a real answer. */
  async #ping(remote: RemoteAgent): Promise<Maybe<AgentError>> {
    const { clock } = this.#parts;
    try {
      const reply = remote.handler({ kind: "ping" }, startCall({ deadline: clock.now() + PING_MS }));
      const event = isPromise(reply) ? await within(reply, PING_MS, clock) : undefined;
      return event?.kind === "done" ? undefined : new AgentError("bad_peer", "a ping was answered with something else");
    } catch (thrown) {
      const problem = AgentError.from(thrown);
      // Who asks everybody for a token is there: the gateway has none of its own to show where callers' go on.
      return problem.code === "unauthenticated" && this.#parts.callers !== "own" ? undefined : problem;
    }
  }

  #is(health: Health, problem: Maybe<AgentError>): void {
    const told = this.#health !== health || this.#problem?.message !== problem?.message;
    this.#health = health;
    this.#problem = problem;
    if (told) this.#parts.changed();
  }
}

function within(reply: Promise<AgentEvent>, ms: number, clock: Clock): Promise<AgentEvent> {
  return new Promise((resolve, reject) => {
    const takeBack = clock.after(ms, () => reject(new AgentError("deadline", `no answer to a ping within ${ms} ms`)));
    reply.then(resolve, reject).finally(takeBack);
  });
}
