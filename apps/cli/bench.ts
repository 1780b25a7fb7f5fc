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
  promptInputs,
  type Routing,
  readRecording,
  renderResult,
  routerArm,
  runBench,
  type Scenario,
  type Settings,
  scenarios,
  scheduleFaults,
  teamData,
} from "../../bench/protocols/index.js";
import { protocols } from "../../src/public/protocols.js";
import { measureCapacity, needsCapacity, offeredLoads, type Rate } from "./bench-capacity.js";
import { type DocqaOptions, type DocqaParts, docqaParts } from "./bench-docqa.js";
import { type QueueEntries, queueEntries } from "./bench-entries.js";
import { aboutFolder } from "./bench-folders.js";
import { routingOf } from "./bench-routing.js";
import { CliError, EXIT, usageError } from "./exit.js";
import { listenForInterrupt } from "./interrupt.js";
import type { ModelOptions } from "./model.js";
import { createOutput, type Format } from "./output.js";
import { printable } from "./printable.js";
import { formatElapsed, startProgress } from "./progress.js";

interface ScenarioOptions extends ModelOptions, DocqaOptions {
  readonly output: Format;
  readonly protocols?: readonly string[];
  readonly router?: boolean;
  readonly ranking?: string;
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
  readonly data?: string;
  readonly payload?: number;
  readonly faults: readonly PlannedFault["kind"][];
  readonly faultEvery?: number;
  readonly downFor?: number;
  readonly out?: string;
  readonly force?: boolean;
  readonly resume?: boolean;
  readonly basePort?: number;
  readonly answers: ModelSettings["kind"];
  readonly serviceMs?: readonly number[];
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
    const docqa = scenario.dispatch === "named" ? docqaParts(options, options.seed ?? SEED) : undefined;
    const entries = docqa?.entries ?? (scenario.dispatch === "queue" ? entriesOf(scenario, options) : undefined);
    const routing = options.router === true ? await routingOf(name, protocolsOf(options.protocols), options.ranking) : undefined;
    const plan = planOf(scenario, options, { entries, docqa, routing });
    const model = modelOf(options);
    const official = plan.arms.filter(({ implementation }) => implementation === "official");
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
        files: PROGRAMS,
        koine: command.parent?.parent?.version() ?? "",
        signal: interrupt.signal,
        force: options.force === true,
        resume: options.resume === true,
        basePort: options.basePort,
        ...(docqa === undefined ? {} : { dataFor: teamData }),
        inputs: [
          ...(model.kind === "recorded" ? [inputOf("recording", model.file)] : []),
          ...(docqa === undefined ? [] : promptInputs()),
        ],
        versions: officialVersions(official),
        programsOf: officialPrograms,
        onProgress: (now) => progress.show(now.current.arm, progressText(now)),
      };
      result = await aboutFolder(async () => {
        // A folder that is gone on with has its loads in its plan.
        if (bench.resume === true || !needsCapacity(options.rate ?? [])) return runBench(bench);
        const capacityPerS = await measureCapacity(scenario, bench);
        return runBench({ ...bench, plan: planOf(scenario, options, { entries, docqa, routing, capacityPerS }) });
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
  readonly docqa?: DocqaParts | undefined;
  readonly routing?: Routing | undefined;
  /** Before it is measured, any number will do: the plan is made again afterwards. */
  readonly capacityPerS?: number;
}

function planOf(scenario: Scenario, options: ScenarioOptions, { entries, docqa, routing, capacityPerS = 1 }: PlanFacts): Plan {
  const sizes = options.quick === true ? scenario.quick : scenario.full;
  const [workers = scenario.agents, ...sizesToCompare] = options.workers ?? [];
  const agents = limited(
    options.workers === undefined ? "--agents" : "--workers",
    docqa?.agents ?? options.agents ?? workers,
    MAX_AGENTS,
  );
  const settings: Settings = {
    runs: options.runs ?? sizes.runs,
    warmUpMs: options.warmUp === undefined ? sizes.warmUpMs : options.warmUp * 1_000,
    measureMs: options.measure === undefined ? sizes.measureMs : options.measure * 1_000,
    requests: entries?.count ?? options.requests ?? sizes.requests,
    seed: options.seed ?? SEED,
    agents,
    dispatch: scenario.dispatch,
    ...(scenario.topology === undefined ? {} : { topology: scenario.topology }),
    ...(scenario.behaviour === undefined ? {} : { behaviour: scenario.behaviour }),
    ...(docqa === undefined ? {} : { budgetMs: docqa.budgetMs }),
    payloadBytes: entries === undefined ? limited("--payload", options.payload ?? PAYLOAD_BYTES, MAX_PAYLOAD) : 0,
    model: options.answers,
    ...LIMITS,
    // Nothing of this scenario could be held: it has neither a planner nor a topology to choose.
    freeze: [],
  };
  const changed = [options.runs, options.warmUp, options.measure, options.requests].some((value) => value !== undefined);
  const singles = planArms(
    { protocols: protocolsOf(options.protocols), implementations: options.impl, features: options.features, identitiesOf },
    scenario,
  );
  const arms = routing === undefined ? singles : [...singles, routerArm(scenario.name, routing)];
  const conditions = planConditions({
    // One request for each worker. More workers are measured with the same traffic.
    clients: options.clients ?? (scenario.dispatch === "queue" ? agents : 1),
    agents: sizesToCompare.map((each) => limited("--workers", each, MAX_AGENTS)),
    rates: offeredLoads(options.rate ?? [], capacityPerS),
    arrivals: options.arrivals,
    inFlight: IN_FLIGHT,
    serviceMs: options.answers === "scripted" ? (options.serviceMs?.slice(1) ?? []) : [],
    disturb: docqa?.disturb ?? [],
    faults: options.faults.map((kind) => ({ name: kind, planned: faultsOf(kind, settings, options) })),
  });
  const mode = options.quick === true ? "quick" : changed ? "custom" : "full";
  return makePlan({ scenario, mode, settings, arms, conditions, questions: docqa?.questions, routing });
}

function entriesOf({ quick, full }: Scenario, options: ScenarioOptions): QueueEntries {
  const { data, requests, seed = SEED } = options;
  return queueEntries({ data, wanted: requests, fallback: (options.quick === true ? quick : full).requests, seed });
}

function limited(option: string, value: number, most: number): number {
  if (value >= 1 && value <= most) return value;
  throw usageError(`${option} takes a number from 1 to ${most}, not ${value}`);
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
  return found?.needsIdentity === true ? "always" : found?.usesIdentity === true ? "also" : "never";
}

function faultsOf(kind: PlannedFault["kind"], settings: Settings, { faultEvery, downFor }: ScenarioOptions): PlannedFault[] {
  const everyMs = faultEvery === undefined ? settings.measureMs / 4 : faultEvery * 1_000;
  const agents = Array.from({ length: settings.agents }, (_, index) => `agent-${index + 1}`);
  const isNetwork = kind === "delay" || kind === "loss" || kind === "partition";
  return scheduleFaults(
    {
      kind,
      targets: isNetwork ? agents.map(edgeTo) : agents,
      fraction: 0,
      everyMs,
      forMs: downFor === undefined ? everyMs / 2 : downFor * 1_000,
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
  if (answers === "scripted")
    return { kind: "scripted", seed: options.seed ?? SEED, meanMs: options.serviceMs?.[0] ?? SERVICE_MS };
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
