import type { JsonObject } from "../../../src/index.js";
import type { Traits } from "../../../src/public/protocols.js";
import type { EntrySource } from "../entries/entry.js";
import type { ModelSettings } from "../models/settings.js";
import type { Arm, Condition, Load, Settings } from "../result/index.js";

/** What the processes of a run are told, and what they answer. Both sides are of this benchmark. */

/** The same for every process of a run. */
export interface RunTask {
  readonly run: string;
  readonly origin: bigint;
  readonly seed: number;
  readonly arm: Arm;
  readonly settings: Settings;
  readonly condition: Condition;
  /** What the behaviour of the scenario is given. */
  readonly data?: unknown;
  /** How long a program of another implementation may take to load. */
  readonly startMs: number;
}

export interface AgentAddress {
  readonly name: string;
  /** Where callers reach it: the proxy in the path. */
  readonly publicUrl: string;
  /** Where it listens. 0: any free port. */
  readonly port: number;
  /** The address at which it listens. Undefined: loopback. */
  readonly host?: string | undefined;
  /** Where other agents call each other too, every edge has an address of its own: the agent answers at all of these. */
  readonly names?: readonly string[] | undefined;
  /** The agents that it can call. */
  readonly peers?: readonly PeerTarget[] | undefined;
  /** The file of its identity. Undefined: it has none. */
  readonly identity?: string | undefined;
}

/** An agent, and where one particular caller reaches it. */
export interface PeerTarget {
  readonly agent: string;
  readonly url: string;
}

/** One record of the registry that the processes of a run share. */
export interface KnownRecord {
  readonly key: string;
  readonly value: JsonObject;
}

/** What processes with identities know about each other. */
export interface IdentityTask {
  readonly records: readonly KnownRecord[];
}

export interface AgentTask extends RunTask {
  readonly agents: readonly AgentAddress[];
  readonly model: ModelSettings;
  /** Where agents keep what survives their process. */
  readonly stateFolder: string;
  /** How often this process was started before. */
  readonly restarts: number;
  /** Of the whole run, in their order. */
  readonly allAgents: readonly string[];
  /** Set in an arm with identities: who may call. */
  readonly identities?: (IdentityTask & { readonly callers: readonly string[] }) | undefined;
  /** The interpreter and the script of an implementation in another language. */
  readonly program?: Program | undefined;
}

/** What a client of agents is opened with. */
export interface ClientTask extends RunTask {
  readonly targets: readonly PeerTarget[];
  /** Set in an arm with identities: the file of the caller's own. */
  readonly identities?: (IdentityTask & { readonly own: string }) | undefined;
}

export interface CallerTask extends ClientTask {
  readonly load: Load;
  /** What requests carry; undefined: text of the length in the settings. */
  readonly entries?: EntrySource | undefined;
  /** The socket of the Redis that holds the queue. Undefined: it is in memory. */
  readonly redis?: string | undefined;
  readonly program?: Program | undefined;
}

/** A program of another implementation. */
export interface Program {
  readonly command: string;
  readonly args: readonly string[];
  /** What it does about security by itself. */
  readonly protection: Protection;
}

/** What protects the messages of an arm, and how its callers are known. */
export interface Protection {
  readonly signed: Traits["signed"];
  readonly sealed: Traits["sealed"];
  readonly callers: "anonymous" | "did";
}

/** As members of a configuration. They may differ between arms. */
export function protectionValues({ signed, sealed, callers }: Protection): Configuration {
  return { "plug-in.signed": signed, "plug-in.sealed": sealed, "plug-in.callers": callers };
}

export type Configuration = Readonly<Record<string, string | number | boolean | null>>;

export interface AgentStarted {
  readonly ports: Readonly<Record<string, number>>;
  /** How callers name an agent, if not by its URL. */
  readonly addresses?: Readonly<Record<string, string>> | undefined;
  readonly configuration: Configuration;
}

/** The listeners of one agent process. */
export interface AgentHost {
  readonly ports: Readonly<Record<string, number>>;
  /** How callers name an agent, if not by its URL. */
  readonly addresses?: Readonly<Record<string, string>> | undefined;
  readonly configuration: Configuration;
  close(): Promise<void>;
  /** Listens again at the same ports. */
  reopen(): Promise<void>;
}

export interface PhaseTask {
  readonly phase: "warm-up" | "measure";
  readonly forMs: number;
  readonly requests: number;
  /** It lasts longer than `forMs`, until the command `endPhase`. */
  readonly untilTold?: boolean;
}

/** When a phase began and ended, on the clock of the run. */
export interface PhaseDone {
  readonly fromNs: number;
  readonly toNs: number;
}

/** The settings that every process of an arm must use alike; compared between arms. */
export function sharedConfiguration({ settings, seed }: Pick<RunTask, "settings" | "seed">): Configuration {
  const { connectTimeoutMs, messageTimeoutMs, retries, backoffMs, payloadBytes, model, agents } = settings;
  const { hosts = 1, budgetMs = null, attemptTimeoutMs = messageTimeoutMs } = settings;
  const { answerLimitMs = null, batch = null, perWorker = 1 } = settings;
  const limits = { connectTimeoutMs, messageTimeoutMs, attemptTimeoutMs, retries, backoffMs, budgetMs, answerLimitMs };
  return { ...limits, batch, perWorker, payloadBytes, model, agents, hosts, seeded: seed >= 0 };
}
