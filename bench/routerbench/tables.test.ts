import { describe, expect, it } from "vitest";
import { reportHtml } from "./html.js";
import { measure } from "./metrics.js";
import type { Outcome } from "./outcome.js";
import { type Report, reportJson } from "./report.js";
import { formatSections, formatTable } from "./table.js";
import { sectionsOf } from "./tables.js";

const HOSTILE = "<script>alert('x')</script>\u001b[31m\u202e\nnext";
const PROTOCOLS = ["A2A", "ACP", "ANP", "Agora"] as const;

const outcome = (module_id: string, label: string, chosen: string | null, margin: number): Outcome => ({
  file: "a.jsonl",
  scenario_id: module_id,
  level: 1,
  module_id,
  label,
  chosen,
  margin,
});

function reportWith(id: string): Report {
  const metrics = measure([outcome("one", "ACP", "ACP", 0.8), outcome(id, "ANP", "ACP", 0.1)], PROTOCOLS);
  const wrong = { file: "a.jsonl", scenario_id: id, module_id: id, label: "ANP", chosen: "ACP", margin: 0.1 };
  const run = { mode: "spec", metrics, excluded: [] } as const;
  return {
    schema: 1,
    settings: {
      modes: ["spec"],
      ablate: ["locks"],
      embeddings: false,
      ranking: [],
      model: null,
      seed: 0,
      temperature: 0,
      split: null,
    },
    inputs: [{ name: "a.jsonl", scenarios: 2, modules: 2 }],
    trainedOn: null,
    excluded: [{ file: "a.jsonl", scenario_id: id, because: "module x has no label" }],
    runs: [
      { ...run, name: "spec", without: [], wrong: [{ ...wrong, evidence_spans: [id], rationale: "" }] },
      { ...run, name: "spec without locks", without: ["locks"], wrong: [] },
    ],
    comparisons: [{ first: "spec", second: "model", pairs: 2, onlyFirst: 1, onlySecond: 0, p: 1 }],
    ablations: [{ mode: "spec", without: "locks", scenarios: -0.5, modules: 0.25, macroF1: null, changed: 1 }],
    baselines: [{ name: "majority", metrics }],
  };
}

describe("formatTable()", () => {
  it("aligns columns, numbers right and text left", () => {
    const table = {
      title: "T",
      head: ["name", "n", "word"],
      rows: [
        ["a", "5", "x"],
        ["longer", "15", "yy"],
      ],
      note: "N",
    };
    expect(formatTable(table)).toBe(
      ["T", "name     n  word", "----------------", "a        5  x", "longer  15  yy", "N"].join("\n"),
    );
  });

  it("keeps untrusted text on its line, without control characters", () => {
    const text = formatTable({ title: "T", head: ["name"], rows: [[HOSTILE]] });
    expect(text.split("\n")).toHaveLength(4);
    expect([...text].filter((character) => "\u001b\u202e".includes(character))).toEqual([]);
  });
});

describe("sectionsOf()", () => {
  const titles = (wrong: boolean): readonly string[] =>
    sectionsOf(reportWith("two"), { wrong }).flatMap(({ title, tables }) => [title, ...tables.map((table) => table.title)]);

  it("has every table, and the wrong modules where they are wanted", () => {
    const always = [
      "RouterBench: a",
      "Files",
      "Accuracy (with Wilson 95 % intervals)",
      "Modes compared, module by module",
      "What each part is worth (difference: without it, minus the full run)",
      "By level",
      "spec",
      "By protocol",
      "Confusion (row: right, column: chosen)",
      "Accuracy over coverage (answers with at least this margin)",
      "Reliability (answers by their margin)",
    ];
    const excluded = ["Excluded scenarios", "Left out whole"];
    expect(titles(false)).toEqual([...always, ...excluded]);
    expect(titles(true)).toEqual([...always, "Not answered right", ...excluded]);
  });

  it("writes a share with its counts and its interval, and a difference with its sign", () => {
    const text = formatSections(sectionsOf(reportWith("two"), { wrong: false }));
    // 1 of 2: 0.0945 to 0.9055 by statsmodels, proportion_confint(1, 2, method="wilson").
    expect(text).toMatch(/^spec +0\.500 \(1\/2\) \[0\.095, 0\.905\]/m);
    expect(text).toMatch(/^spec without locks +0\.500 \(1\/2\) +-0\.500 +0\.500 \(1\/2\) +\+0\.250 +0\.\d+ +– +1$/m);
    expect(text).toContain("leaving out one scenario at a time");
  });
});

describe("reportHtml()", () => {
  const page = reportHtml(reportWith(HOSTILE));

  it("escapes untrusted text", () => {
    expect(page).toContain("&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;");
    expect(["<script", "\u001b", "\u202e"].filter((piece) => page.includes(piece))).toEqual([]);
  });

  it("is titled after its files, and shows the charts before all tables", () => {
    const own = reportHtml(reportWith("two"));
    expect(own).toContain("<title>RouterBench: a</title>");
    expect(own).toContain("<h1>RouterBench: a</h1>");
    const beforeTables = own.slice(0, own.indexOf("<table>"));
    expect(beforeTables).toContain("spec: accuracy over coverage, one point per margin.");
    expect(beforeTables).toContain("spec: reliability, accuracy by margin, one point per tenth.");
  });

  it("needs nothing from elsewhere, and marks its tables", () => {
    expect(/(src|href)=|@import|url\(|https?:/.test(page)).toBe(false);
    expect(page).toContain("prefers-color-scheme: dark");
    const count = (tag: string): number => page.split(tag).length - 1;
    expect(count("<caption>")).toBe(count("<table>"));
    const rows = sectionsOf(reportWith("two"), { wrong: true }).flatMap(({ tables }) => tables.flatMap((table) => table.rows));
    expect(count('<th scope="row">')).toBe(rows.length);
    expect(count("<table>")).toBeGreaterThan(6);
  });
});

describe("reportJson()", () => {
  it("rounds to six decimals", () => {
    const { runs } = JSON.parse(reportJson(reportWith("two"))) as Report; // what was written
    expect(runs[0]?.metrics.modules.low).toBe(0.094531);
  });
});
