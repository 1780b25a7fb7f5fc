import { lazyModule } from "../transport/node/lazy-module.js";

/** The OpenTelemetry API. */
export const openTelemetry = lazyModule<typeof import("@opentelemetry/api")>("@opentelemetry/api");

/** All copies of the API share their registrations under this key. */
const REGISTRATIONS = Symbol.for("opentelemetry.js.api.1");

/** Whether this is the span that is active now. */
export function isActiveSpan(spanId: string): boolean {
  if (!isOpenTelemetryUsed()) return false;
  const { context, trace } = openTelemetry();
  return trace.getSpanContext(context.active())?.spanId === spanId;
}

/** False until the application registers a provider: nothing is loaded before that. */
export function isOpenTelemetryUsed(): boolean {
  return REGISTRATIONS in globalThis;
}
