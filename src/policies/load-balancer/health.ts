import { AgentError, type ErrorCode, type Handler, type JsonObject, startCall } from "../../envelope/index.js";
import type { Clock } from "../clock.js";
import { deadline } from "../deadline.js";
import type { Destination } from "../destination.js";
import { onlyEvent } from "../replies/shape.js";

/** Destinations that do not answer in this time are down. */
const PING_LIMIT_MS = 5_000;

/** Errors that prove the peer is alive. */
const ALIVE: ReadonlySet<ErrorCode> = new Set(["unsupported", "unsupported_method"]);

/**
 * All destinations, pinged at once through their own layers: an open breaker shows as down. `ok` when all are up, `down`
 * when none is, `degraded` between.
 */
export async function healthOf(handlers: Iterable<readonly [Destination, Handler]>, clock: Clock): Promise<JsonObject> {
  const found = await Promise.all(
    Array.from(handlers, async ([each, handler]) => [each.id, await ping(each, handler, clock)] as const),
  );
  const up = found.filter(([, { status }]) => status === "up").length;
  const status = up === found.length ? "ok" : up === 0 ? "down" : "degraded";
  return { status, destinations: Object.fromEntries(found) };
}

async function ping({ protocol }: Destination, handler: Handler, clock: Clock): Promise<JsonObject> {
  const sinceMs = clock.now();
  const report = (status: "up" | "down", error?: ErrorCode): JsonObject => ({
    status,
    latency_ms: clock.now() - sinceMs,
    ...(protocol === undefined ? {} : { protocol }),
    ...(error === undefined ? {} : { error }),
  });
  try {
    await onlyEvent(deadline(PING_LIMIT_MS, clock)(handler)({ kind: "ping" }, startCall()));
    return report("up");
  } catch (thrown) {
    const { code } = AgentError.from(thrown);
    return ALIVE.has(code) ? report("up") : report("down", code);
  }
}
