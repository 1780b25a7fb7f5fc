import { lstat, rename } from "node:fs/promises";
import { resolve } from "node:path";
import { AgentError, type JsonObject } from "../../envelope/index.js";
import { readArray, readObject, readText } from "../../transport/fields.js";
import { readJson } from "../../transport/json.js";
import { codeOf, fileRefused, readOwnFile, writeBeside } from "./own-file.js";

/**
 * The documents of the DIDs that an identity replaced, each signed by the key of its own DID. They are kept beside the identity file,
 * because that key is gone when the old identity is deleted, and the documents must stay published.
 */
const SUFFIX = ".retired";
const FORMAT = "koine-retired-1";
/** DIDs that one identity replaced. Readers follow fewer. */
const MAX_RETIRED = 16;
const LIMITS = { bytes: 512 * 1024, jsonDepth: 20, jsonValues: 64_000 };
const KIND = {
  what: "a file with documents of retired DIDs",
  made: "it is written when a DID is retired",
  bytes: LIMITS.bytes,
} as const;

/** The file beside that of an identity. */
export function retiredFileOf(identityFile: string): string {
  return resolve(identityFile) + SUFFIX;
}

/** The documents beside an identity file; empty if there are none. Throws for a file that others can change. */
export async function readRetired(identityFile: string): Promise<readonly JsonObject[]> {
  const path = retiredFileOf(identityFile);
  const exists = await lstat(path).then(
    () => true,
    (thrown: unknown) => {
      if (codeOf(thrown) === "ENOENT") return false;
      throw fileRefused(path, `cannot be read (${codeOf(thrown)})`, "run as the user who created it");
    },
  );
  if (!exists) return [];
  const bytes = await readOwnFile(path, KIND);
  try {
    const members = readObject(readJson(bytes, LIMITS), "");
    if (members["format"] !== FORMAT) throw new Error(`format must be ${JSON.stringify(FORMAT)}`);
    const documents = readArray(members["documents"], "documents", readDocument);
    if (documents.length > MAX_RETIRED) throw new Error(`has more than ${MAX_RETIRED} documents`);
    return documents;
  } catch (thrown) {
    const problem = thrown instanceof Error ? thrown.message : "it is not JSON";
    throw fileRefused(path, `has no documents of retired DIDs: ${problem}`, "delete it, or retire the DIDs again");
  }
}

function readDocument(value: unknown, path: string): JsonObject {
  const document = readObject(value, path);
  readText(document["id"], `${path}.id`);
  return document;
}

/** Keeps documents beside an identity file, in one step. One for a DID that is there already takes its place. */
export async function keepRetired(identityFile: string, documents: readonly JsonObject[]): Promise<string> {
  const path = retiredFileOf(identityFile);
  const all = new Map([...(await readRetired(identityFile)), ...documents].map((each) => [each["id"], each]));
  if (all.size > MAX_RETIRED)
    throw new AgentError("invalid_message", `an identity replaces at most ${MAX_RETIRED} DIDs`, { field: "retired", sent: "no" });
  await writeBeside(path, { format: FORMAT, documents: [...all.values()] }, (written) => rename(written, path));
  return path;
}
