import type { Call, Layer, Maybe, Operation } from "../envelope/index.js";
import { around, type LinkedCancel, linkedCancel, type Outcome } from "../policies/index.js";
import { traceIdOf } from "../policies/trace-id.js";
import type { Attempts } from "./attempts.js";
import { receivedContentBytes, sentContentBytes } from "./content-bytes.js";
import { type Edge, retriesOf } from "./edge.js";
import type { HookName, Hooks } from "./hooks.js";
import type { EdgeMeter } from "./metrics.js";

/** Who watches the calls over one edge. */
export interface CallObserver {
  readonly edge: Edge;
  readonly meter: Maybe<EdgeMeter>;
  /** Already guarded: what they throw never arrives here. */
  readonly hooks: Maybe<Hooks>;
  /** Milliseconds on a clock that never goes back. */
  readonly now: () => number;
}

interface Watched {
  readonly operation: Operation;
  readonly call: Call;
  readonly startedMs: number;
  events: number;
}

/** Outside every policy: what the caller waited for, what it got, and whether it failed for good. */
export function observedHandler({ edge, meter, hooks, now }: CallObserver): Layer {
  return around<Watched>({
    begin(operation, call) {
      meter?.payload(sentContentBytes(operation));
      return { operation, call, startedMs: now(), events: 0 };
    },
    event(watched, event, shape) {
      meter?.payload(receivedContentBytes(event));
      if (shape === "one" || hooks?.onStreamEvent === undefined) return;
      const { operation, call } = watched;
      hooks.onStreamEvent({ edge, traceId: traceIdOf(operation, call), operation, event, index: watched.events++ });
    },
    end({ operation, call, startedMs }, outcome) {
      if (meter !== undefined) record(meter, (now() - startedMs) / 1000, outcome, traceIdOf(operation, call));
      if (outcome.kind === "failed")
        hooks?.onError?.({ edge, traceId: traceIdOf(operation, call), operation, error: outcome.error });
    },
  });
}

/** A call that its own caller gave up says nothing about the one that was called: neither latency nor failure. */
export function record(meter: EdgeMeter, latencySeconds: number, outcome: Outcome, traceId: Maybe<string>): void {
  if (outcome.kind === "stopped" || (outcome.kind === "failed" && outcome.error.code === "cancelled")) return;
  meter.observe(latencySeconds, traceId);
  if (outcome.kind === "failed") meter.fail();
}

interface Tried {
  readonly operation: Operation;
  readonly call: Call;
  readonly linked: LinkedCancel;
}

/** The hooks that need to know, on the wire, which call a request belongs to. */
const WIRE_HOOKS = ["beforeEncode", "afterEncode", "beforeTransport", "afterTransport", "onDecode"] as const satisfies HookName[];

/** Directly around a client half, inside every policy: each try as it is encoded, and each event as it was decoded. */
export function observedWire({ edge, hooks }: CallObserver, attempts: Attempts): Layer {
  const everyTry = hooks !== undefined && WIRE_HOOKS.some((name) => hooks[name] !== undefined);
  return around<Tried>({
    begin(operation, call) {
      const repeats = retriesOf(operation) > 0;
      if (!everyTry && !repeats) return undefined;
      const traceId = traceIdOf(operation, call);
      const linked = linkedCancel(call.cancel);
      attempts.begin(linked.source, { operation, traceId, repeats });
      hooks?.beforeEncode?.({ edge, traceId, operation });
      return { operation, call, linked };
    },
    under: ({ linked }, call) => call.derive({ cancel: linked.source }),
    event({ operation, call }, event) {
      hooks?.onDecode?.({ edge, traceId: traceIdOf(operation, call), operation, event });
    },
    end({ linked }) {
      linked.unlink();
      attempts.end(linked.source);
    },
  });
}
