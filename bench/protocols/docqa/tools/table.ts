import type { TableDocument } from "../data/documents.js";
import { ToolError } from "./tool.js";

/** Reads the cell of one column, in the row where another column has a value. */
export function readCell(
  tables: readonly TableDocument[],
  {
    table: name,
    key,
    value,
    column,
  }: { readonly table: string; readonly key: string; readonly value: string; readonly column: string },
): string {
  const table = tables.find((each) => each.name === name);
  if (table === undefined) throw new ToolError("not_found", `there is no table ${JSON.stringify(name)}`);
  const [by, wanted] = [key, column].map((each) => {
    const index = table.columns.indexOf(each);
    if (index < 0) throw new ToolError("not_found", `the table ${name} has no column ${JSON.stringify(each)}`);
    return index;
  });
  const row = table.rows.find((cells) => cells[by ?? 0] === value);
  if (row === undefined) throw new ToolError("not_found", `the table ${name} has no row with ${key} ${JSON.stringify(value)}`);
  return row[wanted ?? 0] ?? "";
}
