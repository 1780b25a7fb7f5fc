import { existsSync, readFileSync } from "node:fs";
import type { Command } from "commander";
import {
  type BenchOptions,
  type BenchProgress,
  type BenchResult,
  hasOfficial,
  inputOf,
  type ModelSettings,
  officialPrograms,
  officialVersions,
  PROGRAMS,
  plannedMs,
  promptInput,
  readRecording,
  renderResult,
  runBench,
  type Scenario,
  scenarios,
  teamData,
} from "../../bench/protocols/index.js";
import { measureCapacity, needsCapacity } from "./bench-capacity.js";
import { docqaParts } from "./bench-docqa.js";
import { aboutFolder } from "./bench-folders.js";
import { entriesOf, isRing, planOf, protocolsOf, type ScenarioOptions, SEED, serviceOf, usesPrompts } from "./bench-plan.js";
import { routingOf } from "./bench-routing.js";
import { LIMITS } from "./bench-settings.js";
import { stormData, stormInputs } from "./bench-storm.js";
import { CliError, EXIT, usageError } from "./exit.js";
import { listenForInterrupt } from "./interrupt.js";
import { createOutput } from "./output.js";
import { printable } from "./printable.js";
import { formatElapsed, startProgress } from "./progress.js";

const FOLDER = "koine-bench";

/** The action of `koine bench <scenario>`. */
export function benchScenario(name: string) {
  return async (options: ScenarioOptions, command: Command): Promise<void> => {
    const output = createOutput(options.output);
    const folder = options.out ?? FOLDER;
    const interrupt = listenForInterrupt();
    const progress = startProgress({ stream: output.stderr });
    let result: BenchResult;
    try {
      result = await measureScenario(name, options, {
        folder,
        koine: command.parent?.parent?.version() ?? "",
        signal: interrupt.signal,
        say: (line) => output.say(line),
        onProgress: (now) => progress.show(now.current.arm, progressText(now)),
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

/** Where a scenario is measured, and who is told. */
export interface MeasureContext {
  readonly folder: string;
  readonly koine: string;
  readonly signal: AbortSignal;
  /** Takes a line about what will be measured. */
  say?(line: string): void;
  onProgress(progress: BenchProgress): void;
}

/** Measures one scenario, and returns the result that is in its folder. Throws a usage error for what cannot be measured. */
export async function measureScenario(
  name: string,
  options: ScenarioOptions,
  { folder, koine, signal, say, onProgress }: MeasureContext,
): Promise<BenchResult> {
  const scenario = Object.values(scenarios).find((each) => each.name === name);
  if (scenario === undefined) throw usageError(`there is no scenario ${name}`);
  const seed = options.seed ?? SEED;
  const planner = () => ({ settings: modelOf(options, scenario), signal });
  const docqa = scenario.dispatch === "named" ? await docqaParts(options, { seed, folder, planning: planner() }) : undefined;
  const entries = docqa?.entries ?? (scenario.dispatch === "queue" ? entriesOf(scenario, options) : undefined);
  const routing = options.router === true ? await routingOf(name, protocolsOf(options.protocols), options.ranking) : undefined;
  const plan = planOf(scenario, options, { entries, docqa, routing });
  const data = isRing(scenario) ? stormData(options, plan.settings.agents, plan.settings.seed) : undefined;
  const model = modelOf(options, scenario);
  const official = plan.arms.filter(({ implementation }) => implementation === "official");
  if (scenario.topology !== undefined && official.length > 0)
    throw usageError(`official implementations cannot be measured in ${name}: their agents do not call each other`);
  for (const arm of official) if (officialPrograms(arm) === undefined) throw missingOfficial(arm.protocol);
  if (official.length > 0)
    for (const id of protocolsOf(options.protocols)) if (!hasOfficial(id)) say?.(`${id} has no official implementation`);
  const planned = plannedMs(plan, model);
  if (planned !== undefined && options.resume !== true)
    say?.(`${plan.runs.length} runs, about ${formatElapsed(planned)} planned`);
  const bench: BenchOptions = {
    ...{ folder, plan, model, entries: entries?.source, data, files: PROGRAMS, koine, signal, onProgress },
    force: options.force === true,
    resume: options.resume === true,
    basePort: options.basePort,
    ...(docqa === undefined ? {} : { dataFor: teamData }),
    inputs: [
      ...(data === undefined ? [] : stormInputs(data, model.kind)),
      ...(model.kind === "recorded" ? [inputOf("recording", model.file)] : []),
      ...(docqa === undefined ? promptsOf(scenario, model.kind) : docqa.prompts).map(promptInput),
    ],
    versions: officialVersions(official),
    programsOf: officialPrograms,
  };
  return aboutFolder(async () => {
    // A folder that is gone on with has its loads in its plan.
    if (bench.resume === true || !needsCapacity(options.rate ?? [])) return runBench(bench);
    const capacityPerS = await measureCapacity(scenario, bench);
    return runBench({ ...bench, plan: planOf(scenario, options, { entries, docqa, routing, capacityPerS }) });
  });
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

/** How far a measurement is, in words. */
export function progressText({ done, runs, remainingMs }: BenchProgress): string {
  return `run ${done + 1} of ${runs}${remainingMs === undefined ? "" : `, about ${formatElapsed(remainingMs)} left`}`;
}

function promptsOf({ prompts }: Scenario, answers: ModelSettings["kind"]) {
  return prompts === undefined || !usesPrompts(answers) ? [] : [prompts.system, prompts.task];
}

function modelOf(options: ScenarioOptions, { prompts }: Scenario): ModelSettings {
  const { answers, recording, record, modelUrl, models, model = models?.[0], modelKeyEnv, modelRate } = options;
  if (models !== undefined && answers !== "live") throw usageError("--models names live models: it needs --answers live");
  if (answers === "null") return { kind: "null" };
  if (answers === "scripted") return { kind: "scripted", seed: options.seed ?? SEED, ...serviceOf(options) };
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
  if (modelUrl === undefined || model === undefined) throw usageError("--answers live needs --model-url and --model or --models");
  return {
    kind: "live",
    baseUrl: modelUrl,
    model,
    keyEnv: modelKeyEnv,
    requestsPerSecond: modelRate,
    timeoutMs: options.messageTimeout ?? LIMITS.messageTimeoutMs,
    record,
    system: prompts?.system,
  };
}

function missingOfficial(protocol: string): CliError {
  return usageError(
    `the official implementation of ${protocol} is not installed, or there is none`,
    "npm run peers in a checkout of the source installs them; leave the protocol out with --protocols otherwise.",
  );
}
