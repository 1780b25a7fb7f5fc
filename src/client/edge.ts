import type { Layer } from "../envelope/index.js";
import type { Telemetry } from "../telemetry/index.js";

/** How an agent calls its peers, beside what is said for each of them. */
export interface EdgeOptions {
  readonly timeoutMs?: number;
  readonly layers?: readonly Layer[];
  readonly telemetry?: Telemetry;
}
