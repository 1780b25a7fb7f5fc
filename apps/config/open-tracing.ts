import type { Maybe } from "../../src/index.js";
import type { Metrics } from "../../src/public/telemetry.js";
import { isTracingDisabled, type OpenTracing, type TracingParts, type TracingRequest } from "./tracing/settings.js";

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
