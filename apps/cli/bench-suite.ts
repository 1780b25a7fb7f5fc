import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Command } from "commander";
import {
  beginSuite,
  endSuite,
  FILES,
  ROUTER_PART,
  readSuite,
  type Suite,
  type SuiteChoice,
  type SuitePart,
  type SuiteStatus,
  statusOf,
  withPart,
  writeSuite,
  writeSuiteReport,
} from "../../bench/protocols/index.js";
import { measureScenario, progressText } from "./bench.js";
import { aboutFolder } from "./bench-folders.js";
import { paperParts, scaledParameters } from "./bench-paper-parts.js";
import { protocolsOf, SEED } from "./bench-plan.js";
import { measureAccuracy } from "./bench-router-accuracy.js";
import { measureSafety, type SafetyCommandOptions, targetText } from "./bench-safety.js";
import { allParts, type PlannedPart } from "./bench-suite-parts.js";
import { PAPER_PARAMETER_NAMES, PAPER_PARAMETERS } from "./commands/paper-parameters.js";
import { CliError, EXIT, usageError } from "./exit.js";
import { listenForInterrupt } from "./interrupt.js";
import { createOutput, type Format, type Output } from "./output.js";
import { printable } from "./printable.js";
import { formatElapsed, type ProgressLine, startProgress } from "./progress.js";

/** Options of every suite. */
interface SuiteOptions {
  readonly output: Format;
  readonly protocols?: readonly string[];
  readonly only?: readonly string[];
  readonly runs?: number;
  readonly seed?: number;
  readonly out?: string;
  readonly force?: boolean;
  readonly resume?: boolean;
}

interface AllOptions extends SuiteOptions {
  readonly smoke?: boolean;
  readonly quick?: boolean;
}

/** `koine bench all`. */
export function benchAll(options: AllOptions, command: Command): Promise<void> {
  const mode = options.smoke === true ? "smoke" : options.quick === true ? "quick" : "full";
  return runSuite(
    { ...commonChoice(options), suite: "all", mode, timeScale: 1, parameters: {}, scaled: [] },
    { options, command, folder: options.out ?? "koine-bench-all" },
  );
}

interface PaperOptions extends SuiteOptions {
  readonly timeScale: number;
  /** In the units of the flags. */
  readonly [parameter: string]: unknown;
}

/** `koine bench paper`. */
export function benchPaper(options: PaperOptions, command: Command): Promise<void> {
  const parameters = Object.fromEntries(
    PAPER_PARAMETER_NAMES.map((name) => {
      const given = options[name];
      return [name, typeof given === "number" ? given : PAPER_PARAMETERS[name].value];
    }),
  );
  const { timeScale } = options;
  return runSuite(
    { ...commonChoice(options), suite: "paper", mode: "full", timeScale, parameters, scaled: scaledParameters() },
    { options, command, folder: options.out ?? "koine-bench-paper" },
  );
}

function commonChoice({ protocols, only, runs, seed }: SuiteOptions): Pick<SuiteChoice, "protocols" | "parts" | "runs" | "seed"> {
  return {
    protocols: protocols === undefined ? null : [...protocolsOf(protocols)],
    parts: only === undefined ? null : [...only],
    runs: runs ?? null,
    seed: seed ?? SEED,
  };
}

interface SuiteContext {
  readonly options: SuiteOptions;
  readonly command: Command;
  readonly folder: string;
}

async function runSuite(wanted: SuiteChoice, { options, command, folder }: SuiteContext): Promise<void> {
  const output = createOutput(options.output);
  const koine = command.parent?.parent?.version() ?? "";
  const { suite: begun, parts } = await aboutFolder(async () => {
    // A folder that is gone on with has the choice that it was begun with.
    const known = options.resume === true ? readSuite(folder) : undefined;
    const choice = known?.choice ?? wanted;
    const planned = partsOf(choice);
    return {
      parts: planned,
      suite: known ?? beginSuite(folder, { koine, choice, parts: planned.map(named), force: options.force === true }),
    };
  });
  const interrupt = listenForInterrupt();
  const progress = startProgress({ stream: output.stderr });
  let suite: Suite = begun;
  try {
    for (const [index, part] of parts.entries()) {
      const known = suite.parts.find(({ name }) => name === part.name);
      if (interrupt.signal.aborted || known === undefined || known.status === "complete") continue;
      const place = `part ${index + 1} of ${parts.length}`;
      const say = (line: string): void => output.say(`${part.name}: ${line}`);
      const measured = await measurePart(part, known, { folder, koine, signal: interrupt.signal, progress, place, say });
      suite = withPart(suite, measured);
      writeSuite(folder, suite);
      output.say(sentenceOf(measured));
      writeSuiteReport(folder, suite);
    }
  } finally {
    progress.stop();
    interrupt.stop();
  }
  suite = endSuite(suite);
  writeSuite(folder, suite);
  writeSuiteReport(folder, suite);
  await print(suite, folder, output);
  judge(suite, { interrupted: interrupt.signal.aborted, folder });
}

/** The parts of a suite. Throws a usage error for a name that is none. */
function partsOf(choice: SuiteChoice): readonly PlannedPart[] {
  const all = choice.suite === "paper" ? paperParts(choice) : allParts(choice);
  const { parts } = choice;
  const unknown = parts?.find((name) => !all.some((each) => each.name === name));
  if (unknown !== undefined)
    throw usageError(`there is no part ${unknown}`, `Choose from ${all.map(({ name }) => name).join(", ")}.`);
  return parts === null ? all : all.filter(({ name }) => parts.includes(name));
}

function named({ name, scenario }: PlannedPart): Pick<SuitePart, "name" | "scenario"> {
  return { name, scenario };
}

interface PartContext {
  readonly folder: string;
  readonly koine: string;
  readonly signal: AbortSignal;
  readonly progress: ProgressLine;
  readonly place: string;
  /** Takes a line about what will be measured. */
  say(line: string): void;
}

/** Measures one part. What it cannot measure does not hide the others: it is the problem of this part. */
async function measurePart(part: PlannedPart, known: SuitePart, context: PartContext): Promise<SuitePart> {
  const began = performance.now();
  const seconds = (): number => known.seconds + (performance.now() - began) / 1_000;
  try {
    return { ...known, status: await statusIn(part, context), problem: null, seconds: seconds() };
  } catch (thrown) {
    if (context.signal.aborted) return { ...known, status: "partial", problem: null, seconds: seconds() };
    if (!(thrown instanceof CliError)) throw thrown;
    return { ...known, status: "partial", problem: thrown.message, seconds: seconds() };
  }
}

async function statusIn(
  part: PlannedPart,
  { folder: root, koine, signal, progress, place, say }: PartContext,
): Promise<SuiteStatus> {
  const folder = join(root, part.name);
  // A part with a manifest was begun by this suite; anything else in its folder is of one that `--force` gave up.
  const how =
    existsSync(join(folder, FILES.manifest)) && existsSync(join(folder, FILES.events)) ? { resume: true } : { force: true };
  const show = (state: string, text: string) => progress.show(`${part.name}: ${state}`, `${place}, ${text}`);
  const context = { folder, koine, signal };
  if (isRouter(part)) {
    const priorsOf = join(root, part.options.priorsOf);
    await measureAccuracy({ ...context, priorsOf, onProgress: (run, done, total) => show(run, `${done} of ${total}`) });
    return signal.aborted ? "partial" : "complete";
  }
  if (isSafety(part))
    return (
      await measureSafety({ ...part.options, ...how }, { ...context, onProgress: (now) => show(now.target, targetText(now)) })
    ).status;
  const onProgress = (now: Parameters<typeof progressText>[0]) => show(now.current.arm, progressText(now));
  return (await measureScenario(part.scenario, { ...part.options, ...how }, { ...context, say, onProgress })).status;
}

type SafetyPart = Extract<PlannedPart, { options: SafetyCommandOptions }>;
type RouterPart = Extract<PlannedPart, { options: { priorsOf: string } }>;
type ScenarioPart = Exclude<PlannedPart, SafetyPart | RouterPart>;

function isSafety(part: SafetyPart | ScenarioPart): part is SafetyPart {
  return part.scenario === "safety";
}

function isRouter(part: PlannedPart): part is RouterPart {
  return part.scenario === ROUTER_PART;
}

function sentenceOf({ name, status, seconds, problem }: SuitePart): string {
  const reason = problem === null ? "" : `: ${problem}`;
  return printable(`${name}: ${status ?? "not measured"}, ${formatElapsed(seconds * 1_000)}${reason}`);
}

async function print(suite: Suite, folder: string, output: Output): Promise<void> {
  const status = statusOf(suite);
  if (output.format === "json") await output.document({ status, folder, parts: suite.parts, choice: suite.choice });
  else await output.text(`status: ${status}\n${suite.parts.map((part) => `${sentenceOf(part)}\n`).join("")}`);
  const place = printable(folder);
  output.say(`tables in ${place}/${FILES.report} and ${FILES.tables}; koine bench verify ${place} computes them again`);
}

function judge(suite: Suite, { interrupted, folder }: { readonly interrupted: boolean; readonly folder: string }): void {
  if (interrupted)
    throw new CliError(EXIT.interrupted, `interrupted: what was measured is in ${printable(folder)}`, {
      code: "cancelled",
      hint: "Go on with --resume.",
    });
  const wrong = suite.parts.filter(({ status }) => status !== "complete");
  if (wrong.length === 0) return;
  const names = wrong.map(({ name, status }) => `${name} ${status === "invalid" ? "is invalid" : "was not measured whole"}`);
  throw new CliError(EXIT.failure, names.join(", "), {
    hint: `Its report says why: ${printable(join(folder, wrong[0]?.name ?? "", FILES.report))}`,
  });
}
