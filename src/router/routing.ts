import type { Cancel, Maybe } from "../envelope/index.js";
import { defaultCandidates } from "../protocols/candidates.js";
import type { Features } from "../protocols/features.js";
import type { Decision } from "./decision.js";
import type { Unread } from "./evidence/substance.js";
import { type Judgement, judge, type ReadSpans, spansOf } from "./judge.js";
import { groundsFor, rationaleOf, rationaleTogether, rejectionsOf } from "./rationale.js";
import type { Module, Scenario } from "./scenario.js";
import { agreeOnOne, heldTogether } from "./scope.js";
import type { RouterSettings } from "./settings.js";

/** Decisions and the judgements they were made from, in the order of scenarios and modules. */
interface Decided {
  readonly decisions: readonly Decision[];
  readonly judgements: readonly Judgement[];
}

let byDefault: Maybe<readonly Features[]>;

/** The implementation of `route`. */
export async function decideAll(input: Scenario | readonly Scenario[], given: RouterSettings, cancel: Cancel): Promise<Decided> {
  // Created once: modules are compared by candidate identity.
  byDefault ??= defaultCandidates();
  const settings = { ...given, candidates: given.candidates ?? byDefault };
  const scenarios: readonly Scenario[] = "modules" in input ? [input] : input;
  const all = { decisions: [] as Decision[], judgements: [] as Judgement[] };
  for (const scenario of scenarios) {
    const judgements: Judgement[] = [];
    for (const module of scenario.modules)
      judgements.push(judge(scenario, module, settings, await readBySentence(scenario, module, settings)));
    if (cancel.cancelled) throw cancel.reason;
    const { scope } = settings;
    const made = await (scope === "scenario" ? decideTogether : decideEach)(judgements, settings, cancel);
    all.decisions.push(...made.decisions);
    all.judgements.push(...made.judgements);
  }
  return all;
}

/** The readings of the module's spans by sentence embeddings, if an embedder is configured. */
async function readBySentence(scenario: Scenario, module: Module, settings: RouterSettings): Promise<Maybe<ReadSpans>> {
  const { embedder, without } = settings;
  if (embedder === undefined || without?.includes("embeddings") === true) return undefined;
  const { readSpans } = await import("./embeddings/read-spans.js");
  const spans = spansOf(scenario, module, settings);
  return { spans, readings: await readSpans(spans, embedder) };
}

async function decideEach(judgements: readonly Judgement[], settings: RouterSettings, cancel: Cancel): Promise<Decided> {
  const decisions: Decision[] = [];
  for (const judgement of judgements) decisions.push(await settled(decided(judgement), judgement, settings, cancel));
  return { decisions, judgements };
}

function decided(judgement: Judgement): Decision {
  const { chosen, margin } = judgement;
  if (chosen === undefined) return undecided(judgement, whyUndecided(judgement));
  return made(judgement, chosen, margin);
}

function made(judgement: Judgement, chosen: Features, margin: number, explain = rationaleOf): Decision {
  const grounds = groundsFor(judgement, chosen);
  return {
    scenario_id: judgement.scenario.id,
    module_id: judgement.module.id,
    selected_protocol: chosen.name,
    evidence_spans: grounds.spans,
    rationale: explain(judgement, grounds),
    margin: inHundredths(margin),
    abstained: false,
    rejected: rejectionsOf(judgement, chosen),
  };
}

function undecided(judgement: Judgement, rationale: string): Decision {
  return {
    scenario_id: judgement.scenario.id,
    module_id: judgement.module.id,
    selected_protocol: null,
    evidence_spans: [],
    rationale,
    margin: 0,
    abstained: true,
    rejected: rejectionsOf(judgement, undefined),
  };
}

const NOTHING_DECIDES = "Nothing in the text decides.";

const UNREAD: { readonly [why in Unread]: string } = {
  language: "Nothing in the text decides; few of its words are English.",
  vague: "Nothing in the text decides; it names no need.",
};

function whyUndecided({ feasible, unread, module }: Judgement): string {
  if (feasible.length === 0) return "No candidate can carry all that is demanded.";
  if (module.passages.length === 0 && module.requires !== undefined)
    return "No requirement decides; others can carry what is demanded too.";
  return unread === undefined ? NOTHING_DECIDES : UNREAD[unread];
}

/** One protocol for all modules of a scenario. */
async function decideTogether(judgements: readonly Judgement[], settings: RouterSettings, cancel: Cancel): Promise<Decided> {
  const agreement = agreeOnOne(judgements, settings.ranking);
  const held = judgements.map((judgement) => heldTogether(judgement, judgements, agreement));
  const { chosen, margin, suited } = agreement;
  if (chosen !== undefined)
    return { decisions: held.map((judgement) => madeTogether(judgement, chosen, margin)), judgements: held };
  const why = suited.length === 0 ? "No candidate can carry all that the modules demand together." : NOTHING_DECIDES;
  const answers: Decision[] = [];
  for (const judgement of held) answers.push(await settled(undecided(judgement, why), judgement, settings, cancel));
  // A model is asked module by module and may name several; only one answer for all counts.
  const alike = new Set(answers.map(({ selected_protocol }) => selected_protocol)).size === 1;
  return { decisions: alike ? answers : held.map((judgement) => undecided(judgement, why)), judgements: held };
}

function madeTogether(judgement: Judgement, chosen: Features, margin: number): Decision {
  const { unfit } = judgement;
  const decision = made(judgement, chosen, margin, rationaleTogether);
  return {
    ...decision,
    rejected: decision.rejected.map(({ protocol, because }) => ({
      protocol,
      because: unfit.some(({ candidate }) => candidate.name === protocol) ? because : "suits the modules together less",
    })),
  };
}

/** Applies the abstain policy where the text does not decide. Hard constraints are never broken. */
async function settled(decision: Decision, judgement: Judgement, settings: RouterSettings, cancel: Cancel): Promise<Decision> {
  const { abstain, ranking } = settings;
  const { scenario, module, feasible } = judgement;
  if (!decision.abstained || abstain === undefined || abstain.kind === "ask" || feasible.length === 0) return decision;
  if (abstain.kind === "default") {
    const chosen = feasible.find(({ name, id }) => name === abstain.protocol || id === abstain.protocol);
    if (chosen === undefined) return decision;
    return {
      ...decision,
      selected_protocol: chosen.name,
      rationale: "Nothing in the text decides; the default stands.",
      rejected: rejectionsOf(judgement, chosen),
    };
  }
  const input = [...module.passages.map(({ text }) => text), scenario.description];
  const answer = await abstain.opinion.about({ scenario, module, input, feasible, ranking }, cancel);
  if (answer.kind === "none") {
    settings.onProblem?.(module.id, answer.because);
    return decision;
  }
  const { protocol, evidence_spans, rationale, prompt_sha256 } = answer.opinion;
  const chosen = feasible.find(({ name }) => name === protocol);
  if (chosen === undefined) return decision;
  return {
    ...decision,
    selected_protocol: protocol,
    evidence_spans,
    rationale,
    rejected: rejectionsOf(judgement, chosen),
    prompt_sha256,
  };
}

function inHundredths(margin: number): number {
  return Math.round(Math.min(1, Math.max(0, margin)) * 100) / 100;
}
