import type { Maybe } from "../../envelope/index.js";
import { CAPABILITIES, type CapabilityId, type Features } from "../../protocols/features.js";
import { Malformed } from "./members.js";
import { suggestion } from "./nearest.js";

/** The row with this id or name, case-insensitive. */
export function rowNamed(word: string, rows: readonly Features[]): Maybe<Features> {
  const wanted = word.trim().toLowerCase();
  return rows.find(({ id, name }) => id.toLowerCase() === wanted || name.toLowerCase() === wanted);
}

/** The canonical name of a protocol; an unknown one is malformed. */
export function protocolAt(word: string, rows: readonly Features[], where: string): string {
  const row = rowNamed(word, rows);
  const known = rows.map(({ name }) => name);
  if (row === undefined) throw new Malformed(where, `names no protocol: ${JSON.stringify(word)}; ${suggestion(word, known)}`);
  return row.name;
}

/** The capability with this id or label, case-insensitive. */
export function capabilityNamed(word: string): Maybe<CapabilityId> {
  const wanted = word.trim().toLowerCase();
  return CAPABILITIES.find(({ id, label }) => id === wanted || label.toLowerCase() === wanted)?.id;
}
