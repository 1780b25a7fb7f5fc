import { AgentError } from "../../../envelope/index.js";
import { DamagedRow } from "./intact-rows.js";

const REASONS = {
  SQLITE_FULL: ["unavailable", "has no room left: the disk is full"],
  SQLITE_READONLY: ["unavailable", "may be read but not written"],
  SQLITE_PERM: ["unavailable", "may not be opened by this user"],
  SQLITE_AUTH: ["unavailable", "may not be opened by this user"],
  SQLITE_CANTOPEN: ["unavailable", "cannot be opened"],
  SQLITE_BUSY: ["unavailable", "is held by another process for too long"],
  SQLITE_LOCKED: ["unavailable", "is held by another process for too long"],
  SQLITE_IOERR: ["unavailable", "could not be read or written"],
  SQLITE_NOMEM: ["unavailable", "could not be used: this process has no memory left"],
  SQLITE_CORRUPT: ["internal", "is damaged: put back a copy of it, or recover what is left with `sqlite3 FILE .recover`"],
  SQLITE_NOTADB: ["internal", "is not a database: move it away, or put back a copy of it"],
} as const;

/** Maps a failure of the library or system to an AgentError. `file` is a name without its folder: remote callers see it. */
export function storeFailure(thrown: unknown, file: string): AgentError {
  if (thrown instanceof AgentError) return thrown;
  if (isDamagedRecord(thrown))
    return new AgentError(
      "internal",
      `a record in the task store ${file} is damaged, others are served: put back a copy of the file, or recover it with \`sqlite3 FILE .recover\``,
      { cause: thrown },
    );
  const code = codeOf(thrown);
  for (const [prefix, [ours, words]] of Object.entries(REASONS)) {
    if (code.startsWith(prefix)) return new AgentError(ours, `the task store ${file} ${words}`, { cause: thrown });
  }
  return new AgentError("internal", `the task store ${file} failed unexpectedly`, { cause: thrown });
}

/** Another process writes at this moment. */
export function isBusy(thrown: unknown): boolean {
  return codeOf(thrown).startsWith("SQLITE_BUSY");
}

/** One record is damaged: a row, or the JSON in it. */
function isDamagedRecord(thrown: unknown): boolean {
  return (thrown instanceof DamagedRow && codeOf(thrown) === "") || thrown instanceof SyntaxError;
}

/** The file is damaged where a record is, or in a page that leads to it. */
export function isDamage(thrown: unknown): boolean {
  return isDamagedRecord(thrown) || codeOf(thrown).startsWith("SQLITE_CORRUPT");
}

export function isNoDatabase(thrown: unknown): boolean {
  return codeOf(thrown) === "SQLITE_NOTADB";
}

function codeOf(thrown: unknown): string {
  const code = typeof thrown === "object" && thrown !== null && "code" in thrown ? thrown.code : undefined;
  return typeof code === "string" ? code : "";
}

/** Every method after `close()`. */
export function closedFailure(file: string): AgentError {
  return new AgentError("unavailable", `the task store ${file} is closed`);
}
