import { readFileSync, statSync } from "node:fs";
import { basename } from "node:path";
import { hashOf } from "../payload.js";
import type { ManifestInput } from "../result/index.js";
import type { Entry, EntrySource } from "./entry.js";
import { generateEntries } from "./generate.js";
import { ENTRY_LIMITS, parseEntries } from "./jsonl.js";

/** Throws Error that names the file, and the line where one is wrong. */
export function readEntries(source: EntrySource): readonly Entry[] {
  return source.kind === "generated"
    ? generateEntries(source.count, source.seed)
    : parseEntries(contentOf(source.path), source.path);
}

function contentOf(path: string): string {
  try {
    if (statSync(path).size <= ENTRY_LIMITS.bytes) return readFileSync(path, "utf8");
  } catch (thrown) {
    throw new Error(`cannot read ${path}: ${thrown instanceof Error ? thrown.message : String(thrown)}`);
  }
  throw new Error(`${path} has more than ${ENTRY_LIMITS.bytes} bytes`);
}

/** For the manifest. Generated entries are hashed as the lines that a file of them would have. */
export function entriesInput(source: EntrySource): ManifestInput {
  const content =
    source.kind === "file"
      ? contentOf(source.path)
      : readEntries(source)
          .map(({ id, text }) => `${JSON.stringify({ id, q: text })}\n`)
          .join("");
  const name = source.kind === "file" ? basename(source.path) : `generated, seed ${source.seed}`;
  return { role: "data", name, bytes: Buffer.byteLength(content), sha256: hashOf(content) };
}
