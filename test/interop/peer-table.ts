import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import type { Verdicts } from "./peer-walks.js";

/** What one peer did over one binding. */
export interface PeerRow {
  readonly peer: string;
  readonly way: string;
  readonly binding: string;
  readonly checks: Verdicts;
}

/** The results of the last accepted run; docs/peers.md shows them. */
const EXPECTED = new URL("./peers.json", import.meta.url);
/** The results of this run. Copy them over `peers.json` to accept them. */
const FOUND = ".cache/peers.json";

export function expectedRows(): readonly PeerRow[] {
  return JSON.parse(readFileSync(EXPECTED, "utf8")) as readonly PeerRow[]; // our own file
}

export function writeRows(rows: readonly PeerRow[]): void {
  mkdirSync(".cache", { recursive: true });
  writeFileSync(FOUND, `${JSON.stringify(rows, undefined, 2)}\n`);
}
