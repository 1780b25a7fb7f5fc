import { readFileSync, statSync } from "node:fs";
import { basename } from "node:path";
import { hashOf } from "../payload.js";
import type { ManifestInput } from "../result/index.js";
import type { Entry, EntrySource } from "./entry.js";
import { generateEntries } from "./generate.js";
import { ENTRY_LIMITS, parseEntries } from "./jsonl.js";

/** Throws Error that names the file, and the line where one is wrong. */
export function readEntries(source: EntrySource): readonly Entry[] {
  switch (source.kind) {
    case "generated":
      return generateEntries(source.count, source.seed);
    case "file":
      return parseEntries(contentOf(source.path), source.path);
    case "given":
      return source.entries;
  }
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
  return { role: "data", name: nameOf(source), bytes: Buffer.byteLength(content), sha256: hashOf(content) };
}

function nameOf(source: EntrySource): string {
  switch (source.kind) {
    case "generated":
      return `generated, seed ${source.seed}`;
    case "file":
      return basename(source.path);
    case "given":
      return source.name;
  }
}
