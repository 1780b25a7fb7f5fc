import { chmodSync, closeSync, mkdirSync, openSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { AgentError } from "../../../envelope/index.js";
import { isNoDatabase } from "./failures.js";
import { DamagedRow } from "./intact-rows.js";
import type { Connect, Connection } from "./library.js";
import { APPLICATION_ID, MIGRATIONS } from "./schema.js";

/** How long opening waits for another process that opens the same file. */
const OPEN_WAIT_MS = 5_000;
/** How often it looks whether the other process has written its first page. */
const LOOK_AGAIN_MS = 20;
const SLEEP = new Int32Array(new SharedArrayBuffer(4));
/** A step waits this long for the lock without giving way: the steps of another process take less. */
const LOCK_WAIT_MS = 5;
/** Pages of a file kept in memory. */
const CACHE_KIB = 16 * 1024;
/** The write-ahead log is checkpointed after this many pages: a page that changes often is written once. */
const PAGES_PER_CHECKPOINT = 4_000;
/** A log that grew while a reader held it back is cut to this length. */
const LONGEST_LOG_BYTES = 64 * 1024 * 1024;

const OURS_ONLY = 0o600;
const OURS_ONLY_FOLDER = 0o700;

/** What happens to the last moments when the power fails: `normal` may lose them, `full` waits for the disk at every step. */
export type Synchronous = "normal" | "full";

/** Opens or creates a store file and migrates it to the newest version. Any other file is rejected and left unchanged. */
export function openFile(connect: Connect, file: string, synchronous: Synchronous): Connection {
  // Absolute, because the library treats some other texts as server addresses.
  const path = resolve(file);
  makeFile(path, file);
  const connection = connectTo(connect, path, file);
  try {
    connection.exec(`PRAGMA busy_timeout = ${OPEN_WAIT_MS}`);
    // In one transaction: another process may be migrating the file, and half of what it does would look like a foreign file.
    connection.exec("BEGIN");
    const version = versionOf(connection, file);
    connection.exec("COMMIT");
    checkSchema(connection);
    chmodSync(path, OURS_ONLY);
    configure(connection, synchronous);
    if (version < MIGRATIONS.length) migrate(connection, file);
    connection.exec(`PRAGMA busy_timeout = ${LOCK_WAIT_MS}`);
    return connection;
  } catch (thrown) {
    connection.close();
    throw isNoDatabase(thrown) ? notOurs(file) : thrown;
  }
}

function makeFile(path: string, file: string): void {
  try {
    mkdirSync(dirname(path), { recursive: true, mode: OURS_ONLY_FOLDER });
    if (createdNow(path)) return;
    // Another process may be creating it.
    for (let waited = 0; statSync(path).size === 0; waited += LOOK_AGAIN_MS) {
      if (waited >= OPEN_WAIT_MS) throw emptied(file);
      Atomics.wait(SLEEP, 0, 0, LOOK_AGAIN_MS);
    }
    closeSync(openSync(path, "a", OURS_ONLY));
  } catch (cause) {
    if (cause instanceof AgentError) throw cause;
    const code = cause instanceof Error && "code" in cause ? ` (${String(cause.code)})` : "";
    throw new AgentError("unavailable", `the task store ${file} cannot be made or written${code}`, { cause });
  }
}

/** False if there is a file. */
function createdNow(path: string): boolean {
  try {
    closeSync(openSync(path, "wx", OURS_ONLY));
    return true;
  } catch (thrown) {
    if (thrown instanceof Error && "code" in thrown && thrown.code === "EEXIST") return false;
    throw thrown;
  }
}

/** A store is never empty: its content was cut off, or its creation. A new one in its place would hide the loss. */
function emptied(file: string): AgentError {
  return new AgentError(
    "unavailable",
    `the task store ${file} is empty: put back a copy of it, or delete the file if its tasks are not needed`,
  );
}

function connectTo(connect: Connect, path: string, file: string): Connection {
  try {
    return connect(path);
  } catch (cause) {
    throw new AgentError("unavailable", `the task store ${file} cannot be opened`, { cause });
  }
}

function versionOf(connection: Connection, file: string): number {
  const application = numberOf(connection, "PRAGMA application_id");
  const version = numberOf(connection, "PRAGMA user_version");
  const empty = application === 0 && version === 0 && numberOf(connection, "SELECT count(*) FROM sqlite_schema") === 0;
  if (!empty && application !== APPLICATION_ID) throw notOurs(file);
  if (version > MIGRATIONS.length) {
    const words = `the task store ${file} was written by a newer version (${version}; this one knows ${MIGRATIONS.length})`;
    throw new AgentError("unsupported_version", `${words}: use that version, or another file`);
  }
  return version;
}

/** The library describes columns by the texts of the schema, and aborts the process if one is not UTF-8. */
function checkSchema(connection: Connection): void {
  try {
    connection.prepare("SELECT type, name, tbl_name, sql FROM sqlite_schema").all([]);
  } catch (thrown) {
    throw thrown instanceof DamagedRow ? Object.assign(thrown, { code: "SQLITE_CORRUPT" }) : thrown;
  }
}

function configure(connection: Connection, synchronous: Synchronous): void {
  connection.exec("PRAGMA auto_vacuum = INCREMENTAL");
  connection.exec("PRAGMA journal_mode = WAL");
  connection.exec(`PRAGMA synchronous = ${synchronous === "full" ? "FULL" : "NORMAL"}`);
  connection.exec(`PRAGMA cache_size = -${CACHE_KIB}`);
  connection.exec(`PRAGMA wal_autocheckpoint = ${PAGES_PER_CHECKPOINT}`);
  connection.exec(`PRAGMA journal_size_limit = ${LONGEST_LOG_BYTES}`);
  connection.exec("PRAGMA temp_store = MEMORY");
  connection.exec("PRAGMA trusted_schema = OFF");
}

/** One process migrates; others wait and find it done. */
function migrate(connection: Connection, file: string): void {
  connection.exec("BEGIN IMMEDIATE");
  try {
    for (const step of MIGRATIONS.slice(versionOf(connection, file))) connection.exec(step);
    connection.exec(`PRAGMA application_id = ${APPLICATION_ID}`);
    connection.exec(`PRAGMA user_version = ${MIGRATIONS.length}`);
    connection.exec("COMMIT");
  } catch (thrown) {
    if (connection.inTransaction) connection.exec("ROLLBACK");
    throw thrown;
  }
}

function numberOf(connection: Connection, sql: string): number {
  return connection.prepare<readonly [number]>(sql).get([])?.[0] ?? 0;
}

function notOurs(file: string): AgentError {
  return new AgentError("unsupported", `${file} is no task store: it holds something else, and is left as it is`);
}
