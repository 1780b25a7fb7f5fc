import type { Call, CallSlot, Layer, Maybe, Operation } from "../envelope/index.js";
import { around, type Outcome } from "../policies/index.js";
import { traceIdOf } from "../policies/trace-id.js";
import { ByteAccount, type ByteAccounts } from "./byte-account.js";
import { receivedContentBytes, sentContentBytes } from "./content-bytes.js";
import type { Edge } from "./edge.js";
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
  readonly account: Maybe<ByteAccount>;
  events: number;
}

/** Outside all policies: total latency, delivered content and final failure. */
export function observedHandler({ edge, meter, hooks, now }: CallObserver, accounts: ByteAccounts): Layer {
  return around<ObservedCall>({
    begin(operation, call) {
      if (operation.kind === "ping") return undefined; // a check of the connection is no call
      const account = meter && new ByteAccount(meter);
      account?.content(sentContentBytes(operation));
      return { operation, call, startedMs: now(), account, events: 0 };
    },
    under({ account }, call) {
      if (account === undefined) return call;
      const accounted = call.derive({});
      accounts.put(accounted, account);
      return accounted;
    },
    event(observed, event, shape) {
      observed.account?.content(receivedContentBytes(event));
      if (shape === "one" || hooks?.onStreamEvent === undefined) return;
      const { operation, call } = observed;
      hooks.onStreamEvent({ edge, traceId: traceIdOf(operation, call), operation, event, index: observed.events++ });
    },
    end({ operation, call, startedMs, account }, outcome) {
      account?.settle();
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

/** One attempt of a call. Its requests find it by their call. */
export interface Attempt {
  readonly operation: Operation;
  readonly traceId: Maybe<string>;
}

/** Hooks that need to map a request to its call. */
const WIRE_HOOKS = ["beforeEncode", "afterEncode", "beforeTransport", "afterTransport", "onDecode"] as const satisfies HookName[];

/** Directly around a protocol client, inside all policies: each encoded attempt and each decoded event. */
export function observedWire({ edge, hooks }: CallObserver, attempts: CallSlot<Attempt>): Layer {
  const everyAttempt = hooks !== undefined && WIRE_HOOKS.some((name) => hooks[name] !== undefined);
  return around<Attempt>({
    begin(operation, call) {
      if (!everyAttempt) return undefined;
      const traceId = traceIdOf(operation, call);
      hooks?.beforeEncode?.({ edge, traceId, operation });
      return { operation, traceId };
    },
    under(attempt, call) {
      const attempted = call.derive({});
      attempts.put(attempted, attempt);
      return attempted;
    },
    event({ operation, traceId }, event) {
      hooks?.onDecode?.({ edge, traceId, operation, event });
    },
    end: () => undefined,
  });
}
