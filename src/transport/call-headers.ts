import { type Call, type Maybe, PROBE_PARAMETER } from "../envelope/index.js";
import type { HttpHeaders } from "./exchange.js";

/** Number of gateways a call has passed; detects loops. */
const HOPS_HEADER = "koine-hops";
/** Marks requests of discovery and health checks. */
const PROBE_HEADER = "koine-probe";

/** Adds the headers that every protocol sends: the trace context, the hop count and the mark of a health check. */
export function addCallHeaders(headers: Record<string, Maybe<string>>, { parameters, hops }: Call): void {
  const { traceparent, tracestate } = parameters;
  if (traceparent !== undefined) headers["traceparent"] = traceparent;
  if (tracestate !== undefined) headers["tracestate"] = tracestate;
  if (hops > 0) headers[HOPS_HEADER] = String(hops);
  if (parameters[PROBE_PARAMETER] !== undefined) headers[PROBE_HEADER] = "1";
}

/** Whether the sender says that the request only checks the connection. */
export function isProbe(headers: HttpHeaders): boolean {
  return headers[PROBE_HEADER] !== undefined;
}

/** An invalid hop count counts as 0: a caller that forges it only affects its own calls. */
export function hopsIn(headers: HttpHeaders): number {
  const header = headers[HOPS_HEADER];
  return header !== undefined && /^\d{1,4}$/.test(header) ? Number(header) : 0;
}
