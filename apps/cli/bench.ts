import { existsSync, readFileSync } from "node:fs";
import type { Command } from "commander";
import {
  type BenchOptions,
  type BenchProgress,
  type BenchResult,
  edgeTo,
  type IdentityUse,
  inputOf,
  type ModelSettings,
  makePlan,
  officialPrograms,
  officialVersions,
  type Plan,
  type PlannedFault,
  PROGRAMS,
  planArms,
  planConditions,
  readRecording,
  renderResult,
  runBench,
  type Scenario,
  type Settings,
  scenarios,
  scheduleFaults,
} from "../../bench/protocols/index.js";
import { protocols } from "../../src/public/protocols.js";
import { measureCapacity, needsCapacity, offeredLoads, type Rate } from "./bench-capacity.js";
import { type QueueEntries, queueEntries } from "./bench-entries.js";
import { aboutFolder } from "./bench-folders.js";
import { type StormOptions, stormConditions, stormData, stormInputs, stormSettings } from "./bench-storm.js";
import { CliError, EXIT, usageError } from "./exit.js";
import { listenForInterrupt } from "./interrupt.js";
import type { ModelOptions } from "./model.js";
import { createOutput, type Format } from "./output.js";
import { printable } from "./printable.js";
import { formatElapsed, startProgress } from "./progress.js";

interface ScenarioOptions extends ModelOptions, StormOptions {
  readonly output: Format;
  readonly protocols?: readonly string[];
  readonly impl: Plan["arms"][number]["implementation"][];
  readonly features: Plan["arms"][number]["features"][];
  readonly quick?: boolean;
  readonly runs?: number;
  readonly warmUp?: number;
  readonly measure?: number;
  readonly requests?: number;
  readonly seed?: number;
  readonly clients?: number;
  readonly rate?: readonly Rate[];
  readonly arrivals: "poisson" | "constant";
  readonly agents?: number;
  readonly workers?: readonly number[];
  readonly payload?: number;
  readonly faults?: readonly PlannedFault["kind"][];
  readonly faultEvery?: number;
  readonly out?: string;
  readonly force?: boolean;
  readonly resume?: boolean;
  readonly basePort?: number;
  readonly answers: ModelSettings["kind"];
  readonly serviceMs?: number;
  readonly recording?: string;
  readonly record?: string;
  readonly modelRate?: number;
}

const FOLDER = "koine-bench";
const SEED = 1;
const PAYLOAD_BYTES = 256;
const SERVICE_MS = 20;
/** The paper's limits. */
const LIMITS = { connectTimeoutMs: 10_000, messageTimeoutMs: 30_000, retries: 3, backoffMs: 100 } as const;
const IN_FLIGHT = 256;
/** Questions that are under way in a ring at a time. */
const RING_CLIENTS = 4;
const DELAY_MS = 50;
const LOSS = 0.05;
const MAX_AGENTS = 256;
const MAX_PAYLOAD = 1024 * 1024;

/** The action of `koine bench <scenario>`. */
export function benchScenario(name: string) {
  return async (options: ScenarioOptions, command: Command): Promise<void> => {
    const scenario = Object.values(scenarios).find((each) => each.name === name);
    if (scenario === undefined) throw usageError(`there is no scenario ${name}`);
    const output = createOutput(options.output);
    const folder = options.out ?? FOLDER;
    const entries = scenario.dispatch === "queue" ? entriesOf(scenario, options) : undefined;
    const plan = planOf(scenario, options, { entries });
    const data = isRing(scenario) ? stormData(options, plan.settings.agents, plan.settings.seed) : undefined;
    const model = modelOf(options);
    const official = plan.arms.filter(({ implementation }) => implementation === "official");
    if (scenario.topology !== undefined && official.length > 0)
      throw usageError(`official implementations cannot be measured in ${name}: their agents do not call each other`);
    for (const arm of official) if (officialPrograms(arm) === undefined) throw missingOfficial(arm.protocol);
    const interrupt = listenForInterrupt();
    const progress = startProgress({ stream: output.stderr });
    let result: BenchResult;
    try {
      const bench: BenchOptions = {
        folder,
        plan,
        model,
        entries: entries?.source,
        data,
        files: PROGRAMS,
        koine: command.parent?.parent?.version() ?? "",
        signal: interrupt.signal,
        force: options.force === true,
        resume: options.resume === true,
        basePort: options.basePort,
        inputs: [
          ...(data === undefined ? [] : stormInputs(data, model.kind)),
          ...(model.kind === "recorded" ? [inputOf("recording", model.file)] : []),
        ],
        versions: officialVersions(official),
        programsOf: officialPrograms,
        onProgress: (now) => progress.show(now.current.arm, progressText(now)),
      };
      result = await aboutFolder(async () => {
        // A folder that is gone on with has its loads in its plan.
        if (bench.resume === true || !needsCapacity(options.rate ?? [])) return runBench(bench);
        const capacityPerS = await measureCapacity(scenario, bench);
        return runBench({ ...bench, plan: planOf(scenario, options, { entries, capacityPerS }) });
      });
    } finally {
      progress.stop();
      interrupt.stop();
    }
    if (output.format === "json") await output.document(result);
    else await output.text(renderResult(result));
    output.say(`kept in ${printable(folder)}; koine bench verify ${printable(folder)} computes it again`);
    judge(result, interrupt.signal.aborted, folder);
  };
}

function judge({ status, runs, marks }: BenchResult, interrupted: boolean, folder: string): void {
  if (interrupted)
    throw new CliError(EXIT.interrupted, `interrupted: what was measured is in ${printable(folder)}`, {
      code: "cancelled",
      hint: "Go on with --resume.",
    });
  if (status === "complete") return;
  const reason = runs.find((run) => run.status === "failed")?.reason ?? marks.at(-1) ?? "";
  throw new CliError(
    EXIT.failure,
    status === "partial" ? `not everything was measured: ${reason}` : `the result is invalid: ${reason}`,
  );
}

function progressText({ done, runs, remainingMs }: BenchProgress): string {
  return `run ${done + 1} of ${runs}${remainingMs === undefined ? "" : `, about ${formatElapsed(remainingMs)} left`}`;
}

interface PlanFacts {
  readonly entries: QueueEntries | undefined;
  /** Before it is measured, any number will do: the plan is made again afterwards. */
  readonly capacityPerS?: number;
}

function planOf(scenario: Scenario, options: ScenarioOptions, { entries, capacityPerS = 1 }: PlanFacts): Plan {
  const sizes = options.quick === true ? scenario.quick : scenario.full;
  const [workers = scenario.agents, ...sizesToCompare] = options.workers ?? [];
  const agents = limited(options.workers === undefined ? "--agents" : "--workers", options.agents ?? workers, MAX_AGENTS);
  const common: Settings = {
    runs: options.runs ?? sizes.runs,
    warmUpMs: options.warmUp ?? sizes.warmUpMs,
    measureMs: options.measure ?? sizes.measureMs,
    requests: entries?.count ?? options.requests ?? sizes.requests,
    seed: options.seed ?? SEED,
    agents,
    dispatch: scenario.dispatch,
    ...(scenario.topology === undefined ? {} : { topology: scenario.topology }),
    ...(scenario.behaviour === undefined ? {} : { behaviour: scenario.behaviour }),
    payloadBytes: entries === undefined ? limited("--payload", options.payload ?? PAYLOAD_BYTES, MAX_PAYLOAD) : 0,
    model: options.answers,
    ...LIMITS,
    // Nothing of this scenario could be held: it has neither a planner nor a topology to choose.
    freeze: [],
  };
  const settings = isRing(scenario) ? stormSettings(common) : common;
  const changed = [options.runs, options.warmUp, options.measure, options.requests].some((value) => value !== undefined);
  const arms = planArms(
    { protocols: protocolsOf(options.protocols), implementations: options.impl, features: options.features, identitiesOf },
    scenario,
  );
  const loads = planConditions({
    // One request for each worker. More workers are measured with the same traffic.
    clients: options.clients ?? (scenario.dispatch === "queue" ? agents : isRing(scenario) ? RING_CLIENTS : 1),
    agents: sizesToCompare.map((each) => limited("--workers", each, MAX_AGENTS)),
    rates: offeredLoads(options.rate ?? [], capacityPerS),
    arrivals: options.arrivals,
    inFlight: IN_FLIGHT,
    faults: (options.faults ?? []).map((kind) => ({ name: kind, planned: faultsOf(kind, settings, options) })),
  });
  const conditions = isRing(scenario) ? stormConditions(loads, options, settings) : loads;
  const mode = options.quick === true ? "quick" : changed ? "custom" : "full";
  return makePlan({ scenario, mode, settings, arms, conditions });
}

function isRing({ dispatch }: Scenario): boolean {
  return dispatch === "ring";
}

function entriesOf({ quick, full }: Scenario, options: ScenarioOptions): QueueEntries {
  const { data, requests, seed = SEED } = options;
  return queueEntries({ data, wanted: requests, fallback: (options.quick === true ? quick : full).requests, seed });
}

function limited(option: string, value: number, most: number): number {
  if (value < 1 || value > most) throw usageError(`${option} takes a number from 1 to ${most}, not ${value}`);
  return value;
}

function protocolsOf(wanted: readonly string[] | undefined): readonly string[] {
  const measured = protocols.map(({ id }) => id);
  const unknown = wanted?.find((id) => !measured.includes(id));
  if (unknown === undefined) return wanted ?? measured;
  throw usageError(`there is no protocol ${unknown}`, `Choose from ${measured.join(", ")}.`);
}

/** One that is spoken between identities has them; one that can do without is measured both ways. */
function identitiesOf(protocol: string): IdentityUse {
  const found = protocols.find(({ id }) => id === protocol);
  if (found?.needsIdentity === true) return "always";
  return found?.usesIdentity === true ? "also" : "never";
}

function faultsOf(kind: PlannedFault["kind"], settings: Settings, { faultEvery, downFor }: ScenarioOptions): PlannedFault[] {
  const everyMs = faultEvery ?? settings.measureMs / 4;
  const agents = Array.from({ length: settings.agents }, (_, index) => `agent-${index + 1}`);
  const isNetwork = kind === "delay" || kind === "loss" || kind === "partition";
  return scheduleFaults(
    {
      kind,
      targets: isNetwork ? agents.map(edgeTo) : agents,
      fraction: 0,
      everyMs,
      forMs: downFor ?? everyMs / 2,
      untilMs: settings.measureMs,
      ...(kind === "delay" ? { delayMs: DELAY_MS } : {}),
      ...(kind === "loss" ? { share: LOSS } : {}),
    },
    settings.seed,
  );
}

function modelOf(options: ScenarioOptions): ModelSettings {
  const { answers, recording, record, modelUrl, model, modelKeyEnv, modelRate } = options;
  if (answers === "null") return { kind: "null" };
  if (answers === "scripted") return { kind: "scripted", seed: options.seed ?? SEED, meanMs: options.serviceMs ?? SERVICE_MS };
  if (answers === "recorded") {
    if (recording === undefined) throw usageError("--answers recorded needs --recording <file>");
    if (!existsSync(recording)) throw usageError(`${recording} does not exist`, "--answers live --record <file> makes one.");
    try {
      readRecording(readFileSync(recording, "utf8"), recording);
    } catch (thrown) {
      throw usageError(thrown instanceof Error ? thrown.message : String(thrown));
    }
    return { kind: "recorded", file: recording };
  }
  if (modelUrl === undefined || model === undefined) throw usageError("--answers live needs --model-url and --model");
  return {
    kind: "live",
    baseUrl: modelUrl,
    model,
    keyEnv: modelKeyEnv,
    requestsPerSecond: modelRate,
    timeoutMs: LIMITS.messageTimeoutMs,
    record,
  };
}

function missingOfficial(protocol: string): CliError {
  return usageError(
    `the official implementation of ${protocol} is not installed, or there is none`,
    "npm run peers in a checkout of the source installs them; leave the protocol out with --protocols otherwise.",
  );
}
