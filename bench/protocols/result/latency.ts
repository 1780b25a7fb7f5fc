import type { RequestEvent, ServiceEvent } from "./event.js";
import { SEGMENTS, type Segment } from "./result.js";

const NS_PER_US = 1_000;
const NS_PER_MS = 1_000_000;

/** The latency of a request from its intended start. One that timed out took at least the limit. Undefined: no latency is known. */
export function latencyUs({ outcome, stamps }: RequestEvent, timeoutMs: number): number | undefined {
  const elapsed = stamps.done - stamps.intended;
  if (outcome === "answered") return elapsed / NS_PER_US;
  return outcome === "timeout" ? Math.max(elapsed, timeoutMs * NS_PER_MS) / NS_PER_US : undefined;
}

export function firstTokenUs({ stamps }: RequestEvent): number | undefined {
  return stamps.firstToken === undefined ? undefined : (stamps.firstToken - stamps.intended) / NS_PER_US;
}

/** How long the first token took from the handler to the caller. Undefined where one of them did not see it. */
export function firstTokenAddedUs({ stamps }: RequestEvent, service: ServiceEvent | undefined): number | undefined {
  const at = service?.stamps.firstToken;
  return stamps.firstToken === undefined || at === undefined ? undefined : (stamps.firstToken - at) / NS_PER_US;
}

/** The parts of one answered request. A stamp that is missing leaves its part null, and the time is in the next part. */
export function segmentsOf(
  { stamps }: Pick<RequestEvent, "stamps">,
  service: ServiceEvent | undefined,
): Readonly<Record<Segment, number | null>> {
  const at = service?.stamps;
  const ends: Readonly<Record<Segment, number | undefined>> = {
    clientQueue: stamps.send,
    encode: stamps.write,
    requestNetwork: at?.received,
    requestDecode: at?.queueStart,
    serverQueue: at?.serviceStart,
    service: at?.serviceEnd,
    replyEncode: at?.replyStart,
    replyNetwork: stamps.replyEnd,
    replyDecode: stamps.done,
  };
  let from = stamps.intended;
  const parts = SEGMENTS.map((segment): [Segment, number | null] => {
    const end = ends[segment];
    if (end === undefined) return [segment, null];
    // A streamed reply begins before the handler ends: parts are cut so that they never overlap.
    const until = Math.min(Math.max(from, end), stamps.done);
    const part = (until - from) / NS_PER_US;
    from = until;
    return [segment, part];
  });
  return Object.fromEntries(parts) as Record<Segment, number | null>; // one entry per segment
}

const ADAPTER: readonly Segment[] = ["encode", "requestDecode", "replyEncode", "replyDecode"];

/** Encoding and decoding on both sides. Undefined where an implementation does not show them. */
export function adapterUs({ stamps }: RequestEvent, service: ServiceEvent | undefined): number | undefined {
  // Without the stamp, the time before is in it too.
  if (stamps.encodeStart === undefined) return undefined;
  const parts = segmentsOf({ stamps: { ...stamps, send: stamps.encodeStart } }, service);
  const shown = ADAPTER.flatMap((segment) => parts[segment] ?? []);
  return shown.length === ADAPTER.length ? shown.reduce((sum, part) => sum + part, 0) : undefined;
}

/** End to end, without the handler and without the two queues. Undefined where the handler is not seen. */
export function overheadUs(request: RequestEvent, service: ServiceEvent | undefined): number | undefined {
  if (service?.stamps.serviceEnd === undefined) return undefined;
  const { serviceStart, serviceEnd, queueStart = serviceStart } = service.stamps;
  const { intended, send, done } = request.stamps;
  return (done - intended - (send - intended) - (serviceEnd - queueStart)) / NS_PER_US;
}
