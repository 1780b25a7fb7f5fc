import { createInterface } from "node:readline/promises";
import { cancelFrom } from "../../src/public/protocols.js";
import {
  type Decision,
  type Features,
  featureRows,
  type Module,
  type RouterSettings,
  type Routing,
  route,
  type Scenario,
} from "../../src/router/index.js";
import { CliError, EXIT, usageError } from "./exit.js";
import { type Interrupt, listenForInterrupt } from "./interrupt.js";
import { createOutput, type Format, type Output } from "./output.js";
import { oneLine, printable } from "./printable.js";
import { readInput } from "./route-input.js";
import {
  capabilityJson,
  capabilityTable,
  decisionJson,
  decisionTable,
  explanations,
  type Learned,
  notSpoken,
} from "./route-print.js";
import { openSettings, type SettingOptions } from "./route-settings.js";
import { type SchemaDialect, scenarioSchema } from "./scenario-schema.js";

interface RouteOptions extends SettingOptions {
  readonly output: Format;
  readonly text?: string;
  readonly requires?: string;
  readonly explain?: boolean;
  readonly skipMalformed?: boolean;
  readonly schema?: SchemaDialect;
  readonly capabilities?: boolean;
  readonly learned?: string;
  readonly context?: string;
  readonly record?: "full" | "strict";
}

/** `koine route`. */
export async function runRoute(files: readonly string[], options: RouteOptions): Promise<void> {
  const output = createOutput(options.output);
  const rows = featureRows();
  if (options.schema !== undefined) return output.document(scenarioSchema(options.schema));
  const { settings, close } = await openSettings(options, rows, (problem) => output.say(printable(problem)));
  try {
    if (options.capabilities === true) return await printCapabilities(settings, output);
    const scenarios = await readInput(files, options, { rows, stdin: process.stdin, output });
    const routing = await decide(scenarios, settings, { output, piped: files.includes("-") });
    const learned = await readLearned(options, output);
    const explained = options.explain === true ? explanations(routing, settings, learned) : [];
    await print(routing.decisions, output, { explained, record: options.record });
    await sayNotSpoken(routing, output);
  } finally {
    await close();
  }
}

async function printCapabilities({ candidates = [] }: RouterSettings, output: Output): Promise<void> {
  if (output.format === "json") await output.document(capabilityJson(candidates));
  else await output.text(capabilityTable(candidates));
}

interface DecideContext {
  readonly output: Output;
  /** Scenarios were read from stdin, so answers cannot be. */
  readonly piped: boolean;
}

async function decide(scenarios: readonly Scenario[], settings: RouterSettings, context: DecideContext): Promise<Routing> {
  const interrupt = listenForInterrupt();
  try {
    const routing = await interrupt.race(route(scenarios, settings, cancelFrom(interrupt.signal)));
    if (settings.abstain?.kind !== "ask") return routing;
    const { decisions, judgements } = routing;
    const open = undecidedIn(routing, scenarios, settings);
    const answers = await answersOf(open, context, interrupt);
    const answered = decisions.map((decision) => answers.get(decision) ?? decision);
    sayUndecided(answered, context.output);
    return { decisions: answered, judgements };
  } catch (thrown) {
    if (interrupt.signal.aborted) throw new CliError(EXIT.interrupted, "interrupted: nothing was decided", { code: "cancelled" });
    throw thrown;
  } finally {
    interrupt.stop();
  }
}

/** Asks only at a terminal. */
async function answersOf(
  open: readonly Undecided[],
  { piped, output }: DecideContext,
  interrupt: Interrupt,
): ReturnType<typeof askPerson> {
  if (piped || process.stdin.isTTY !== true || output.stderr.isTTY !== true) return new Map();
  return interrupt.race(askPerson(open, { input: process.stdin, output: output.stderr }, interrupt.signal));
}

/** Decisions are in the order of scenarios and modules. */
function undecidedIn(
  { decisions, judgements }: Routing,
  scenarios: readonly Scenario[],
  settings: RouterSettings,
): readonly Undecided[] {
  let next = 0;
  return scenarios.flatMap((scenario) => {
    const questions = scenario.modules.flatMap((module) => {
      const decision = decisions[next];
      const feasible = judgements[next]?.feasible ?? [];
      next++;
      if (decision === undefined || decision.selected_protocol !== null) return [];
      return [{ name: decision.module_id, decisions: [decision], modules: [module], feasible }];
    });
    return settings.scope === "scenario" ? together(scenario.id, questions) : questions;
  });
}

/** One question for all modules, with the protocols feasible for all. */
function together(name: string, questions: readonly Undecided[]): readonly Undecided[] {
  const [first] = questions;
  if (first === undefined) return [];
  return [
    {
      name,
      decisions: questions.flatMap(({ decisions }) => decisions),
      modules: questions.flatMap(({ modules }) => modules),
      feasible: first.feasible.filter(({ id }) => questions.every(({ feasible }) => feasible.some((row) => row.id === id))),
    },
  ];
}

function sayUndecided(decisions: readonly Decision[], output: Output): void {
  const count = decisions.filter(({ selected_protocol: chosen }) => chosen === null).length;
  if (count === 0) return;
  const modules = count === 1 ? "1 module is" : `${count} modules are`;
  output.say(`${modules} undecided. --abstain default:<protocol> or --abstain model decides where the text does not.`);
}

interface Printed {
  readonly explained: readonly string[];
  readonly record: RouteOptions["record"];
}

async function print(decisions: readonly Decision[], output: Output, { explained, record = "full" }: Printed): Promise<void> {
  if (output.format === "json")
    return output.document({ decisions: decisions.map((decision) => decisionJson(decision, record)) });
  await output.text(decisionTable(decisions));
  for (const text of explained) await output.text(`\n${text}`);
}

/** How earlier calls went, by protocol id; undefined if it was not asked for. */
async function readLearned({ learned, context, explain }: RouteOptions, output: Output): Promise<Learned | undefined> {
  if (learned === undefined && context === undefined) return undefined;
  if (learned === undefined) throw usageError("--context is for --learned", "Give --learned with the place of earlier outcomes.");
  if (explain !== true) throw usageError("--learned is for --explain", "Give --explain, or leave it out.");
  if (context === undefined) throw usageError("--learned needs --context", "`koine send --learn` uses the agent's host.");
  const { openBandit } = await import("./learning.js");
  const { bandit, close } = await openBandit(learned, (problem) => output.say(printable(problem)));
  try {
    return { context, state: await bandit.state(context) };
  } finally {
    await close();
  }
}

async function sayNotSpoken(routing: Routing, output: Output): Promise<void> {
  const { protocols } = await import("../../src/public/protocols.js");
  const spoken = new Set(protocols.map(({ id }) => id));
  for (const name of notSpoken(routing, spoken))
    output.say(printable(`${name} cannot be run here: this Koine does not speak it. --candidates leaves it out.`));
}

/** Attempts per question: an invalid answer is asked again. */
const TRIES = 3;
const SHOWN_CHARACTERS = 400;

interface Terminal {
  readonly input: NodeJS.ReadableStream;
  /** For questions; data goes to stdout. */
  readonly output: NodeJS.WritableStream;
}

/** A module, or a whole scenario, that the text did not decide. */
export interface Undecided {
  readonly name: string;
  /** The decisions that the answer settles. */
  readonly decisions: readonly Decision[];
  readonly modules: readonly Module[];
  /** The protocols that satisfy every hard constraint. */
  readonly feasible: readonly Features[];
}

/** Asks about each, and returns the decisions with the choices. An empty answer leaves one undecided. */
export async function askPerson(
  undecided: readonly Undecided[],
  { input, output }: Terminal,
  signal: AbortSignal,
): Promise<ReadonlyMap<Decision, Decision>> {
  const answered = new Map<Decision, Decision>();
  const lines = createInterface({ input, terminal: false });
  const answers = lines[Symbol.asyncIterator]();
  const stop = (): void => lines.close();
  signal.addEventListener("abort", stop);
  try {
    for (const question of undecided) {
      if (question.feasible.length === 0) continue;
      output.write(questionText(question));
      const chosen = await chosenBy(answers, question.feasible, output);
      if (chosen === "closed") break;
      if (chosen !== undefined) for (const each of question.decisions) answered.set(each, withChoice(each, question, chosen));
    }
  } finally {
    signal.removeEventListener("abort", stop);
    lines.close();
  }
  return answered;
}

/** Undefined where the question is left open; `closed` if the input has ended. */
async function chosenBy(
  answers: AsyncIterator<string>,
  feasible: readonly Features[],
  output: NodeJS.WritableStream,
): Promise<Features | undefined | "closed"> {
  for (let tries = 0; tries < TRIES; tries++) {
    output.write(`1 to ${feasible.length}, or nothing to leave it open: `);
    const { value, done } = await answers.next();
    if (done === true) {
      output.write("\n");
      return "closed";
    }
    const answer = String(value).trim();
    const row = /^\d+$/.test(answer) ? feasible[Number(answer) - 1] : undefined;
    if (answer === "" || row !== undefined) return row;
  }
  return undefined;
}

function questionText({ name, modules, feasible }: Undecided): string {
  const passages = modules.flatMap((module) => module.passages.map(({ text }) => text)).join(" ");
  const choices = feasible.map((row, index) => `  ${index + 1}  ${row.name.padEnd(6)}  made for ${oneLine(row.madeFor, 90)}`);
  return [
    `\n${oneLine(name, 100)} is not decided by its text.`,
    ...(passages === "" ? [] : [`  ${oneLine(passages, SHOWN_CHARACTERS)}`]),
    ...choices,
    "",
  ].join("\n");
}

/** `abstained` stays: the text alone did not decide. */
function withChoice(decision: Decision, { feasible }: Undecided, { name }: Features): Decision {
  const known = decision.rejected.filter(({ protocol }) => protocol !== name);
  const others = feasible.filter((row) => row.name !== name && known.every(({ protocol }) => protocol !== row.name));
  const rejected = [...known, ...others.map((row) => ({ protocol: row.name, because: "a person was asked and chose another" }))];
  return { ...decision, selected_protocol: name, rejected };
}
