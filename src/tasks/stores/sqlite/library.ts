import { AgentError } from "../../../envelope/index.js";

/** The value of a column. */
export type Value = string | number | null;

/** One prepared statement; its rows are tuples of the columns it names. */
export interface Statement<Row extends readonly Value[]> {
  run(values: readonly Value[]): { readonly changes: number };
  get(values: readonly Value[]): Row | undefined;
  all(values: readonly Value[]): readonly Row[];
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
      // Only a statement that returns rows may use tuples; the tuple's type is declared by the caller for its own SQL.
      return (statement.reader ? statement.raw() : statement) as Statement<Row>;
    },
    exec: (sql) => database.exec(sql),
    get inTransaction() {
      return database.inTransaction;
    },
    close: () => database.close(),
  };
}
