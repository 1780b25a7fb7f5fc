import { escaped, pageHtml, tableHtml } from "../../harness/html.js";
import { short, type Table } from "../../harness/table.js";
import { FILES, writeText } from "../folder/folder.js";
import { cell, tableMarkdown } from "../report/markdown.js";
import { originTable } from "../report/origin.js";
import { STYLE } from "../report/style.js";
import { ROUTER_PART, readParts, type SuiteResults } from "./read-parts.js";
import { type Suite, type SuitePart, statusOf } from "./suite.js";
import { type PaperTable, paperTables } from "./tables.js";

const TITLES = { all: "Every scenario over every protocol", paper: "The paper's experiments" } as const;

/** Computes the combined report from the results of the parts, and writes it. */
export function writeSuiteReport(folder: string, suite: Suite): void {
  const results = readParts(folder, suite);
  writeText(folder, FILES.report, suiteHtml(suite, results));
  writeText(folder, FILES.tables, suiteMarkdown(suite, results));
}

export function suiteMarkdown(suite: Suite, results: SuiteResults): string {
  const links = suite.parts
    .filter(isKept)
    .map(
      ({ name, scenario }) =>
        `- [${name}](${name}/${scenario === ROUTER_PART ? "tables.txt" : FILES.tables}), [page](${name}/${FILES.report})`,
    );
  const tables = paperTables(results, suite).flatMap((each) => [
    `## Table ${cell(each.number)}: ${cell(each.title)}`,
    each.table === undefined ? cell(missing(each)) : tableMarkdown(each.table),
  ]);
  const parts = [
    `# ${TITLES[suite.choice.suite]}`,
    ...marksOf(suite).map((mark) => `> ${cell(mark)}`),
    "## Can it be believed?",
    tableMarkdown(partTable(suite, results)),
    ...(links.length === 0 ? [] : ["## Results", links.join("\n")]),
    ...tables,
    "## Origin",
    tableMarkdown(suiteOrigin(suite)),
  ];
  return `${parts.join("\n\n")}\n`;
}

/** Whether there is a folder to look into. */
function isKept({ status, problem }: SuitePart): boolean {
  return status !== null && problem === null;
}

function suiteHtml(suite: Suite, results: SuiteResults): string {
  const tables = paperTables(results, suite);
  const title = TITLES[suite.choice.suite];
  const status = statusOf(suite);
  const marks = marksOf(suite).map((mark) => `<li>${escaped(mark)}</li>`);
  const body = `<a class="skip" href="#content">Skip to the results</a>
<header><h1>${escaped(title)}</h1>
${marks.length === 0 ? "" : `<div class="mark${status === "invalid" ? " bad" : ""}" role="alert" data-status="${status}"><strong>${status}</strong><ul>${marks.join("")}</ul></div>`}
<nav aria-label="Contents"><ul>${tables.map((each) => `<li><a href="#${idOf(each)}">Table ${escaped(each.number)}</a></li>`).join("")}</ul></nav>
</header>
<main id="content">
<section aria-labelledby="parts"><h2 id="parts">Can it be believed?</h2>
<p>Each part has a folder and a report of its own, with its controls before its numbers.</p>
${scrolling(partTable(suite, results))}
<ul>${suite.parts
    .filter(isKept)
    .map(({ name }) => `<li><a href="${name}/${FILES.report}">${escaped(name)}</a></li>`)
    .join("")}</ul></section>
${tables.map(tableSection).join("\n")}
<section aria-labelledby="origin"><h2 id="origin">Origin</h2>${scrolling(suiteOrigin(suite))}</section>
</main>
<footer><p>Every number is computed from the results of the parts; <code>koine bench verify</code> computes them again from their events.</p></footer>`;
  return pageHtml({ title, style: STYLE, body });
}

function tableSection(each: PaperTable): string {
  const content = each.table === undefined ? `<p>${escaped(missing(each))}</p>` : scrolling(each.table);
  return `<section aria-labelledby="${idOf(each)}"><h2 id="${idOf(each)}">Table ${escaped(each.number)}: ${escaped(each.title)}</h2>${content}</section>`;
}

function idOf({ number }: PaperTable): string {
  return `table-${number.replaceAll(/[^\w]+/g, "-")}`;
}

function missing({ parts }: PaperTable): string {
  return `Not measured: it needs ${parts.join(" or ")}.`;
}

function scrolling(table: Table): string {
  return `<div class="scroll" tabindex="0" role="group" aria-label="${escaped(table.title)}">${tableHtml(table)}</div>`;
}

const MODE_MARKS: Readonly<Record<Suite["choice"]["mode"], readonly string[]>> = {
  smoke: ["Smoke: shows that everything runs. Its numbers are no measurement."],
  quick: ["Quick: few short runs, not a measurement."],
  full: [],
};

/** What a reader must know before any number. */
function marksOf({ choice, parts }: Suite): readonly string[] {
  return [
    ...MODE_MARKS[choice.mode],
    ...(choice.timeScale === 1
      ? []
      : [`Times are divided by ${choice.timeScale}, and rates multiplied: ${choice.scaled.join(", ")}.`]),
    ...parts.flatMap(({ name, status, problem }) =>
      status === "complete" ? [] : [`${name}: ${status ?? "not measured"}${problem === null ? "" : `: ${problem}`}`],
    ),
  ];
}

/** The parts with their checks and controls. */
function partTable({ parts }: Suite, { benches, safety }: SuiteResults): Table {
  return {
    title: "Parts",
    head: [
      "part",
      "status",
      "A/A",
      "dose or open control",
      "wire or hardened control",
      "alike or legitimate",
      "same work",
      "minutes",
    ],
    rows: parts.map(({ name, scenario, status, seconds }) => {
      const bench = benches.get(name);
      const judged =
        bench === undefined
          ? scenario === "safety" && safety !== undefined
            ? ["–", safety.checks.open.passed, safety.checks.hardened.passed, safety.checks.legitimate.passed, "–"]
            : ["–", "–", "–", "–", "–"]
          : [
              controlsPassed(bench.controls, "same"),
              controlsPassed(bench.controls, "dose"),
              bench.checks.witness.passed,
              bench.checks.fairness.passed,
              bench.checks.replay.passed,
            ];
      return [name, status ?? "not measured", ...judged.map(mark), short(seconds / 60)];
    }),
    note:
      "A/A: a second copy of the first arm comes out equal. Dose: one with a known delay is found. Of safety: the open control fails every probe, the hardened one passes, " +
      "legitimate requests are answered.",
  };
}

function controlsPassed(controls: readonly { readonly kind: string; readonly passed: boolean }[], kind: string): boolean | "–" {
  const own = controls.filter((each) => each.kind === kind);
  return own.length === 0 ? "–" : own.every(({ passed }) => passed);
}

function mark(value: boolean | string): string {
  return typeof value === "string" ? value : value ? "✓" : "✗";
}

function suiteOrigin(suite: Suite): Table {
  const { loadBefore, loadAfter, choice } = suite;
  const { parameters, timeScale, scaled } = choice;
  return originTable(suite, [
    ["load before, after", `${loadBefore.toFixed(2)}, ${loadAfter === null ? "–" : loadAfter.toFixed(2)}`],
    ["protocols", choice.protocols?.join(", ") ?? "all"],
    ["seed", String(choice.seed)],
    ["time scale", String(timeScale)],
    ...Object.entries(parameters).map(([name, value]) => [
      name,
      `${value}${timeScale !== 1 && scaled.includes(name) ? ` (scaled by ${timeScale})` : ""}`,
    ]),
  ]);
}
