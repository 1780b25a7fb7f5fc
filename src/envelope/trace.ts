/** W3C trace context. `trace_id` is the trace id; a UUID and 32 hex digits are the same 16 bytes. */
export interface TraceParent {
  readonly traceId: string;
  readonly spanId: string;
  readonly sampled: boolean;
}

const TRACEPARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const HEX_32 = /^[0-9a-f]{32}$/i;

/** W3C Trace Context §3.2: an invalid header counts as none; version ff and all-zero ids are invalid. */
export function parseTraceparent(header: string | undefined): TraceParent | undefined {
  if (header === undefined) return undefined;
  const match = TRACEPARENT.exec(header.trim());
  if (!match) return undefined;
  const [, version, traceId = "", spanId = "", flags = "", rest] = match;
  if (version === "ff" || (version === "00" && rest !== undefined)) return undefined;
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined;
  return { traceId, spanId, sampled: (Number.parseInt(flags, 16) & 1) === 1 };
}

export function formatTraceparent({ traceId, spanId, sampled }: TraceParent): string {
  return `00-${traceId}-${spanId}-${sampled ? "01" : "00"}`;
}

/** The 32 hex digits of a trace id written as hex or as a UUID; undefined for any other text. */
export function traceIdHex(traceId: string | undefined): string | undefined {
  if (traceId === undefined) return undefined;
  if (HEX_32.test(traceId)) return traceId.toLowerCase();
  return UUID.test(traceId) ? traceId.replaceAll("-", "").toLowerCase() : undefined;
}

/** Compares the 16 bytes, whatever the spelling. Other ids compare as text. */
export function sameTrace(a: string, b: string): boolean {
  return (traceIdHex(a) ?? a) === (traceIdHex(b) ?? b);
}
