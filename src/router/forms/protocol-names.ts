import type { Maybe } from "../../envelope/index.js";
import { CAPABILITIES, type CapabilityId, type Features } from "../../protocols/features.js";
import { Malformed } from "./members.js";
import { suggestion } from "./nearest.js";

/** The row that a word names, by its id or its name, however it is capitalised. */
export function rowNamed(word: string, rows: readonly Features[]): Maybe<Features> {
  const wanted = word.trim().toLowerCase();
  return rows.find(({ id, name }) => id.toLowerCase() === wanted || name.toLowerCase() === wanted);
}

/** A protocol as decisions write it; a word that names none is malformed. */
export function protocolAt(word: string, rows: readonly Features[], where: string): string {
  const row = rowNamed(word, rows);
  const known = rows.map(({ name }) => name);
  if (row === undefined) throw new Malformed(where, `names no protocol: ${JSON.stringify(word)}; ${suggestion(word, known)}`);
  return row.name;
}

/** The capability that a word names, by its id or its label, however it is capitalised. */
export function capabilityNamed(word: string): Maybe<CapabilityId> {
  const wanted = word.trim().toLowerCase();
  return CAPABILITIES.find(({ id, label }) => id === wanted || label.toLowerCase() === wanted)?.id;
}
