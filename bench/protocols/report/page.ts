import { escaped, pageHtml, tableHtml } from "../../harness/html.js";
import type { BenchResult, Check, Control, Manifest } from "../result/index.js";
import type { Legend } from "./breakdown-charts.js";
import type { Chart, Panel } from "./panel.js";
import { appendixOf, estimateSentence, pairSentence, type ReportSection, sectionsOf } from "./sections.js";
import { STYLE } from "./style.js";
import { controlTable } from "./tables.js";
import { conditionViews } from "./view.js";

export function reportHtml(result: BenchResult, manifest?: Manifest): string {
  const sections = sectionsOf(result);
  const appendix = appendixOf(result, manifest);
  const title = titleOf(result);
  const body = `<a class="skip" href="#content">Skip to the results</a>
<header>
<h1>${escaped(title)}</h1>
<p class="lead">${escaped(leadOf(result, manifest))}</p>
${marksHtml(result)}
<nav aria-label="Contents"><ul>${[BELIEF, ...sections, ...appendix].map(linkHtml).join("")}</ul></nav>
</header>
<main id="content">
${beliefHtml(result)}
${shortHtml(result)}
${sections.map(sectionHtml).join("\n")}
<section aria-labelledby="appendix"><h2 id="appendix">Runs and origin</h2>
${appendix.map(panelHtml).join("\n")}
</section>
</main>
<footer><p>Every number is computed from the raw events beside this file; <code>koine bench verify</code> computes them again.</p></footer>`;
  return pageHtml({ title, style: STYLE, body });
}

const BELIEF = { id: "controls", title: "Can it be believed?" } as const;

export function titleOf({ plan }: BenchResult): string {
  const protocols = new Set(plan.arms.filter(({ control }) => control === undefined).map(({ protocol }) => protocol));
  return `${plan.scenario}: ${protocols.size} ${protocols.size === 1 ? "protocol" : "protocols"} side by side`;
}

function leadOf({ plan, runs }: BenchResult, manifest: Manifest | undefined): string {
  const { settings, conditions } = plan;
  const where = manifest === undefined ? "" : `, ${manifest.machine.cpu}, ${manifest.startedAt.slice(0, 10)}`;
  const requests = runs.reduce((sum, run) => sum + run.requests.sent, 0).toLocaleString("en-US");
  return (
    `${settings.runs} runs of each arm, ${conditions.length} ${conditions.length === 1 ? "condition" : "conditions"}, ` +
    `${requests} measured requests, model ${settings.model}, seed ${settings.seed}${where}.`
  );
}

const STATUS_TITLES = {
  complete: undefined,
  partial: "Partial result: some runs are missing or failed",
  invalid: "Invalid result: a check failed. Do not use these numbers",
} as const satisfies Record<BenchResult["status"], string | undefined>;

/** What a reader must know before any number. It cannot be overlooked: it comes first, in the colour of a warning, as an alert. */
function marksHtml({ status, marks, plan }: BenchResult): string {
  const title = STATUS_TITLES[status] ?? (plan.mode === "quick" ? "Quick run: not a measurement" : undefined);
  if (title === undefined && marks.length === 0) return "";
  const list = marks.map((mark) => `<li>${escaped(mark)}</li>`).join("");
  return `<div class="mark${status === "invalid" ? " bad" : ""}" role="alert" data-status="${status}"><strong>${escaped(title ?? "Note")}</strong>${list === "" ? "" : `<ul>${list}</ul>`}</div>`;
}

function linkHtml({ id, title }: { readonly id: string; readonly title: string }): string {
  return `<li><a href="#${id}">${escaped(title)}</a></li>`;
}

const CHECK_TITLES: Readonly<Record<keyof BenchResult["checks"], string>> = {
  witness: "Everything went over the wire",
  fairness: "All arms were configured alike",
  replay: "All arms did the same work",
};
const CONTROL_TITLES: Readonly<Record<Control["kind"], string>> = {
  same: "A/A: a copy comes out equal",
  dose: "Dose: an added delay is detected",
};

function beliefHtml(result: BenchResult): string {
  const cards = [
    ...result.controls.map((control) => checkHtml(CONTROL_TITLES[control.kind], control)),
    ...Object.entries(result.checks).map(([name, check]) => checkHtml(CHECK_TITLES[name as keyof typeof CHECK_TITLES], check)), // its own keys
  ];
  const none = result.controls.length === 0 ? `<p class="mark bad" role="alert">There is no control in this result.</p>` : "";
  return `<section aria-labelledby="${BELIEF.id}"><h2 id="${BELIEF.id}">${escaped(BELIEF.title)}</h2>
<p>Before any number: does the benchmark find no difference where there is none, does it find one that was put in, and was everything really measured?</p>
${none}<ul class="checks">${cards.join("")}</ul>
${numbersHtml({ id: "controls-table", title: "Controls", table: controlTable(result) })}
</section>`;
}

function checkHtml(title: string, { passed, statement }: Check): string {
  const result = passed ? "✓ passed" : "✗ failed";
  return `<li class="check${passed ? "" : " failed"}"><b><span>${escaped(title)}</span><span class="result">${result}</span></b>${escaped(statement)}</li>`;
}

function shortHtml(result: BenchResult): string {
  const [first] = conditionViews(result);
  if (first === undefined) return "";
  const pairs = first.comparisons.filter(({ metric }) => metric === first.primary);
  const sentences = [estimateSentence(first), ...(pairs.length === 0 ? [] : [pairSentence(pairs)])];
  return `<section aria-labelledby="in-short"><h2 id="in-short">In short</h2>
<div class="short">${sentences.map((sentence) => `<p>${escaped(sentence)}</p>`).join("")}</div></section>`;
}

function sectionHtml({ id, title, panels, folded }: ReportSection): string {
  const content = panels.map(panelHtml).join("\n");
  const shown = folded
    ? `<details class="folded"><summary>Charts and numbers of this condition</summary>${content}</details>`
    : content;
  return `<section aria-labelledby="${id}"><h2 id="${id}">${escaped(title)}</h2>\n${shown}\n</section>`;
}

function panelHtml(panel: Panel): string {
  const { id, title, sentence, chart } = panel;
  return `<article class="panel" aria-labelledby="${id}"><h3 id="${id}">${escaped(title)}</h3>
<p>${escaped(sentence)}</p>
${chart === undefined ? "" : chartHtml(chart, title)}${numbersHtml(panel)}
</article>`;
}

function chartHtml({ svg, legend }: Chart, title: string): string {
  const items = legend.map((each) => `<li>${keyHtml(each)}${escaped(each.name)}</li>`).join("");
  const list = items === "" ? "" : `<ul class="legend" aria-label="Legend">${items}</ul>`;
  return `<div class="picture" role="group" aria-label="${escaped(title)}, chart" tabindex="0">${svg()}</div>\n${list}\n`;
}

/** A square of the colour, or a piece of the curve. */
function keyHtml({ colour, dash }: Legend): string {
  if (dash === undefined) return `<i style="background:${colour}"></i>`;
  const line = `<line x1="0" y1="4" x2="30" y2="4" stroke="${colour}" stroke-width="3" stroke-dasharray="${dash}"/>`;
  return `<svg class="key" aria-hidden="true" viewBox="0 0 30 8" width="30" height="8">${line}</svg>`;
}

/** The numbers as a table, one key press away. A region that scrolls can be focused. */
function numbersHtml({ id, title, table }: Pick<Panel, "id" | "title" | "table">): string {
  const label = `${escaped(title)}, numbers`;
  return `<details class="numbers" id="${id}-numbers"><summary>Numbers: ${escaped(title)}</summary>
<div class="scroll" tabindex="0" role="group" aria-label="${label}">${tableHtml(table)}</div></details>`;
}
