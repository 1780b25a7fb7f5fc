import { describe, expect, it } from "vitest";
import { inventedEvents, inventedManifest, inventedResult } from "../../../test/helpers/bench-result.js";
import { summarise } from "../result/index.js";
import { reportHtml, reportMarkdown } from "./index.js";

/** Every interval of a result is thousands of resamples: what tests only read is made once. */
const small = inventedResult({ runs: 2, requests: 12 });
const quick = inventedResult({ mode: "quick", runs: 2, requests: 12 });
const ATTACK = `<img src=x onerror="window.hacked=1"><script>window.hacked=1</script>"'&|\`**x**`;

describe("reportHtml()", () => {
  const result = inventedResult();
  const html = reportHtml(result, inventedManifest(result));

  it("is one file: no script, no address outside", () => {
    expect(html).not.toMatch(/<script|<link|<img|@import|url\(|src=/);
    expect(html.match(/https?:\/\/[^\s"<]+/g) ?? []).toEqual([]);
    expect(html).toContain(`content="default-src 'none'; style-src 'unsafe-inline'"`);
  });
  it("is the same text every time", () => expect(reportHtml(result, inventedManifest(result))).toBe(html));
  it("shows controls and checks before any number", () => {
    const positions = [`id="controls"`, `id="in-short"`, `id="estimate-1"`, `id="manifest"`].map((text) => html.indexOf(text));
    expect(positions).not.toContain(-1);
    expect(positions).toEqual([...positions].sort((a, b) => a - b));
    expect(html.match(/✓ passed/g)).toHaveLength(5);
  });
  it("gives every chart a label and its numbers as a table", () => {
    const charts = html.match(/<svg (?!class="key" aria-hidden)[^>]*>/g) ?? [];
    expect(charts.length).toBeGreaterThanOrEqual(5);
    for (const chart of charts) expect(chart).toMatch(/role="img" aria-label="[^"]{20,}"/);
    for (const panel of html.split("<article").slice(1)) expect(panel).toMatch(/<table>/);
  });
  it("has every pair of arms, with a conclusion", () => {
    for (const pair of ["alpha − beta", "alpha − gamma", "alpha − delta", "beta − gamma", "beta − delta", "gamma − delta"])
      expect(html).toContain(`<th scope="row">${pair}</th>`);
  });
  it("draws loads with their knee, where there are several", () => {
    const arms = [
      { id: "alpha", addedUs: 300 },
      { id: "beta", addedUs: 900 },
    ];
    const loads = reportHtml(inventedResult({ arms, loads: [100, 300, 600], runs: 2, requests: 12 }));
    expect(loads).toContain(`id="load-curve"`);
    expect(loads).toContain("<td>knee</td>");
    expect(html).not.toContain(`id="load-curve"`);
  });
});

describe("marks that cannot be overlooked", () => {
  it("a quick run", () => {
    const html = reportHtml(quick);
    expect(html).toContain("Quick run: not a measurement");
    expect(html.indexOf(`role="alert"`)).toBeLessThan(html.indexOf("<nav"));
  });
  it("a partial result", () => {
    const events = inventedEvents({ runs: 2, requests: 12 });
    const html = reportHtml(summarise(events.slice(0, Math.floor(events.length * 0.6))));
    expect(html).toContain(`data-status="partial"`);
    expect(html).toContain("Partial result");
  });
  it("an invalid result", () => {
    const html = reportHtml({ ...small, status: "invalid", marks: ["the arms were not configured alike"] });
    expect(html).toContain("Do not use these numbers");
    expect(html).toContain("the arms were not configured alike");
  });
  it("nothing at all where there is nothing to say", () => expect(reportHtml(small)).not.toContain(`role="alert"`));
  it("a result without any valid run", () => {
    const html = reportHtml(summarise(inventedEvents({ runs: 2, requests: 12 }).slice(0, 1)));
    expect(html).toContain("No run is valid");
    expect(html).toContain("Partial result");
  });
});

describe("text from files", () => {
  const result = inventedResult({
    arms: [
      { id: ATTACK.slice(0, 190), addedUs: 100 },
      { id: "b", addedUs: 200 },
    ],
    runs: 2,
    requests: 12,
  });
  const poisoned = {
    ...result,
    marks: [ATTACK],
    runs: result.runs.map((run) => ({ ...run, reason: ATTACK, errors: { [ATTACK]: 1 } })),
  };

  it("is never markup in the page", () => {
    const html = reportHtml(poisoned, { ...inventedManifest(result), versions: { [ATTACK]: ATTACK } });
    expect(html).toContain("&lt;img src=x onerror=&quot;");
    expect(html).not.toMatch(/<img|<script/);
  });
  it("is never markup in Markdown", () => {
    const markdown = reportMarkdown(poisoned);
    expect(markdown).toContain("\\<img src=x");
    expect(markdown).not.toMatch(/(?<!\\)<(img|script)/);
    const rows = markdown.split("\n").filter((line) => line.startsWith("| b0-0-0 "));
    expect(rows).toHaveLength(1);
    expect(rows[0]?.match(/(?<!\\)\|/g)).toHaveLength(11);
  });
});

describe("reportMarkdown()", () => {
  it("has the tables of the page", () => {
    const markdown = reportMarkdown(quick, inventedManifest(quick));
    expect(markdown).toMatch(/^# echo: 4 protocols side by side\n\n> \*\*COMPLETE\*\*\n> - Quick run/);
    for (const heading of [
      "Can it be believed?",
      "Which differ: every pair",
      "Where the time goes",
      "What goes over the wire",
      "Manifest",
    ])
      expect(markdown).toContain(heading);
  });
});
