import type { SightingLimits } from "./captured-message.js";
import type { MemoryLog } from "./log.js";
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
