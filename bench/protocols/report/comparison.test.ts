import { describe, expect, it } from "vitest";
import { inventedResult } from "../../../test/helpers/bench-result.js";
import { compareResults } from "../folder/compare.js";
import { comparisonHtml, comparisonMarkdown } from "./comparison.js";

const before = inventedResult({ arms: [{ id: "alpha", addedUs: 300 }], runs: 5, requests: 12 });
const after = inventedResult({ arms: [{ id: "alpha", addedUs: 5_300 }], runs: 5, requests: 12 });

function compared(names: readonly [string, string] = ["old", "new"]) {
  return { names, results: [before, { ...after, status: "invalid" }], comparison: compareResults(before, after) } as const;
}

describe("a comparison of two results", () => {
  it("is a page with what changed, its conclusion, and the controls of both", () => {
    const html = comparisonHtml(compared());
    expect(html).toContain("<h1>echo: old and new</h1>");
    expect(html).toContain("<li>new is invalid</li>");
    expect(html).toMatch(/<tr><th scope="row">alpha<\/th><td>median overhead \(ms\)<\/td>.*<td>different<\/td><\/tr>/);
    expect(html).toMatch(/<svg [^>]*role="img"/);
    expect(html.match(/<caption>Controls<\/caption>/g)).toHaveLength(2);
    expect(html).not.toMatch(/<script|src=|https?:/);
  });

  it("has the same tables in Markdown, and never markup from a name", () => {
    const name = "<img src=x>|";
    const markdown = comparisonMarkdown(compared([name, "new"]));
    expect(markdown).toMatch(/\| alpha \| median overhead \(ms\) \|.*\| different \|/);
    expect(markdown).not.toMatch(/(?<!\\)<img/);
    expect(comparisonHtml(compared([name, "new"]))).not.toContain("<img");
  });
});
