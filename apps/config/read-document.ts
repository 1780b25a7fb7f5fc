import { readFile, stat } from "node:fs/promises";
import { AgentError } from "../../src/index.js";

/** A document may be this long; it is read whole. */
export const DOCUMENT_BYTES = 1024 * 1024;

/** The text of a file that somebody wrote. */
export async function readDocument(file: string): Promise<string> {
  const facts = await stat(file).catch((thrown: NodeJS.ErrnoException) => {
    throw unreadable(file, thrown);
  });
  if (!facts.isFile()) throw new AgentError("invalid_message", `${file} is no file`);
  if (facts.size > DOCUMENT_BYTES) throw new AgentError("too_large", `${file} is larger than ${DOCUMENT_BYTES / 1024} KiB`);
  return readFile(file, "utf8").catch((thrown: NodeJS.ErrnoException) => {
    throw unreadable(file, thrown);
  });
}

function unreadable(file: string, { code = "unknown reason" }: NodeJS.ErrnoException): AgentError {
  return new AgentError("not_found", `the file ${file} cannot be read (${code})`);
}
