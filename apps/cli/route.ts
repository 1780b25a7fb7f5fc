import type { Json } from "../../src/index.js";
import { cancelFrom } from "../../src/public/protocols.js";
import {
  type Decision,
  featureRows,
  judge,
  type RouterSettings,
  route,
  SCENARIO_SCHEMA,
  type Scenario,
} from "../../src/router/index.js";
import { CliError, EXIT } from "./exit.js";
import { type Interrupt, listenForInterrupt } from "./interrupt.js";
import { createOutput, type Output } from "./output.js";
import { printable } from "./printable.js";
import { askPerson, type Undecided } from "./route-ask.js";
import { explanation } from "./route-explain.js";
import { readInput } from "./route-input.js";
import type { RouteOptions } from "./route-options.js";
import { capabilityJson, capabilityTable, decisionJson, decisionTable } from "./route-print.js";
import { openSettings } from "./route-settings.js";

/** Reads, routes, asks where it must, and prints. */
export async function runRoute(files: readonly string[], options: RouteOptions): Promise<void> {
  const output = createOutput(options.output);
  const rows = featureRows();
  if (options.schema === true) return output.document(SCENARIO_SCHEMA as unknown as Json); // a schema is plain data
  const { settings, close } = await openSettings(options, rows, (problem) => output.say(printable(problem)));
  try {
    if (options.capabilities === true) return await printCapabilities(settings, output);
    const scenarios = await readInput(files, options, { rows, stdin: process.stdin, output });
    const decisions = await decide(scenarios, settings, { output, piped: files.includes("-") });
    await print(decisions, output, () => (options.explain === true ? explain(decisions, scenarios, settings) : []));
  } finally {
    await close();
  }
}

async function printCapabilities({ candidates = [] }: RouterSettings, output: Output): Promise<void> {
  if (output.format === "json") await output.document(capabilityJson(candidates));
  else await output.text(capabilityTable(candidates));
}

interface Place {
  readonly output: Output;
  /** The scenarios came from stdin, so no answers can. */
  readonly piped: boolean;
}

async function decide(scenarios: readonly Scenario[], settings: RouterSettings, place: Place): Promise<readonly Decision[]> {
  const interrupt = listenForInterrupt();
  try {
    const { decisions } = await interrupt.race(route(scenarios, settings, cancelFrom(interrupt.signal)));
    if (settings.abstain?.kind !== "ask") return decisions;
    const open = undecidedIn(decisions, scenarios, settings);
    const answers = await answersOf(open, place, interrupt);
    const answered = decisions.map((decision) => answers.get(decision) ?? decision);
    sayUndecided(answered, place.output);
    return answered;
  } catch (thrown) {
    if (interrupt.signal.aborted) throw new CliError(EXIT.interrupted, "interrupted: nothing was decided", { code: "cancelled" });
    throw thrown;
  } finally {
    interrupt.stop();
  }
}

/** Where somebody sits who can be asked, they are. */
async function answersOf(
  open: readonly Undecided[],
  { piped, output }: Place,
  interrupt: Interrupt,
): ReturnType<typeof askPerson> {
  if (piped || process.stdin.isTTY !== true || output.stderr.isTTY !== true) return new Map();
  return interrupt.race(askPerson(open, { input: process.stdin, output: output.stderr }, interrupt.signal));
}

/** Decisions stand in the order of scenarios and modules. */
function undecidedIn(
  decisions: readonly Decision[],
  scenarios: readonly Scenario[],
  settings: RouterSettings,
): readonly Undecided[] {
  let next = 0;
  return scenarios.flatMap((scenario) => {
    const questions = scenario.modules.flatMap((module) => {
      const decision = decisions[next++];
      if (decision === undefined || decision.selected_protocol !== null) return [];
      const feasible = judge(scenario, module, settings).feasible;
      return [{ name: decision.module_id, decisions: [decision], modules: [module], feasible }];
    });
    return settings.scope === "scenario" ? together(scenario.id, questions) : questions;
  });
}

/** One question about all, with what suits all. */
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

async function print(decisions: readonly Decision[], output: Output, explained: () => readonly string[]): Promise<void> {
  if (output.format === "json") return output.document({ decisions: decisions.map(decisionJson) });
  await output.text(decisionTable(decisions));
  for (const text of explained()) await output.text(`\n${text}`);
}

/** Decisions stand in the order of scenarios and modules. */
function explain(decisions: readonly Decision[], scenarios: readonly Scenario[], settings: RouterSettings): readonly string[] {
  const judgements = scenarios.flatMap((scenario) => scenario.modules.map((module) => judge(scenario, module, settings)));
  return decisions.flatMap((decision, index) => {
    const judgement = judgements[index];
    return judgement === undefined ? [] : [explanation(decision, judgement, settings)];
  });
}
