import {
  type Agent,
  AgentError,
  agent,
  type BridgedAgent,
  type Card,
  type LossReport,
  type Maybe,
  type TaskContext,
} from "../../src/index.js";
import { bridgedAgent, type UpstreamTraits } from "../../src/internal.js";
import { loadBalancer, type PolicySink, stack } from "../../src/public/policies.js";
import { protocols } from "../../src/public/protocols.js";
import type { Records } from "../../src/public/stores.js";
import type { Telemetry } from "../../src/public/telemetry.js";
import { fingerprintOf } from "./agent-fingerprint.js";
import { agentHealth, upstreamNotes } from "./agent-health.js";
import type { AgentConfig } from "./config.js";
import type { LearnedChoices } from "./learned-choices.js";
import { agentLayers, type PolicyTools, selectorFor, upstreamPolicies } from "./policy-layers.js";
import type { PreparedAgent } from "./prepare.js";
import { type Health, UpstreamMonitor } from "./upstream-monitor.js";

type Message = Parameters<Agent["handle"]>[0];
type Stream = Extract<ReturnType<Agent["handle"]>, AsyncGenerator>;

/** Dependencies shared by all agents of one gateway. */
export interface SharedParts extends PolicyTools {
  readonly telemetry: Telemetry;
  readonly notes: PolicySink;
  readonly secret: Uint8Array;
  readonly publicUrl: Maybe<string>;
  readonly signsCards: boolean;
  readonly choices: LearnedChoices;
  /** Of the store: some DIDs are found there. */
  readonly records: Records;
}

/** How long a task started by an earlier process waits for its upstream. */
const RESUME_WAIT_MS = 600_000;

/** One agent of the gateway: its upstreams, its policies, and the agent served for it. */
export class AgentSupervisor {
  readonly name: string;
  readonly config: AgentConfig;
  readonly upstreams: readonly UpstreamMonitor[];
  /** Supervisors with equal fingerprints are interchangeable: a reload keeps the old one. */
  readonly fingerprint: string;
  /** One per bridged agent that was created for it. */
  readonly lossReports: LossReport[] = [];
  readonly #shared: SharedParts;
  readonly #handler: ReturnType<typeof handlerOf>;
  readonly #onChange: () => void;
  #bridged: Maybe<{ readonly agent: BridgedAgent; readonly card: string }>;
  #bridgeProblem: Maybe<AgentError>;
  readonly #placeholder: Agent;
  /** Resumed tasks that wait for the upstream. */
  readonly #waiting = new Set<() => void>();

  constructor(prepared: PreparedAgent, shared: SharedParts, onChange: () => void) {
    const { config, credentials, identities, trust, callers } = prepared;
    this.name = config.name;
    this.config = config;
    this.fingerprint = fingerprintOf(prepared, shared);
    this.#shared = shared;
    this.#onChange = onChange;
    const alone = config.upstreams.length === 1;
    this.upstreams = config.upstreams.map((upstream, index) => {
      const id = alone ? config.name : `${config.name}/${upstream.id}`;
      const notes = upstreamNotes(shared.notes, { changed: onChange, protocol: () => monitor.remote?.protocol });
      const monitor: UpstreamMonitor = new UpstreamMonitor({
        config: upstream,
        id,
        credentials: credentials[index] ?? {},
        identity: identities[index],
        records: shared.records,
        callers,
        trust,
        timeoutMs: config.timeoutMs,
        telemetry: shared.telemetry,
        clock: shared.clock,
        connections: config,
        choice: config.learn === undefined ? {} : shared.choices.forUpstream(id, config.learn),
        notes,
        policies: (idempotentSend) =>
          upstreamPolicies({ destination: id, policies: config.policies, alone, idempotentSend }, { ...shared, notes }),
        changed: () => this.#changed(),
      });
      return monitor;
    });
    this.#handler = handlerOf(this.upstreams, config, shared);
    this.#placeholder = this.#createPlaceholder();
  }

  get health(): Health {
    const all = this.upstreams.map(({ health }) => health);
    return all.includes("up") ? "up" : all.includes("starting") ? "starting" : "down";
  }

  /** Why it cannot be bridged, or why it is down. */
  get problem(): Maybe<AgentError> {
    return (
      this.#bridgeProblem ??
      (this.health === "up" ? undefined : this.upstreams.find(({ problem }) => problem !== undefined)?.problem)
    );
  }

  /** The agent that is currently served under its name. */
  get agent(): Agent {
    return this.#bridged?.agent ?? this.#placeholder;
  }

  get bridged(): Maybe<BridgedAgent> {
    return this.#bridged?.agent;
  }

  async start(): Promise<void> {
    await Promise.all(this.upstreams.map((upstream) => upstream.start()));
    this.#changed();
  }

  stop(): void {
    for (const upstream of this.upstreams) upstream.stop();
  }

  async close(): Promise<void> {
    await Promise.all(this.upstreams.map((upstream) => upstream.close()));
  }

  /** Recreates the bridged agent when its card or notes have changed. */
  #changed(): void {
    const resolved = this.upstreams.find(({ remote }) => remote !== undefined);
    const card = resolved?.card;
    if (card !== undefined) {
      const text = JSON.stringify([{ ...card, original: undefined }, this.#callerNotes]);
      if (this.#bridged?.card !== text) this.#bridge(card, text);
    }
    this.#onChange();
  }

  get #callerNotes(): readonly string[] {
    return [...new Set(this.upstreams.flatMap(({ notes }) => notes))];
  }

  #bridge(card: Card, text: string): void {
    const { config, upstreams } = this;
    const { secret, publicUrl, signsCards, clock, random } = this.#shared;
    const resolved = upstreams.flatMap(({ remote }) => (remote === undefined ? [] : [remote]));
    const [first] = resolved;
    if (first === undefined) return;
    try {
      const bridged = bridgedAgent(
        {
          handler: this.#handler,
          protocol: () => first.protocol,
          traits: () => traitsOf(this.upstreams),
          card: () => this.upstreams.find((each) => each.card !== undefined)?.card ?? card,
          peer: () => (upstreams.length === 1 ? upstreams[0]?.remote : undefined),
        },
        {
          signed: resolved.some(({ cardTrust }) => cardTrust !== "unsigned"),
          upstreamUrls: [
            ...upstreams.map((each) => each.config.url),
            ...resolved.flatMap(({ interfaces }) => interfaces.map(({ url }) => url)),
          ],
          timeoutMs: config.timeoutMs,
          callers: { sendsCredentialsOn: config.callers !== "own", notes: this.#callerNotes },
        },
        {
          name: config.name,
          require: config.require,
          mode: config.mode,
          strict: config.strict,
          callsPerCaller: config.callsPerCaller,
          card: config.card,
          secret,
          signsCards,
          publicUrl,
          clock,
          random,
        },
      );
      this.lossReports.push(bridged.losses);
      this.#bridged = { agent: { ...bridged, health: () => agentHealth(this) }, card: text };
      this.#bridgeProblem = undefined;
      for (const resume of [...this.#waiting]) resume();
    } catch (thrown) {
      this.#bridgeProblem = AgentError.from(thrown);
    }
  }

  /** Served until an upstream is resolved: rejects new messages, and keeps tasks of an earlier process waiting. */
  #createPlaceholder(): Agent {
    const { name } = this;
    const unavailable = (): AgentError =>
      this.#bridgeProblem ?? this.upstreams[0]?.refuse() ?? new AgentError("unavailable", `Upstream "${name}" is unreachable`);
    return {
      ...agent({
        name,
        description: `${name} is currently unreachable`,
        restartable: true,
        handle: (message, task) => this.#resume(message, task, unavailable),
      }),
      upstreamUrls: this.upstreams.map(({ config }) => config.url),
      health: () => agentHealth(this),
      answers: (operation) => (operation.kind === "send" ? Promise.reject(unavailable()) : undefined),
      // The upstream cannot cancel the task, so it stays.
      cancel: () => Promise.reject(unavailable()),
    };
  }

  /** Continues a task of an earlier process once the upstream is available. */
  async *#resume(message: Message, task: TaskContext, unavailable: () => AgentError): Stream {
    if (!task.restarted) throw unavailable();
    await this.#waitForUpstream(task);
    const output = this.#bridged?.agent.handle(message, task);
    if (output === undefined) throw unavailable();
    return isStream(output) ? yield* output : await output;
  }

  /** Resolves when the wait is over; rejects on cancel, so that a shutdown leaves the task to the next process. */
  #waitForUpstream({ cancel }: TaskContext): Promise<void> {
    return new Promise((resolve, reject) => {
      let removeListener = (): void => undefined; // onCancel may call back synchronously
      const done = (): void => {
        cancelTimer();
        removeListener();
        this.#waiting.delete(done);
        resolve();
      };
      const cancelTimer = this.#shared.clock.after(RESUME_WAIT_MS, done);
      this.#waiting.add(done);
      removeListener = cancel.onCancel((reason) => {
        reject(reason); // before done() resolves
        done();
      });
      if (this.#bridged !== undefined) done();
    });
  }
}

function handlerOf(upstreams: readonly UpstreamMonitor[], { name, policies, sharedKeys }: AgentConfig, shared: SharedParts) {
  const [only] = upstreams;
  const inner =
    upstreams.length === 1 && only !== undefined
      ? only.handler
      : loadBalancer({
          destinations: upstreams.map(destinationOf),
          selector: selectorFor(policies.select, shared),
          hedge: policies.hedge,
          sharedKeys,
          clock: shared.clock,
          newId: shared.newId,
          notes: shared.notes,
        }).handler;
  return stack(agentLayers(name, policies, shared))(inner);
}

/** Protocol and skills are read per call: they are known only after discovery. */
function destinationOf(monitor: UpstreamMonitor) {
  const { id, config, handler } = monitor;
  return {
    id,
    handler,
    weight: config.weight,
    tags: config.tags,
    get protocol() {
      return monitor.remote?.protocol;
    },
    get skills() {
      return monitor.card?.skills.map((skill) => skill.id);
    },
    idempotentSend: () => monitor.card?.capabilities.idempotentSend ?? false,
  };
}

/** The traits that all resolved upstreams share: any of them may get the next message. */
function traitsOf(upstreams: readonly UpstreamMonitor[]): UpstreamTraits {
  const shared = upstreams.flatMap(({ remote }) =>
    protocols.filter(({ id }) => id === remote?.protocol).map(({ traits }) => traits),
  );
  const all = (trait: "streaming" | "tasks" | "inputTurns"): boolean => shared.every((each) => each[trait]);
  return { streaming: all("streaming"), tasks: all("tasks"), inputTurns: all("inputTurns") };
}

function isStream(output: unknown): output is Stream {
  return typeof output === "object" && output !== null && Symbol.asyncIterator in output;
}
