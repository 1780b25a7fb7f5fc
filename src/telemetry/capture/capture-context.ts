import type { CaptureLimits } from "./captured-message.js";
import type { MemoryLog } from "./log.js";
import type { Spans } from "./spans.js";

/** State shared by inbound and outbound capture. */
export interface CaptureContext {
  readonly log: MemoryLog;
  readonly limits: CaptureLimits;
  readonly spans: Spans;
  newId(): string;
  /** Milliseconds since the epoch. */
  now(): number;
}
