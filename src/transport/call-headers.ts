import type { Call, Maybe } from "../envelope/index.js";
import type { HttpHeaders } from "./exchange.js";

/** Number of gateways a call has passed; detects loops. */
const HOPS_HEADER = "koine-hops";

/** Adds the headers that every protocol sends: the trace context and the hop count. */
export function addCallHeaders(headers: Record<string, Maybe<string>>, { parameters, hops }: Call): void {
  const { traceparent, tracestate } = parameters;
  if (traceparent !== undefined) headers["traceparent"] = traceparent;
  if (tracestate !== undefined) headers["tracestate"] = tracestate;
  if (hops > 0) headers[HOPS_HEADER] = String(hops);
}

/** An invalid hop count counts as 0: a caller that forges it only affects its own calls. */
export function hopsIn(headers: HttpHeaders): number {
  const header = headers[HOPS_HEADER];
  return header !== undefined && /^\d{1,4}$/.test(header) ? Number(header) : 0;
}
