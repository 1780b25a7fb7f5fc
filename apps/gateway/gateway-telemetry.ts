import type { Maybe } from "../../src/index.js";
import { createInspector, type Inspector } from "../../src/public/inspect.js";
import type { Clock } from "../../src/public/policies.js";
import { createMetrics, createTelemetry, type LogSink, type Telemetry } from "../../src/public/telemetry.js";
import { droppedSpans, type OpenTracing, openTracing } from "../config/index.js";
import type { GatewayConfig } from "./config.js";
import type { ConfigDocument } from "./config-schema.js";
import { UpstreamGauges } from "./upstream-gauges.js";
import { GATEWAY } from "./upstream-monitor.js";
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
  /** Starts the export of traces, if they are on. */
  open(config: GatewayConfig, notify: Maybe<(line: string) => void>): Promise<void>;
  /** Exports what is left. */
  close(): Promise<void>;
  /** Undefined if it is off. */
  readonly inspector: Maybe<Inspector>;
}

/** Metrics, log, traces and message capture, as configured. */
export function gatewayTelemetry(
  { metrics: scraped = false, metricNames: names, tracing, inspect = true }: ConfigDocument,
  { log, clock, newId, serves }: TelemetryParts,
): GatewayTelemetry {
  const metrics = scraped === false ? undefined : createMetrics({ names });
  const gauges = new UpstreamGauges(metrics);
  const base = createTelemetry({ metrics, log, serves, tracing: tracing !== undefined && tracing !== false });
  const dropped = metrics && tracing ? droppedSpans(metrics, GATEWAY) : () => undefined;
  let traces: Maybe<OpenTracing>;
  const observed = {
    gauges,
    async open({ env }: GatewayConfig, notify: Maybe<(line: string) => void> = () => undefined): Promise<void> {
      traces = await openTracing(tracing, { env, notify, dropped });
    },
    close: async () => traces?.close(),
  };
  if (inspect === false) return { ...observed, telemetry: base, inspector: undefined };
  const limits = inspect === true ? undefined : withoutUndefined(inspect);
  const inspector = createInspector({ limits, ids: { newId }, clock });
  return { ...observed, telemetry: inspector.telemetry(base), inspector };
}
