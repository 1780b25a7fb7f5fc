import {
  CAPABILITIES,
  type DecidedBy,
  type Decision,
  type Judgement,
  PRIORITY,
  type RouterSettings,
  type Routing,
} from "../../src/router/index.js";
import { oneLine } from "./printable.js";
import { chosenIn } from "./route-print.js";

const NAME_CHARACTERS = 40;
const LINE_CHARACTERS = 1_000;

/** Less than this is no claim that a reader should be told of. */
const FAINT = 0.01;

const DECIDED_BY: { readonly [by in DecidedBy]: string } = {
  constraints: "the constraints, which leave no other",
  priority: "the strongest group of needs",
  narrative: "the phrase that stands first",
  ranking: "the ranking",
  order: "the order of last resort",
  nothing: "nothing in the text",
};

/** The explanation of each decision, from the judgement it was made from. */
export function explanations({ decisions, judgements }: Routing, settings: RouterSettings): readonly string[] {
  return decisions.flatMap((decision, index) => {
    const judgement = judgements[index];
    return judgement === undefined ? [] : [explanation(decision, judgement, settings)];
  });
}

/** Everything that speaks for and against, for one module. */
function explanation(decision: Decision, judgement: Judgement, settings: RouterSettings): string {
  const { module_id: module, margin, rationale, evidence_spans: spans, rejected, prompt_sha256: prompt } = decision;
  const width = Math.max(0, ...rejected.map(({ protocol }) => protocol.length));
  const by = settings.scope === "scenario" ? "what suits all modules" : DECIDED_BY[judgement.decidedBy];
  return [
    `${oneLine(module, NAME_CHARACTERS)}: ${chosenIn(decision)}, margin ${margin.toFixed(2)}`,
    `  ${oneLine(rationale, LINE_CHARACTERS)}`,
    ...section(
      "evidence",
      spans.map((span) => `“${oneLine(span, LINE_CHARACTERS)}”${capabilityOf(span, judgement)}`),
    ),
    ...section(
      "rejected",
      rejected.map(({ protocol, because }) => `${oneLine(protocol, width).padEnd(width)}  ${oneLine(because, LINE_CHARACTERS)}`),
    ),
    ...section("needs", tierLines(judgement, settings)),
    ...section("decided", prompt === undefined ? [`by ${by}`] : [`by a model, with the prompt ${oneLine(prompt, 80)}`]),
    "",
  ].join("\n");
}

/** What the span was taken for; nothing where it was found in another way, as by a model. */
function capabilityOf(span: string, { evidence }: Judgement): string {
  const readings = evidence.filter((each) => each.span.stance === "wanted" && each.quote() === span);
  const best = readings.reduce((high, each) => Math.max(high, each.share), 0);
  const id = readings.find(({ share }) => share === best)?.capability;
  const label = CAPABILITIES.find((capability) => capability.id === id)?.label;
  return label === undefined ? "" : `  ${label}`;
}

/** Group by group, whom the needs of it speak for, the strongest claim first. */
function tierLines({ claims }: Judgement, { priority = PRIORITY }: RouterSettings): readonly string[] {
  const width = Math.max(...priority.map((tier) => tier.length));
  return priority.map((tier) => {
    const strong = claims.filter((claim) => claim.tier === tier && claim.weight >= FAINT).sort((a, b) => b.weight - a.weight);
    const names = strong.map(({ candidate }) => candidate.name);
    return `${tier.padEnd(width)}  ${names.length === 0 ? "speak for nobody" : `speak for ${names.join(", ")}`}`;
  });
}

function section(title: string, lines: readonly string[]): readonly string[] {
  return lines.map((line, index) => `  ${(index === 0 ? title : "").padEnd(8)}  ${line}`);
}
