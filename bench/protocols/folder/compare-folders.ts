import { writeFileSync } from "node:fs";
import { basename } from "node:path";
import { compareResults, type ResultComparison } from "./compare.js";
import { WriteError } from "./events-file.js";
import { readResult } from "./folder.js";

/** Compares the results of two folders, and writes the comparison to a file: a page, or Markdown by its name. */
export async function compareFolders(before: string, after: string, report?: string): Promise<ResultComparison> {
  const results = [readResult(before), readResult(after)] as const;
  const comparison = compareResults(...results);
  if (report === undefined) return comparison;
  // Drawing is loaded where something is drawn.
  const { comparisonHtml, comparisonMarkdown } = await import("../report/index.js");
  const compared = { names: [basename(before), basename(after)], results, comparison } as const;
  const text = report.endsWith(".md") ? comparisonMarkdown(compared) : comparisonHtml(compared);
  try {
    writeFileSync(report, text);
  } catch (thrown) {
    throw new WriteError(`cannot write ${report}: ${thrown instanceof Error ? thrown.message : String(thrown)}`);
  }
  return comparison;
}
