import { confineProblem, ROUTER_PART, type SuiteChoice, scenarios } from "../../bench/protocols/index.js";
import { protocols } from "../../src/public/protocols.js";
import { protocolsOf, type ScenarioOptions } from "./bench-plan.js";
import type { SafetyCommandOptions } from "./bench-safety.js";

/** One scenario of a suite, with the options that its own command would have; or the router alone, with the priors of another part. */
export type PlannedPart =
  | { readonly name: string; readonly scenario: typeof ROUTER_PART; readonly options: { readonly priorsOf: string } }
  | { readonly name: string; readonly scenario: "safety"; readonly options: SafetyCommandOptions }
  | { readonly name: string; readonly scenario: string; readonly options: ScenarioOptions };

type PartMaker = (choice: SuiteChoice) => PlannedPart;

const SMOKE_PROTOCOLS = 1;
/** Service times of scripted models, in milliseconds. */
const MODEL_MS = [20, 5, 80];

const PARTS: readonly PartMaker[] = [
  (choice) => scenarioPart("echo", scenarios.echo, choice, { smoke: { requests: 20, warmUp: 100 }, quick: { runs: 2 } }),
  (choice) =>
    scenarioPart("streaming-queue", scenarios.streamingQueue, choice, {
      common: { router: true },
      smoke: { requests: 40, warmUp: 100 },
      full: { workers: [4, 8, 16, 32] },
    }),
  (choice) =>
    scenarioPart("queue-models", scenarios.streamingQueue, fewer(choice), {
      common: { serviceMs: MODEL_MS },
      smoke: { requests: 20, warmUp: 100 },
      // The same scenario has its controls in the part before.
      quick: { runs: 1, requests: 100, controls: false },
    }),
  (choice) =>
    scenarioPart("docqa", scenarios.docqa, choice, {
      common: { router: true, levels: confineProblem() === undefined ? [1, 2, 3] : [1, 2] },
      smoke: { levels: [1], questions: 1, warmUp: 100 },
      // Two of each level would leave the interval of its control wider than the margin.
      quick: { runs: 2, questions: 4 },
      full: { drop: 1 },
    }),
  (choice) =>
    scenarioPart("fail-storm", scenarios.failStorm, fewer(choice), {
      common: { router: true },
      smoke: { warmUp: 200, measure: 3_000, downFor: 200, recovery: ["journal"] },
      quick: { runs: 2 },
    }),
  (choice) => safetyPart(withIdentities(choice)),
  () => routerPart("echo"),
];

/** How often the router is right, with what was measured as its priors. */
export function routerPart(priorsOf: string): PlannedPart {
  return { name: ROUTER_PART, scenario: ROUTER_PART, options: { priorsOf } };
}

/** What starts many processes is shown for one protocol in a smoke run. */
function fewer(choice: SuiteChoice): SuiteChoice {
  return choice.mode === "smoke"
    ? { ...choice, protocols: protocolsOf(choice.protocols ?? undefined).slice(0, SMOKE_PROTOCOLS) }
    : choice;
}

/** The same for safety, with one protocol between identities beside the first: only such are among the router's choices there. */
function withIdentities(choice: SuiteChoice): SuiteChoice {
  if (choice.mode !== "smoke") return choice;
  const all = protocolsOf(choice.protocols ?? undefined);
  const identified = all.slice(SMOKE_PROTOCOLS).filter((id) => protocols.find((each) => each.id === id)?.usesIdentity === true);
  return { ...choice, protocols: [...all.slice(0, SMOKE_PROTOCOLS), ...identified.slice(0, 1)] };
}

interface Sizes {
  readonly common?: Partial<ScenarioOptions>;
  readonly smoke?: Partial<ScenarioOptions>;
  readonly quick?: Partial<ScenarioOptions>;
  readonly full?: Partial<ScenarioOptions>;
}

/** Options as the scenario's own command has them without any flag. */
export function defaultOptions(scenario: { readonly answers: ScenarioOptions["answers"] }, choice: SuiteChoice): ScenarioOptions {
  return {
    output: "text",
    impl: ["koine"],
    features: ["envelope"],
    freeze: [],
    arrivals: "poisson",
    answers: scenario.answers,
    seed: choice.seed,
    ...(choice.protocols === null ? {} : { protocols: choice.protocols }),
    ...(choice.runs === null ? {} : { runs: choice.runs }),
  };
}

function scenarioPart(
  name: string,
  scenario: { readonly name: string; readonly answers: ScenarioOptions["answers"] },
  choice: SuiteChoice,
  { common, smoke, quick, full }: Sizes,
): PlannedPart {
  const sized = { smoke: { runs: 1, controls: false, ...smoke }, quick, full }[choice.mode];
  const mode = choice.mode === "full" ? {} : { quick: true };
  return { name, scenario: scenario.name, options: { ...mode, ...common, ...sized, ...defaultOptions(scenario, choice) } };
}

function safetyPart({ mode, protocols }: SuiteChoice): PlannedPart {
  const options: SafetyCommandOptions = {
    output: "text",
    deployments: mode === "smoke" ? ["recommended"] : ["minimal", "recommended"],
    router: true,
    ...(protocols === null ? {} : { protocols }),
    ...(mode === "full" ? {} : { quick: true }),
    ...(mode === "smoke" ? { probes: ["tls_downgrade", "session_hijack", "tampering"] } : {}),
  };
  return { name: "safety", scenario: "safety", options };
}

/** The parts of `koine bench all`, short ones first: what is wrong with the machine shows early. */
export function allParts(choice: SuiteChoice): readonly PlannedPart[] {
  return PARTS.map((make) => make(choice));
}
