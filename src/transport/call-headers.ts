import type { Call, Maybe } from "../envelope/index.js";
import type { HttpHeaders } from "./exchange.js";

/** How many gateways a call has passed: a ring of them would send it round for ever. */
const HOPS_HEADER = "koine-hops";

/** What every request carries whatever its protocol: the trace it belongs to, and how many gateways it has passed. */
export function addCallHeaders(headers: Record<string, Maybe<string>>, { parameters, hops }: Call): void {
  const { traceparent, tracestate } = parameters;
  if (traceparent !== undefined) headers["traceparent"] = traceparent;
  if (tracestate !== undefined) headers["tracestate"] = tracestate;
  if (hops > 0) headers[HOPS_HEADER] = String(hops);
}

/** What is no count counts as none: whoever lies about it only shortens its own way. */
export function hopsIn(headers: HttpHeaders): number {
  const said = headers[HOPS_HEADER];
  return said !== undefined && /^\d{1,4}$/.test(said) ? Number(said) : 0;
}
