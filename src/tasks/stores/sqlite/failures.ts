import { AgentError } from "../../../envelope/index.js";

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
  SQLITE_CORRUPT: ["internal", "is damaged: move it away, or put back a copy of it"],
  SQLITE_NOTADB: ["internal", "is not a database: move it away, or put back a copy of it"],
} as const;

/** Maps a failure of the library or system to an AgentError. `file` is a name without its folder: remote callers see it. */
export function storeFailure(thrown: unknown, file: string): AgentError {
  if (thrown instanceof AgentError) return thrown;
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
