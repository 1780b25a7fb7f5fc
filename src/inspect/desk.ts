import type { MemoryLog } from "./log.js";
import type { SightingLimits } from "./sighting.js";
import type { Spans } from "./spans.js";

/** What everything that watches shares. */
export interface Desk {
  readonly log: MemoryLog;
  readonly limits: SightingLimits;
  readonly spans: Spans;
  newId(): string;
  /** Milliseconds since the epoch. */
  now(): number;
}
