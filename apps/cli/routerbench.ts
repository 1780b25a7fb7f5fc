import type { Command } from "commander";
import type { Bench, BenchInputs, BenchSettings, Mode, OpenTools, Report, Verification } from "../../bench/routerbench/index.js";
import { AgentError } from "../../src/index.js";
import type { Ablation } from "../../src/router/index.js";
import { CliError, EXIT, usageError } from "./exit.js";
import { type Interrupt, listenForInterrupt } from "./interrupt.js";
import { type ModelOptions, openModel } from "./model.js";
import { createOutput, type Format, type Output } from "./output.js";
import { printable } from "./printable.js";
import { startProgress } from "./progress.js";

interface RouterbenchOptions extends ModelOptions {
  readonly output: Format | "html";
  readonly mode: readonly Mode[];
  readonly ablate?: readonly Ablation[];
  readonly ranking?: string;
  readonly split?: NonNullable<BenchSettings["split"]>;
  readonly prompt?: string;
  readonly train?: string;
  readonly embeddings?: boolean;
  readonly wrong?: boolean;
  readonly out?: string;
  readonly force?: boolean;
  readonly stamp?: boolean;
  readonly verify?: string;
}

/** Loaded on demand. */
type Benchmark = typeof import("../../bench/routerbench/index.js");

/** Limit of reported exclusions; the report lists all. */
const MAX_REPORTED = 20;

export async function routerbench(files: readonly string[], options: RouterbenchOptions, command: Command): Promise<void> {
  const version = command.parent?.version() ?? "";
  const output = createOutput(options.output === "json" ? "json" : "text");
  const interrupt = listenForInterrupt();
  const progress = startProgress({ stream: output.stderr });
  const onProgress = (run: string, done: number, total: number): void => progress.show(run, `${done} of ${total}`);
  try {
    const benchmark = await import("../../bench/routerbench/index.js");
    const context = { benchmark, interrupt, output, version, onProgress, stopProgress: () => progress.stop() };
    if (options.verify === undefined) await measure(files, options, context);
    else await verify(options.verify, files, options, context);
  } catch (thrown) {
    if (interrupt.signal.aborted)
      throw new CliError(EXIT.interrupted, "interrupted: nothing was measured", { code: "cancelled" });
    throw asUsage(thrown);
  } finally {
    progress.stop();
    interrupt.stop();
  }
}

interface BenchContext {
  readonly benchmark: Benchmark;
  readonly interrupt: Interrupt;
  readonly output: Output;
  readonly version: string;
  readonly onProgress: (run: string, done: number, total: number) => void;
  /** Clears the progress line, before anything else is printed. */
  readonly stopProgress: () => void;
}

async function measure(files: readonly string[], options: RouterbenchOptions, context: BenchContext): Promise<void> {
  const { benchmark, output, stopProgress } = context;
  const settings = checkedSettings(options);
  if (options.out !== undefined) await benchmark.checkFolder(options.out, options.force === true);
  const { inputs, ranking } = await readFiles(files, options, benchmark);
  const complete = { ...settings, ranking: settings.modes.includes("spec+perf") ? ranking : [] };
  const { tools, close } = await open(complete, options, context, inputs.prompt);
  let bench: Bench;
  try {
    bench = await benchmark.runBench(inputs, complete, tools);
  } finally {
    await close();
  }
  stopProgress();
  const texts = benchmark.textsOf(bench);
  if (options.out !== undefined) {
    const facts = { koine: context.version, settings: complete, candidates: tools.engine.candidates, inputs };
    const stamped = options.stamp === true ? new Date().toISOString() : undefined;
    const manifest = benchmark.manifestOf(texts, { ...facts, stamped });
    await benchmark.writeFolder(options.out, texts, manifest, facts);
  }
  sayExclusions(bench.report, output);
  if (options.output === "html") await output.text(texts["report.html"]);
  else if (options.output === "json") await output.text(texts["metrics.json"]);
  else await output.text(benchmark.formatSections(benchmark.sectionsOf(bench.report, { wrong: options.wrong === true })));
  if (options.out !== undefined) output.say(`written to ${printable(options.out)}`);
  failIfNothing(bench.report);
}

/** All but the ranking, which is in a file. */
function checkedSettings(options: RouterbenchOptions): Omit<BenchSettings, "ranking"> {
  const { mode: modes, ablate = [], embeddings = false, model } = options;
  if (ablate.includes("embeddings") && !embeddings) throw usageError("--ablate embeddings needs --embeddings to be without");
  if (ablate.length > 0 && modes.every((mode) => mode === "model"))
    throw usageError("a model has no parts to take away", "Give --mode spec, or leave out --ablate.");
  if (options.ranking !== undefined && !modes.includes("spec+perf"))
    throw usageError("--ranking is for the mode spec+perf", "Give --mode spec+perf, or leave it out.");
  if (options.stamp === true && options.out === undefined) throw usageError("--stamp is for the manifest that --out leaves");
  const asked = modes.includes("model");
  if (asked && model === undefined)
    throw usageError("the mode `model` needs a model", "Give --model-url and --model, or leave out that mode.");
  for (const name of ["prompt", "temperature"] as const)
    if (options[name] !== undefined && !asked)
      throw usageError(`--${name} is for the mode \`model\``, "Give --mode model, or leave it out.");
  const { seed, temperature = 0, split = null } = options;
  if (seed !== undefined && !asked && split === null)
    throw usageError("--seed is for --split and the mode `model`: the router draws nothing", "Leave it out.");
  return { modes, ablate, embeddings, model: asked ? (model ?? null) : null, seed: seed ?? 0, temperature, split };
}

async function readFiles(
  files: readonly string[],
  { train, ranking, prompt }: RouterbenchOptions,
  benchmark: Benchmark,
): Promise<{ readonly inputs: BenchInputs; readonly ranking: readonly string[] }> {
  const paths = files.length > 0 ? files : await benchmark.ownCorpus();
  if (paths.length === 0) throw usageError("no scenarios are named, and the project's own are not there");
  const scenarios = await benchmark.readInputs(paths);
  const trainFile = train === undefined ? undefined : await benchmark.readInput(train);
  const rankingFile = ranking === undefined ? undefined : await benchmark.readInput(ranking);
  const promptFile = prompt === undefined ? undefined : await benchmark.readInput(prompt);
  return {
    inputs: { scenarios, train: trainFile, ranking: rankingFile, prompt: promptFile },
    ranking: rankingFile === undefined ? benchmark.DEFAULT_RANKING : await benchmark.rankingIn(rankingFile),
  };
}

/** What the settings need beyond the router: a model is asked only in its own mode. */
async function open(
  { modes, embeddings }: Pick<BenchSettings, "modes" | "embeddings">,
  options: ModelOptions,
  { benchmark, interrupt, onProgress }: BenchContext,
  prompt?: BenchInputs["prompt"],
): Promise<OpenTools> {
  const model = modes.includes("model") ? openModel(options) : undefined;
  const { tools, close } = await benchmark.openTools({ signal: interrupt.signal, embeddings, model, prompt, onProgress });
  return { tools, close: async () => void (await Promise.all([close(), model?.close()])) };
}

const NOT_WITH_VERIFY = [
  "ablate",
  "ranking",
  "train",
  "embeddings",
  "split",
  "seed",
  "temperature",
  "prompt",
  "out",
  "stamp",
  "force",
  "wrong",
] as const;

async function verify(
  folder: string,
  files: readonly string[],
  options: RouterbenchOptions,
  context: BenchContext,
): Promise<void> {
  const extra = NOT_WITH_VERIFY.find((name) => options[name] !== undefined);
  if (extra !== undefined)
    throw usageError(`--verify takes its settings from the manifest, so --${extra} cannot be given with it`);
  if (options.output === "html") throw usageError("--verify prints text or JSON only");
  const { benchmark, output, version, stopProgress } = context;
  let opened: OpenTools | undefined;
  let found: Verification;
  try {
    found = await benchmark.verifyFolder(folder, {
      paths: [...files, ...(await benchmark.ownCorpus())],
      koine: version,
      toolsFor: async ({ embeddings }) => {
        // The answers of a model are read from the decisions, so no model is called.
        opened = await open({ modes: [], embeddings }, {}, context);
        return opened.tools;
      },
    });
  } finally {
    await opened?.close();
  }
  stopProgress();
  const { differences, replayed } = found;
  if (output.format === "json") await output.document({ ...found, differences: differences.map((each) => ({ ...each })) });
  else await output.text(verdictOf(found, version));
  if (replayed) output.say("What the model said was taken from decisions.jsonl; a model may answer otherwise today.");
  const names = [...new Set(differences.map(({ file }) => file))];
  if (names.length > 0)
    throw new CliError(EXIT.failure, `${names.join(", ")}: not what the inputs give`, { code: "not_reproduced" });
}

function verdictOf({ differences, koine }: Verification, version: string): string {
  if (differences.length === 0) return "everything is what the inputs give\n";
  const lines = differences.map(({ file, because }) => `${file}: ${because}\n`);
  return `${lines.join("")}${koine === version ? "" : `it was made by koine ${koine}, and this is ${version}\n`}`;
}

function sayExclusions({ excluded, runs }: Report, output: Output): void {
  const all = [...excluded, ...runs.filter(({ without }) => without.length === 0).flatMap((run) => run.excluded)];
  for (const { file, scenario_id, because } of all.slice(0, MAX_REPORTED))
    output.say(printable(`left out: ${scenario_id ?? "a scenario without id"} of ${file}: ${because}`));
  if (all.length > MAX_REPORTED) output.say(`left out: ${all.length - MAX_REPORTED} more; the report lists them`);
}

function failIfNothing({ runs }: Report): void {
  const empty = runs.find(({ metrics }) => metrics.modules.of === 0);
  if (empty !== undefined)
    throw new CliError(EXIT.failure, `the run ${empty.name} could score nothing: ${empty.excluded[0]?.because ?? ""}`);
}

/** Errors about the command line; the hints of error codes are about calling an agent. */
const ABOUT_USAGE: ReadonlySet<string> = new Set([
  "not_found",
  "invalid_message",
  "decode",
  "too_large",
  "conflict",
  "unsupported",
]);

function asUsage(thrown: unknown): unknown {
  if (!(thrown instanceof AgentError) || !ABOUT_USAGE.has(thrown.code)) return thrown;
  return usageError(thrown.message, thrown.code === "conflict" ? "Name another folder, or give --force." : undefined);
}
