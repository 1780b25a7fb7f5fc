import type { Call, Layer, Maybe, Operation } from "../envelope/index.js";
import { around, type LinkedCancel, linkedCancel, type Outcome } from "../policies/index.js";
import { traceIdOf } from "../policies/trace-id.js";
import type { Attempts } from "./attempts.js";
import { receivedContentBytes, sentContentBytes } from "./content-bytes.js";
import { type Edge, retriesOf } from "./edge.js";
import type { HookName, Hooks } from "./hooks.js";
import type { EdgeMeter } from "./metrics.js";

/** The observers of one edge. */
export interface CallObserver {
  readonly edge: Edge;
  readonly meter: Maybe<EdgeMeter>;
  /** Already guarded: they never throw. */
  readonly hooks: Maybe<Hooks>;
  /** Monotonic milliseconds. */
  readonly now: () => number;
}

interface ObservedCall {
  readonly operation: Operation;
  readonly call: Call;
  readonly startedMs: number;
  events: number;
}

/** Outside all policies: total latency, delivered content and final failure. */
export function observedHandler({ edge, meter, hooks, now }: CallObserver): Layer {
  return around<ObservedCall>({
    begin(operation, call) {
      meter?.payload(sentContentBytes(operation));
      return { operation, call, startedMs: now(), events: 0 };
    },
    event(observed, event, shape) {
      meter?.payload(receivedContentBytes(event));
      if (shape === "one" || hooks?.onStreamEvent === undefined) return;
      const { operation, call } = observed;
      hooks.onStreamEvent({ edge, traceId: traceIdOf(operation, call), operation, event, index: observed.events++ });
    },
    end({ operation, call, startedMs }, outcome) {
      if (meter !== undefined) record(meter, (now() - startedMs) / 1000, outcome, traceIdOf(operation, call));
      if (outcome.kind === "failed")
        hooks?.onError?.({ edge, traceId: traceIdOf(operation, call), operation, error: outcome.error });
    },
  });
}

/** Calls that the caller cancelled count neither as latency nor as failure of the peer. */
export function record(meter: EdgeMeter, latencySeconds: number, outcome: Outcome, traceId: Maybe<string>): void {
  if (outcome.kind === "stopped" || (outcome.kind === "failed" && outcome.error.code === "cancelled")) return;
  meter.observe(latencySeconds, traceId);
  if (outcome.kind === "failed") meter.fail();
}

interface ObservedAttempt {
  readonly operation: Operation;
  readonly call: Call;
  readonly linked: LinkedCancel;
}

/** Hooks that need to map a request to its call. */
const WIRE_HOOKS = ["beforeEncode", "afterEncode", "beforeTransport", "afterTransport", "onDecode"] as const satisfies HookName[];

/** Directly around a protocol client, inside all policies: each encoded attempt and each decoded event. */
export function observedWire({ edge, hooks }: CallObserver, attempts: Attempts): Layer {
  const everyAttempt = hooks !== undefined && WIRE_HOOKS.some((name) => hooks[name] !== undefined);
  return around<ObservedAttempt>({
    begin(operation, call) {
      const repeats = retriesOf(operation) > 0;
      if (!everyAttempt && !repeats) return undefined;
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
