import { escaped, pageHtml, tableHtml } from "../harness/html.js";
import type { Report, RunReport } from "./report.js";
import type { CoveragePoint, ReliabilityBin } from "./selective.js";
import type { Section } from "./table.js";
import { sectionsOf, titleOf } from "./tables.js";

export function reportHtml(report: Report): string {
  const runs = new Map(report.runs.map((run) => [run.name, run]));
  const title = titleOf(report);
  const sections = sectionsOf(report, { wrong: true }).map((section) => sectionHtml(section, section.title === title));
  const charts = [...runs.values()].flatMap(chartsOf);
  const body = `<main>
<h1>${escaped(title)}</h1>
${charts.join("\n")}
${sections.join("\n")}
</main>`;
  return pageHtml({ title, style: STYLE, body });
}

const STYLE = `
:root { color-scheme: light dark; --line: #d0d4da; --soft: #f4f5f7; --ink: #1b1f24; --page: #fff; --mark: #0b62c4; }
@media (prefers-color-scheme: dark) {
  :root { --line: #3a4048; --soft: #22262c; --ink: #e6e8eb; --page: #16191d; --mark: #6cb1ff; }
}
body { margin: 0; background: var(--page); color: var(--ink); font: 16px/1.5 system-ui, sans-serif; }
main { max-width: 76rem; margin: 0 auto; padding: 1rem; }
h1, h2 { line-height: 1.2; margin: 2.5rem 0 1rem; }
figure { margin: 1.5rem 0; overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
caption { text-align: left; font-weight: 600; padding: 0 0 .4rem; }
th, td { border: 1px solid var(--line); padding: .3rem .6rem; text-align: left; vertical-align: top; }
thead th { background: var(--soft); }
figcaption { max-width: 60rem; font-size: .9rem; margin-top: .4rem; }
svg { max-width: 100%; height: auto; }
svg text { fill: currentColor; font-size: 11px; }
.axis { stroke: var(--line); }
.charts { display: flex; flex-wrap: wrap; gap: 2rem; }
.curve { fill: none; stroke: var(--mark); stroke-width: 2; }
.point { fill: var(--mark); }
`;

/** The first section belongs to the heading of the page. */
function sectionHtml({ title, tables }: Section, isFirst: boolean): string {
  const heading = isFirst ? "" : `<h2>${escaped(title)}</h2>\n`;
  return `<section>\n${heading}${tables.map(tableHtml).join("\n")}\n</section>`;
}

/** Before all tables, which have the same numbers as text. A run without margins has none. */
function chartsOf({ name, without, metrics: { selective } }: RunReport): readonly string[] {
  if (selective === null || without.length > 0) return [];
  return [
    `<section class="charts">\n${coverageHtml(selective.curve, name)}\n${reliabilityHtml(selective.reliability, name)}\n</section>`,
  ];
}

const WIDTH = 420;
const HEIGHT = 260;
const EDGE = 40;

type Point = readonly [x: number, y: number];

function coverageHtml(curve: readonly CoveragePoint[], run: string): string {
  const points = curve.flatMap(({ coverage, accuracy }): readonly Point[] =>
    coverage.value === null || accuracy.value === null ? [] : [[coverage.value, accuracy.value]],
  );
  return chartHtml(points, { across: "coverage", title: `${run}: accuracy over coverage, one point per margin.` });
}

function reliabilityHtml(bins: readonly ReliabilityBin[], run: string): string {
  const points = bins.flatMap(({ margin, accuracy }): readonly Point[] =>
    margin === null || accuracy.value === null ? [] : [[margin, accuracy.value]],
  );
  return chartHtml(points, { across: "margin", title: `${run}: reliability, accuracy by margin, one point per tenth.` });
}

function chartHtml(
  values: readonly Point[],
  { across: name, title }: { readonly across: string; readonly title: string },
): string {
  const points = values.map(([x, y]) => [across(x), down(y)] as const);
  const line = points.map(([x, y]) => `${x},${y}`).join(" ");
  const dots = points.map(([x, y]) => `<circle class="point" cx="${x}" cy="${y}" r="3"/>`).join("");
  const marks = [0, 0.5, 1].map(
    (value) =>
      `<text x="${across(value)}" y="${HEIGHT - EDGE + 16}" text-anchor="middle">${value}</text>` +
      `<text x="${EDGE - 8}" y="${Number(down(value)) + 4}" text-anchor="end">${value}</text>`,
  );
  return `<figure>
<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" width="${WIDTH}" role="img" aria-label="Accuracy over ${name}">
<line class="axis" x1="${across(0)}" y1="${down(0)}" x2="${across(1)}" y2="${down(0)}"/>
<line class="axis" x1="${across(0)}" y1="${down(0)}" x2="${across(0)}" y2="${down(1)}"/>
${marks.join("")}
<polyline class="curve" points="${line}"/>${dots}
<text x="${WIDTH / 2}" y="${HEIGHT - 6}" text-anchor="middle">${name}</text>
<text x="14" y="${HEIGHT / 2}" text-anchor="middle" transform="rotate(-90 14 ${HEIGHT / 2})">accuracy</text>
</svg>
<figcaption>${escaped(title)}</figcaption>
</figure>`;
}

function across(value: number): string {
  return (EDGE + value * (WIDTH - 2 * EDGE)).toFixed(1);
}

function down(value: number): string {
  return (HEIGHT - EDGE - value * (HEIGHT - 2 * EDGE)).toFixed(1);
}
