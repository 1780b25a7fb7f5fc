import {
  type ManifestInput,
  type Plan,
  planStorm,
  promptInput,
  readShards,
  type Settings,
  SHARD_PROMPTS,
  type ShardData,
  type ShardSource,
  type StormChoice,
  shardsInput,
} from "../../bench/protocols/index.js";
import { usageError } from "./exit.js";

/** The options of `koine bench fail-storm`. Times are milliseconds. */
export interface StormOptions {
  readonly kill?: readonly StormChoice["kind"][];
  readonly killEvery?: number;
  readonly killFraction?: number;
  readonly downFor?: number;
  readonly recovery?: StormChoice["recoveries"];
  readonly data?: string;
  readonly quick?: boolean;
  readonly heartbeat?: number;
  readonly deadAfter?: number;
  readonly cycleTimeout?: number;
}

/** Three of eight. */
const FRACTION = 0.375;
/** The paper's delay before a restart. */
const DOWN_MS = 2_000;
const GROUPS = 128;
/** Questions per second: steady traffic that leaves time for agents to start. With as many as the machine can answer, a start would be measured by its queue. */
export const RING_RATE = 20;
const HEARTBEAT_MS = 250;
const DEAD_AFTER_MS = 1_000;
/** A caller that waits longer for one agent asks the next: longer than a ring takes to find that one is silent. */
const ATTEMPT_SHARE = 4;
/** One storm in the middle of the window, so that there is something to compare with on both sides. */
const FIRST_SHARE = 0.5;

/** What a ring is given: its questions, and how its agents watch each other. Throws CliError for data that cannot be used. */
export function stormData({ data, heartbeat, deadAfter }: StormOptions, agents: number, seed: number): ShardData {
  const source: ShardSource =
    data === undefined ? { kind: "generated", groups: GROUPS, seed } : { kind: "file", path: data, seed };
  try {
    // Once before anything is started, so that a wrong line is reported at once.
    readShards(source, agents);
  } catch (thrown) {
    throw usageError(thrown instanceof Error ? thrown.message : String(thrown));
  }
  return { source, heartbeatMs: heartbeat ?? HEARTBEAT_MS, deadAfterMs: deadAfter ?? DEAD_AFTER_MS };
}

/** The questions, and the prompts if a model reads them. */
export function stormInputs({ source }: ShardData, answers: Settings["model"]): readonly ManifestInput[] {
  const prompts = Object.values(SHARD_PROMPTS).map(promptInput);
  return [shardsInput(source), ...(answers === "live" || answers === "recorded" ? prompts : [])];
}

/** An agent that is gone is skipped: every other one is tried before a question is given up. */
export function stormSettings(settings: Settings, { deadAfter = DEAD_AFTER_MS, cycleTimeout }: StormOptions): Settings {
  const retries = Math.max(settings.retries, settings.agents - 1);
  return { ...settings, retries, attemptTimeoutMs: cycleTimeout ?? ATTEMPT_SHARE * deadAfter, payloadBytes: 0 };
}

/** Each load under the storm. */
export function stormConditions(loads: Plan["conditions"], options: StormOptions, settings: Settings): Plan["conditions"] {
  const { kill = ["kill"], killEvery, killFraction = FRACTION, downFor = DOWN_MS } = options;
  const { recovery = options.quick === true ? ["journal"] : ["journal", "off"] } = options;
  const everyMs = killEvery ?? settings.measureMs * FIRST_SHARE;
  if (everyMs >= settings.measureMs)
    throw usageError(
      `--kill-every is ${everyMs / 1_000} s and the measured window ${settings.measureMs / 1_000} s: nothing would be killed`,
      "Make --measure longer or --kill-every shorter.",
    );
  if (settings.agents < 3) throw usageError("a ring has at least 3 agents");
  const common = {
    agents: settings.agents,
    fraction: killFraction,
    everyMs,
    forMs: downFor,
    untilMs: settings.measureMs,
  };
  return kill.flatMap((kind) => {
    // Only a killed process loses its state.
    const recoveries = kind === "kill" ? recovery : recovery.slice(0, 1);
    return planStorm(loads, { kind, ...common, recoveries }, settings.seed);
  });
}
