import { existsSync, readFileSync } from "node:fs";
import type { Command } from "commander";
import {
  type BenchOptions,
  type BenchProgress,
  type BenchResult,
  chooseProtocols,
  inputOf,
  type ModelSettings,
  officialPrograms,
  officialVersions,
  PROGRAMS,
  promptInput,
  type Routing,
  readRecording,
  renderResult,
  runBench,
  type Scenario,
  scenarios,
  TEAM_PROMPTS,
  teamData,
} from "../../bench/protocols/index.js";
import { parseRanking } from "../../src/router/index.js";
import { measureCapacity, needsCapacity } from "./bench-capacity.js";
import { docqaParts } from "./bench-docqa.js";
import { aboutFolder } from "./bench-folders.js";
import { entriesOf, isRing, LIMITS, planOf, protocolsOf, type ScenarioOptions, SEED, usesPrompts } from "./bench-plan.js";
import { stormData, stormInputs } from "./bench-storm.js";
import { CliError, EXIT, usageError } from "./exit.js";
import { listenForInterrupt } from "./interrupt.js";
import { createOutput } from "./output.js";
import { printable } from "./printable.js";
import { formatElapsed, startProgress } from "./progress.js";

const FOLDER = "koine-bench";
const SERVICE_MS = 20;

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
    const data = isRing(scenario) ? stormData(options, plan.settings.agents, plan.settings.seed) : undefined;
    const model = modelOf(options, scenario);
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
        ...(docqa === undefined ? {} : { dataFor: teamData }),
        inputs: [
          ...(data === undefined ? [] : stormInputs(data, model.kind)),
          ...(model.kind === "recorded" ? [inputOf("recording", model.file)] : []),
          ...(docqa === undefined ? promptsOf(scenario, model.kind) : Object.values(TEAM_PROMPTS)).map(promptInput),
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

function promptsOf({ prompts }: Scenario, answers: ModelSettings["kind"]) {
  return prompts === undefined || !usesPrompts(answers) ? [] : [prompts.system, prompts.task];
}

function modelOf(options: ScenarioOptions, { prompts }: Scenario): ModelSettings {
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
    system: prompts?.system,
  };
}

function missingOfficial(protocol: string): CliError {
  return usageError(
    `the official implementation of ${protocol} is not installed, or there is none`,
    "npm run peers in a checkout of the source installs them; leave the protocol out with --protocols otherwise.",
  );
}

/** What the router chooses for a scenario, among the protocols that are measured. */
async function routingOf(scenario: string, measured: readonly string[], ranking: string | undefined): Promise<Routing> {
  try {
    const order = ranking === undefined ? undefined : await parseRanking(readFileSync(ranking, "utf8"));
    return await chooseProtocols(scenario, measured, order);
  } catch (thrown) {
    throw usageError(thrown instanceof Error ? thrown.message : String(thrown));
  }
}
