import type { Table } from "../../harness/table.js";
import type { BenchResult, Manifest } from "../result/index.js";
import { titleOf } from "./page.js";
import { appendixOf, sectionsOf } from "./sections.js";
import { controlTable } from "./tables.js";

/** The tables of the report as Markdown. */
export function reportMarkdown(result: BenchResult, manifest?: Manifest): string {
  const { status, marks, checks } = result;
  const warning =
    status === "complete" && marks.length === 0
      ? []
      : [`> **${status.toUpperCase()}**${marks.map((mark) => `\n> - ${cell(mark)}`).join("")}`];
  const statements = Object.entries(checks).map(
    ([name, { passed, statement }]) => `- ${passed ? "passed" : "**FAILED**"} · ${name}: ${cell(statement)}`,
  );
  const parts = [
    `# ${cell(titleOf(result))}`,
    ...warning,
    "## Can it be believed?",
    statements.join("\n"),
    tableMarkdown(controlTable(result)),
    ...sectionsOf(result).flatMap(({ title, panels }) => [`## ${cell(title)}`, ...panels.flatMap(panelMarkdown)]),
    "## Runs and origin",
    ...appendixOf(result, manifest).flatMap(panelMarkdown),
  ];
  return `${parts.join("\n\n")}\n`;
}

function panelMarkdown({
  title,
  sentence,
  table,
}: {
  readonly title: string;
  readonly sentence: string;
  readonly table: Table;
}): readonly string[] {
  return [`### ${cell(title)}`, cell(sentence), tableMarkdown(table)];
}

export function tableMarkdown({ head, rows, note }: Table): string {
  const line = (cells: readonly string[]) => `| ${cells.map(cell).join(" | ")} |`;
  const rule = `| ${head.map((_name, column) => (column === 0 ? ":--" : "--:")).join(" | ")} |`;
  return [line(head), rule, ...rows.map(line), ...(note === undefined ? [] : ["", cell(note)])].join("\n");
}

/** Text from a file can neither end a cell nor be markup. */
export function cell(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, " ").replace(/[\\`*_[\]<>|&]/g, "\\$&");
}
