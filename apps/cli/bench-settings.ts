import {
  type Condition,
  hostsProblem,
  LEAST_HOSTS,
  MOST_HOSTS,
  redisProblem,
  type Scenario,
  type Settings,
} from "../../bench/protocols/index.js";
import { usageError } from "./exit.js";

/** Options that change where and how a scenario runs. */
export interface SettingOptions {
  readonly hosts?: number;
  readonly freeze: Settings["freeze"];
  readonly queue?: NonNullable<Settings["queue"]>;
  /** An entry. */
  readonly killCoordinator?: number;
  /** Milliseconds; the option is in seconds. */
  readonly downFor?: number;
  readonly rate?: readonly unknown[];
  /** Entries. */
  readonly batch?: number;
  readonly perWorker?: number;
  /** Milliseconds; the options are in seconds. */
  readonly answerLimit?: number;
  readonly connectTimeout?: number;
  readonly messageTimeout?: number;
  readonly backoff?: number;
  readonly retries?: number;
  readonly impl: readonly string[];
  readonly answers: Settings["model"];
}

/** The paper's limits. */
export const LIMITS = { connectTimeoutMs: 10_000, messageTimeoutMs: 30_000, retries: 3, backoffMs: 100 } as const;

type Chosen = Pick<
  Settings,
  | "hosts"
  | "freeze"
  | "queue"
  | "batch"
  | "perWorker"
  | "answerLimitMs"
  | "connectTimeoutMs"
  | "messageTimeoutMs"
  | "retries"
  | "backoffMs"
>;

/** The settings that these options make. What would have no effect in a scenario is refused. */
export function chosenSettings(scenario: Scenario, options: SettingOptions): Chosen {
  const { connectTimeout, messageTimeout, retries, backoff, answerLimit, perWorker } = options;
  return {
    connectTimeoutMs: connectTimeout ?? LIMITS.connectTimeoutMs,
    messageTimeoutMs: messageTimeout ?? LIMITS.messageTimeoutMs,
    retries: retries ?? LIMITS.retries,
    backoffMs: backoff ?? LIMITS.backoffMs,
    freeze: freezeOf(scenario, options),
    ...hostsOf(options),
    ...queueOf(options),
    ...batchOf(options),
    ...(answerLimit === undefined ? {} : { answerLimitMs: answerLimit }),
    ...(perWorker === undefined ? {} : { perWorker }),
  };
}

function batchOf({ batch, queue, rate = [] }: SettingOptions): Pick<Settings, "batch"> {
  if (batch === undefined) return {};
  if (rate.length > 0) throw usageError("--batch: an offered load is not loaded in batches", "Leave --rate or --batch out.");
  if (queue === "redis") throw usageError("--batch needs the queue in memory", "Leave --queue redis out.");
  return { batch };
}

function queueOf({ queue, rate = [] }: SettingOptions): Pick<Settings, "queue"> {
  if (queue !== "redis") return {};
  if (rate.length > 0) throw usageError("--queue redis: an offered load needs the queue in memory", "Leave --rate out.");
  const problem = redisProblem();
  if (problem !== undefined) throw usageError(`--queue redis: ${problem}`);
  return { queue };
}

/** The condition in which the coordinator is killed; undefined: there is none. */
export function killedCoordinator(
  { queue, killCoordinator: killAt, downFor = 0 }: SettingOptions,
  entries: number,
): Condition["coordinator"] {
  if (killAt === undefined) return undefined;
  if (queue !== "redis")
    throw usageError("--kill-coordinator needs --queue redis", "A queue in memory is lost with its coordinator.");
  if (killAt >= entries) throw usageError(`--kill-coordinator ${killAt} is not before the last of ${entries} entries`);
  return { killAt, downForMs: downFor };
}

function freezeOf({ name, canFreeze = [] }: Scenario, { freeze }: SettingOptions): Settings["freeze"] {
  const wrong = freeze.find((each) => !canFreeze.includes(each));
  if (wrong === undefined) return freeze;
  const instead = canFreeze.length === 0 ? "It can hold nothing fixed." : `It can hold: ${canFreeze.join(", ")}.`;
  throw usageError(`--freeze ${wrong}: ${name} ${WITHOUT[wrong]}`, instead);
}

/** Why there is nothing to hold. */
const WITHOUT: Readonly<Record<Settings["freeze"][number], string>> = {
  topology: "always sends the same request to the same agent",
  planner: "has no planner",
};

function hostsOf({ hosts, impl, answers }: SettingOptions): Pick<Settings, "hosts"> {
  if (hosts === undefined || hosts === 1) return {};
  if (hosts < LEAST_HOSTS || hosts > MOST_HOSTS) throw usageError(`--hosts takes a number from 1 to ${MOST_HOSTS}, not ${hosts}`);
  if (impl.includes("official")) throw usageError("--hosts: official implementations are served on one host only");
  if (answers === "live")
    throw usageError(
      "--hosts: agents on other hosts cannot reach a model",
      "Record its answers first, then use --answers recorded.",
    );
  const problem = hostsProblem();
  if (problem !== undefined) throw usageError(`--hosts ${hosts}: ${problem}`, "Leave --hosts out to measure on one host.");
  return { hosts };
}
