import type { Maybe } from "../../src/index.js";
import { createInspector, type Inspector } from "../../src/public/inspect.js";
import type { Clock } from "../../src/public/policies.js";
import { createMetrics, createTelemetry, type LogSink, type Telemetry } from "../../src/public/telemetry.js";
import type { ConfigDocument } from "./config-schema.js";
import { UpstreamGauges } from "./upstream-gauges.js";
import { withoutUndefined } from "./without-undefined.js";

export interface TelemetryParts {
  readonly log: Maybe<LogSink>;
  readonly clock: Clock;
  newId(): string;
  /** Whether an agent of this name is served. */
  serves(name: string): boolean;
}

export interface GatewayTelemetry {
  readonly telemetry: Telemetry;
  /** The state of upstreams as metrics. */
  readonly gauges: UpstreamGauges;
  /** Undefined if it is off. */
  readonly inspector: Maybe<Inspector>;
}

/** Metrics, log and message capture, as configured. */
export function gatewayTelemetry(
  { metrics: scraped = false, metricNames: names, inspect = true }: ConfigDocument,
  { log, clock, newId, serves }: TelemetryParts,
): GatewayTelemetry {
  const metrics = scraped === false ? undefined : createMetrics({ names });
  const gauges = new UpstreamGauges(metrics);
  const base = createTelemetry({ metrics, log, serves });
  if (inspect === false) return { telemetry: base, gauges, inspector: undefined };
  const limits = inspect === true ? undefined : withoutUndefined(inspect);
  const inspector = createInspector({ limits, ids: { newId }, clock });
  return { telemetry: inspector.telemetry(base), gauges, inspector };
}
