import type { ModelSettings } from "../models/settings.js";
import type { Arm, Load, Settings } from "../result/index.js";

/** What the processes of a run are told, and what they answer. Both sides are of this benchmark. */

/** The same for every process of a run. */
export interface RunTask {
  readonly run: string;
  readonly origin: bigint;
  readonly seed: number;
  readonly arm: Arm;
  readonly settings: Settings;
  /** How long a program of another implementation may take to load. */
  readonly startMs: number;
}

export interface AgentAddress {
  readonly name: string;
  /** Where callers reach it: the proxy in the path. */
  readonly publicUrl: string;
  /** Where it listens. 0: any free port. */
  readonly port: number;
}

export interface AgentTask extends RunTask {
  readonly agents: readonly AgentAddress[];
  readonly model: ModelSettings;
  /** The interpreter and the script of an implementation in another language. */
  readonly program?: Program | undefined;
}

export interface CallerTask extends RunTask {
  readonly targets: readonly { readonly agent: string; readonly url: string }[];
  readonly load: Load;
  readonly program?: Program | undefined;
}

/** A program of another implementation. */
export interface Program {
  readonly command: string;
  readonly args: readonly string[];
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
}

/** When a phase began and ended, on the clock of the run. */
export interface PhaseDone {
  readonly fromNs: number;
  readonly toNs: number;
}

/** The settings that every process of an arm must use alike; compared between arms. */
export function sharedConfiguration({ settings, seed }: Pick<RunTask, "settings" | "seed">): Configuration {
  const { connectTimeoutMs, messageTimeoutMs, retries, backoffMs, payloadBytes, model, agents } = settings;
  return { connectTimeoutMs, messageTimeoutMs, retries, backoffMs, payloadBytes, model, agents, seeded: seed >= 0 };
}
