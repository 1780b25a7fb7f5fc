import type { Table } from "../harness/table.js";

/** Tables that belong together. */
export interface Section {
  readonly title: string;
  readonly tables: readonly Table[];
}

/** A figure, a share with its interval, a difference, or the dash where there is none. */
const FIGURE = /^([-+]?\d+(\.\d+)?( \(.*)?|–|)$/;

/** Aligned columns; numbers are right-aligned. */
export function formatTable({ title, head, rows, note }: Table): string {
  const lines = [head, ...rows].map((line) => line.map(oneLine));
  const columns = head.map((_name, column) => ({
    width: Math.max(...lines.map((line) => widthOf(line[column] ?? ""))),
    right: column > 0 && lines.slice(1).every((line) => FIGURE.test(line[column] ?? "")),
  }));
  const text = lines.map((line) =>
    columns
      .map(({ width, right }, column) => pad(line[column] ?? "", width, right))
      .join("  ")
      .trimEnd(),
  );
  const rule = "-".repeat(Math.max(...text.map(widthOf)));
  return [title, ...text.slice(0, 1), rule, ...text.slice(1), ...(note === undefined ? [] : [note])].join("\n");
}

/** All sections as one text. */
export function formatSections(sections: readonly Section[]): string {
  const texts = sections.map(({ title, tables }) => [`== ${oneLine(title)} ==`, ...tables.map(formatTable)].join("\n\n"));
  return `${texts.join("\n\n\n")}\n`;
}

function pad(cell: string, width: number, right: boolean): string {
  const space = " ".repeat(width - widthOf(cell));
  return right ? space + cell : cell + space;
}

function widthOf(text: string): number {
  return [...text].length;
}

/** A cell from a file must not break the table, nor reach a terminal as a command. */
function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, " ");
}
