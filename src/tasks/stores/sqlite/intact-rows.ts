import { isUtf8 } from "node:buffer";

/** The value of a column. */
export type Value = string | number | null;

/** A row that is not what was written: the file was damaged outside of this process. */
export class DamagedRow extends Error {
  constructor() {
    super("a row holds what was not written there");
    this.name = "DamagedRow";
  }
}

/** A column as the library describes it; an expression has no type. */
export interface Column {
  readonly type: string | null;
}

const SEPARATOR = "\0";
/** No field is empty. */
const ROW_SEPARATOR = "\0\0";
const QUOTE = 0x22;
const TILDE = 0x7e;
const BANG = 0x21;

/**
 * The same query with each row as one blob. The library aborts the process on text that is not UTF-8, which a damaged page may hold in
 * any column; a blob is checked here. Columns never hold NUL, which separates them.
 */
export function blobQuery(sql: string, columns: readonly Column[]): string {
  return rowQuery(sql, columns, (row) => row);
}

/** The same with all rows in one blob: each blob costs more than its row. */
export function wholeQuery(sql: string, columns: readonly Column[]): string {
  return rowQuery(sql, columns, (row) => `group_concat(${row}, x'0000')`);
}

function rowQuery(sql: string, columns: readonly Column[], of: (row: string) => string): string {
  const names = columns.map((_, index) => `c${index}`);
  const fields = names.map(
    (name) =>
      `CASE typeof(${name}) WHEN 'integer' THEN ${name} WHEN 'text' THEN '"' || ${name} WHEN 'null' THEN '~' ELSE '!' END`,
  );
  return `WITH rows(${names.join(", ")}) AS (${sql}) SELECT CAST(${of(fields.join(" || x'00' || "))} AS BLOB) FROM rows`;
}

/** The columns of such a row. Throws DamagedRow for anything but integers and text where they belong. */
export function readRow(blob: unknown, columns: readonly Column[]): readonly Value[] {
  return rowFrom(textOf(blob), columns);
}

/** The rows of such a blob. Throws DamagedRow if one of them is damaged. */
export function readRows(blob: unknown, columns: readonly Column[]): readonly (readonly Value[])[] {
  if (blob === null) return [];
  return textOf(blob)
    .split(ROW_SEPARATOR)
    .map((row) => rowFrom(row, columns));
}

function textOf(blob: unknown): string {
  if (!(blob instanceof Uint8Array) || !isUtf8(blob)) throw new DamagedRow();
  return Buffer.from(blob.buffer, blob.byteOffset, blob.byteLength).toString("utf8");
}

function rowFrom(row: string, columns: readonly Column[]): readonly Value[] {
  const fields = row.split(SEPARATOR);
  if (fields.length !== columns.length) throw new DamagedRow();
  return fields.map((field, index) => columnValue(field, columns[index]?.type));
}

function columnValue(field: string, type: string | null | undefined): Value {
  const mark = field.charCodeAt(0);
  if (mark === TILDE) return null;
  if (mark === BANG || (type === "TEXT" && mark !== QUOTE) || (type === "INTEGER" && mark === QUOTE)) throw new DamagedRow();
  return mark === QUOTE ? field.slice(1) : Number(field);
}
