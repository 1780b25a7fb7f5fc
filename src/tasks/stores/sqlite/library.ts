import { AgentError } from "../../../envelope/index.js";
import { blobQuery, type Column, DamagedRow, readRow, readRows, type Value, wholeQuery } from "./intact-rows.js";

/** One prepared statement; its rows are tuples of the columns it names. */
export interface Statement<Row extends readonly Value[]> {
  run(values: readonly Value[]): { readonly changes: number };
  get(values: readonly Value[]): Row | undefined;
  /** Throws DamagedRow for a row that is damaged. */
  all(values: readonly Value[]): readonly Row[];
  /** The same without the damaged rows: for what is about many tasks. */
  intact(values: readonly Value[]): readonly Row[];
}

/** The subset of the library used here. */
export interface Connection {
  /** The caller declares the row type of its own statement. */
  prepare<Row extends readonly Value[] = readonly []>(sql: string): Statement<Row>;
  exec(sql: string): void;
  readonly inTransaction: boolean;
  close(): void;
}

interface LibraryStatement {
  readonly reader: boolean;
  columns(): readonly Column[];
  raw(): LibraryStatement;
  run(values: readonly Value[]): { readonly changes: number };
  get(values: readonly Value[]): unknown;
  all(values: readonly Value[]): unknown;
}

interface LibraryDatabase {
  prepare(sql: string): LibraryStatement;
  exec(sql: string): void;
  readonly inTransaction: boolean;
  close(): void;
}

interface Library {
  readonly default: new (path: string) => LibraryDatabase;
}

/** How a file is opened, once the library is there. */
export type Connect = (path: string) => Connection;

/** Loaded when the first file is opened: other stores do not need the package. */
export async function loadLibrary(load: () => Promise<unknown> = () => import("libsql")): Promise<Connect> {
  try {
    // The library's own declarations leave rows and errors untyped; those above declare what is used of it.
    const { default: Database } = (await load()) as Library;
    return (path) => connectionOf(new Database(path));
  } catch (cause) {
    throw new AgentError("unsupported", "tasks in a file need the package libsql, which is not installed: npm install libsql", {
      cause,
    });
  }
}

function connectionOf(database: LibraryDatabase): Connection {
  return {
    prepare<Row extends readonly Value[]>(sql: string) {
      const statement = database.prepare(sql);
      // The row's type is declared by the caller for its own SQL.
      if (!statement.reader) return statement as unknown as Statement<Row>;
      return (IS_QUERY.test(sql) ? queryOf(database, sql, statement.columns()) : plainRows(statement.raw())) as Statement<Row>;
    },
    exec: (sql) => database.exec(sql),
    get inTransaction() {
      return database.inTransaction;
    },
    close: () => database.close(),
  };
}

/** Pragmas and returned columns are numbers of the library or of this process. */
const IS_QUERY = /^\s*SELECT\b/;

function plainRows(statement: LibraryStatement): Statement<readonly Value[]> {
  const all = (values: readonly Value[]) => statement.all(values) as readonly (readonly Value[])[]; // tuples, by `raw`
  return {
    run: (values) => statement.run(values),
    get: (values) => statement.get(values) as readonly Value[] | undefined,
    all,
    intact: all,
  };
}

function queryOf(database: LibraryDatabase, sql: string, columns: readonly Column[]): Statement<readonly Value[]> {
  const statement = database.prepare(blobQuery(sql, columns)).raw();
  let whole: LibraryStatement | undefined;
  const rowsFor = (values: readonly Value[]) => statement.all(values) as readonly (readonly [unknown])[]; // one blob each
  return {
    run: (values) => statement.run(values),
    get(values) {
      const row = statement.get(values) as readonly [unknown] | undefined; // one blob
      return row && readRow(row[0], columns);
    },
    all: (values) => rowsFor(values).map(([blob]) => readRow(blob, columns)),
    intact(values) {
      whole ??= database.prepare(wholeQuery(sql, columns)).raw();
      const [blob] = whole.get(values) as readonly [unknown]; // an aggregate has one row
      try {
        return readRows(blob, columns);
      } catch (thrown) {
        if (!(thrown instanceof DamagedRow)) throw thrown;
        return rowsFor(values).flatMap(([each]) => intactRow(each, columns));
      }
    },
  };
}

function intactRow(blob: unknown, columns: readonly Column[]): readonly (readonly Value[])[] {
  try {
    return [readRow(blob, columns)];
  } catch (thrown) {
    if (thrown instanceof DamagedRow) return [];
    throw thrown;
  }
}
