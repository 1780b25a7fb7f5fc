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
import { bridgedAgent } from "../../src/internal.js";
import { loadBalancer, type PolicySink, stack } from "../../src/public/policies.js";
import { protocols, type Traits } from "../../src/public/protocols.js";
import type { Telemetry } from "../../src/public/telemetry.js";
import type { AgentConfig } from "./config.js";
import { agentLayers, type PolicyTools, selectorFor, upstreamPolicies } from "./policy-layers.js";
import type { PreparedAgent } from "./prepare.js";
import { type Health, UpstreamMonitor } from "./upstream-monitor.js";

type Message = Parameters<Agent["handle"]>[0];
type Stream = Extract<ReturnType<Agent["handle"]>, AsyncGenerator>;

/** What all agents of one gateway share. */
export interface SharedParts extends PolicyTools {
  readonly telemetry: Telemetry;
  readonly notes: PolicySink;
  readonly secret: Uint8Array;
  readonly publicUrl: Maybe<string>;
  readonly signsCards: boolean;
}

/** How long work that was begun by an earlier process waits for its agent to come back. */
const COME_BACK_MS = 600_000;

/** One agent of the gateway: its upstreams, its policies, and what stands for it in front. */
export class AgentSupervisor {
  readonly name: string;
  readonly config: AgentConfig;
  readonly upstreams: readonly UpstreamMonitor[];
  /** Two keepers with the same one do the same: the older can stay. */
  readonly fingerprint: string;
  /** Every account that was ever begun for it. */
  readonly accounts: LossReport[] = [];
  readonly #house: SharedParts;
  readonly #handler: ReturnType<typeof handlerOf>;
  readonly #onChange: () => void;
  #bridged: Maybe<{ readonly agent: BridgedAgent; readonly card: string }>;
  #refused: Maybe<AgentError>;
  readonly #absent: Agent;
  /** Work that waits for the agent. */
  readonly #arrived = new Set<() => void>();

  constructor(prepared: PreparedAgent, house: SharedParts, onChange: () => void) {
    const { config, credentials, trust, callers } = prepared;
    this.name = config.name;
    this.config = config;
    this.fingerprint = fingerprintOf(prepared, house);
    this.#house = house;
    this.#onChange = onChange;
    const alone = config.upstreams.length === 1;
    this.upstreams = config.upstreams.map((upstream, index) => {
      const id = alone ? config.name : `${config.name}/${upstream.id}`;
      return new UpstreamMonitor({
        config: upstream,
        id,
        credentials: credentials[index] ?? {},
        callers,
        trust,
        timeoutMs: config.timeoutMs,
        telemetry: house.telemetry,
        clock: house.clock,
        policies: (idempotentSend) =>
          upstreamPolicies({ destination: id, policies: config.policies, alone, idempotentSend }, house),
        changed: () => this.#changed(),
      });
    });
    this.#handler = handlerOf(this.upstreams, config, house);
    this.#absent = this.#standIn();
  }

  get health(): Health {
    const all = this.upstreams.map(({ health }) => health);
    return all.includes("up") ? "up" : all.includes("starting") ? "starting" : "down";
  }

  /** Why nothing is served for it, or why it is down. */
  get problem(): Maybe<AgentError> {
    return (
      this.#refused ?? (this.health === "up" ? undefined : this.upstreams.find(({ problem }) => problem !== undefined)?.problem)
    );
  }

  /** What is served under its name now. */
  get agent(): Agent {
    return this.#bridged?.agent ?? this.#absent;
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

  /** Makes the agent anew when what callers see of it has changed. */
  #changed(): void {
    const reached = this.upstreams.find(({ remote }) => remote !== undefined);
    const card = reached?.card;
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
    const { secret, publicUrl, signsCards, clock, random } = this.#house;
    const reached = upstreams.flatMap(({ remote }) => (remote === undefined ? [] : [remote]));
    const [first] = reached;
    if (first === undefined) return;
    try {
      const bridged = bridgedAgent(
        {
          handler: this.#handler,
          protocol: () => first.protocol,
          traits: () => traitsOf(this.upstreams),
          card: () => this.upstreams.find((each) => each.card !== undefined)?.card ?? card,
        },
        {
          signed: reached.some(({ cardTrust }) => cardTrust !== "unsigned"),
          upstreamUrls: [
            ...upstreams.map((each) => each.config.url),
            ...reached.flatMap(({ interfaces }) => interfaces.map(({ url }) => url)),
          ],
          callers: { sendsCredentialsOn: config.callers !== "own", notes: this.#callerNotes },
        },
        {
          name: config.name,
          mode: config.mode,
          strict: config.strict,
          card: config.card,
          secret,
          signsCards,
          publicUrl,
          clock,
          random,
        },
      );
      this.accounts.push(bridged.losses);
      this.#bridged = { agent: bridged, card: text };
      this.#refused = undefined;
      for (const arrived of [...this.#arrived]) arrived();
    } catch (thrown) {
      this.#refused = AgentError.from(thrown);
    }
  }

  /** Stands in while nobody was reached: it refuses new work, and holds on to work that an earlier process began. */
  #standIn(): Agent {
    const { name } = this;
    const unreached = (): AgentError =>
      this.#refused ?? this.upstreams[0]?.unreached() ?? new AgentError("unavailable", "not there");
    return {
      ...agent({
        name,
        description: `${name} cannot be reached at the moment`,
        restartable: true,
        handle: (message, task) => this.#resumed(message, task, unreached),
      }),
      upstreamUrls: this.upstreams.map(({ config }) => config.url),
      answers: (operation) => (operation.kind === "send" ? Promise.reject(unreached()) : undefined),
      // Nobody can say over there that it is over.
      cancel: () => Promise.reject(unreached()),
    };
  }

  /** Work that an earlier process began goes on when the agent is there again. */
  async *#resumed(message: Message, task: TaskContext, unreached: () => AgentError): Stream {
    if (!task.restarted) throw unreached();
    await this.#comesBack(task);
    const output = this.#bridged?.agent.handle(message, task);
    if (output === undefined) throw unreached();
    return isStream(output) ? yield* output : await output;
  }

  /** Ends with the wait, or when the work must stop: a process that shuts down leaves it to the next one. */
  #comesBack({ cancel }: TaskContext): Promise<void> {
    return new Promise((resolve, reject) => {
      let forget = (): void => undefined; // a cancel that came before is told at once
      const over = (): void => {
        takeBack();
        forget();
        this.#arrived.delete(over);
        resolve();
      };
      const takeBack = this.#house.clock.after(COME_BACK_MS, over);
      this.#arrived.add(over);
      forget = cancel.onCancel((reason) => {
        reject(reason); // before the promise is kept in vain
        over();
      });
      if (this.#bridged !== undefined) over();
    });
  }
}

function handlerOf(upstreams: readonly UpstreamMonitor[], { name, policies, sharedKeys }: AgentConfig, house: SharedParts) {
  const [only] = upstreams;
  const inner =
    upstreams.length === 1 && only !== undefined
      ? only.handler
      : loadBalancer({
          destinations: upstreams.map(destinationOf),
          selector: selectorFor(policies.select, house),
          hedge: policies.hedge,
          sharedKeys,
          clock: house.clock,
          newId: house.newId,
          notes: house.notes,
        }).handler;
  return stack(agentLayers(name, policies, house))(inner);
}

/** Its skills are those of its card, once there is one. */
function destinationOf(keeper: UpstreamMonitor) {
  const { id, config, handler } = keeper;
  return {
    id,
    handler,
    weight: config.weight,
    tags: config.tags,
    get protocol() {
      return keeper.remote?.protocol;
    },
    get skills() {
      return keeper.card?.skills.map((skill) => skill.id);
    },
    idempotentSend: () => keeper.card?.capabilities.idempotentSend ?? false,
  };
}

/** What all that were reached can do: any of them may get the next message. */
function traitsOf(upstreams: readonly UpstreamMonitor[]): Pick<Traits, "streaming" | "tasks" | "inputTurns"> {
  const spoken = upstreams.flatMap(({ remote }) =>
    protocols.filter(({ id }) => id === remote?.protocol).map(({ traits }) => traits),
  );
  const all = (trait: "streaming" | "tasks" | "inputTurns"): boolean => spoken.every((each) => each[trait]);
  return { streaming: all("streaming"), tasks: all("tasks"), inputTurns: all("inputTurns") };
}

/** Secrets go into it, so it stays in this process. */
function fingerprintOf(
  { config, credentials, callers, trust }: PreparedAgent,
  { publicUrl, signsCards, secret }: SharedParts,
): string {
  const { path: _path, trustPath: _trustPath, callersPath: _callersPath, upstreams, ...rest } = config;
  const places = upstreams.map(({ path: _at, credentialPath: _credentialsAt, ...upstream }) => upstream);
  return JSON.stringify([
    rest,
    places,
    credentials,
    callers,
    trust,
    publicUrl,
    signsCards,
    Buffer.from(secret).toString("base64"),
  ]);
}

function isStream(output: unknown): output is Stream {
  return typeof output === "object" && output !== null && Symbol.asyncIterator in output;
}
