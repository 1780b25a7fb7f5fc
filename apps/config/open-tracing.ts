import type { Maybe } from "../../src/index.js";
import type { Metrics } from "../../src/public/telemetry.js";
import { isTracingDisabled, type TracingRequest } from "./tracing/settings.js";

export interface TracingParts {
  readonly env: { readonly [name: string]: string | undefined };
  /** Warnings and failures of the export, without secrets. */
  notify(line: string): void;
  /** Counts spans that were not delivered. */
  dropped(count: number): void;
}

/** Tracing that is switched on. */
export interface OpenTracing {
  /** Where the collector is, without path. */
  readonly host: string;
  /** Sends what is left, within a limit. */
  close(): Promise<void>;
}

/** Switches tracing on as requested. Undefined if it is off; nothing is loaded then. Throws AgentError for invalid settings. */
export async function openTracing(request: Maybe<boolean | TracingRequest>, parts: TracingParts): Promise<Maybe<OpenTracing>> {
  if (request === undefined || request === false || isTracingDisabled(parts.env)) return undefined;
  const { openOtlpTracing } = await import("./tracing/open.js");
  return openOtlpTracing(request === true ? {} : request, parts);
}

/** Counts spans that were not delivered, in a metric that is there from the start. */
export function droppedSpans(metrics: Metrics, srcAgent: string): TracingParts["dropped"] {
  const counter = metrics.counter("TRACE_SPANS_DROPPED", "Spans that were not delivered to the collector");
  const cell = counter.edge({ srcAgent, dstId: "collector", protocol: "otlp" });
  cell.add(0);
  return (count) => cell.add(count);
}
