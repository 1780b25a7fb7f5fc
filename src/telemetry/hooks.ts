import type { AgentError, AgentEvent, Maybe, Operation } from "../envelope/index.js";
import type { Edge } from "./edge.js";

/** Common to all notes: the edge and the trace. */
export interface HookNote {
  readonly edge: Edge;
  readonly traceId: Maybe<string>;
}
export interface EncodeNote extends HookNote {
  readonly operation: Operation;
}
export interface EncodedNote extends HookNote {
  /** Undefined for a request outside any call, such as fetching a card, and for a message of a session that belongs to none. */
  readonly operation: Maybe<Operation>;
  /** The protocol body, or a message of a session. Not a copy: do not modify it. */
  readonly payload: Uint8Array;
}
export interface TransportNote extends HookNote {
  readonly method: string;
  /** The URL without its query. Header fields are omitted because they hold credentials. */
  readonly target: string;
  readonly bytes: number;
}
export interface TransportedNote extends TransportNote {
  /** Undefined if no response arrived; 101 if a session was opened. */
  readonly status: Maybe<number>;
  readonly receivedBytes: number;
  /** From the request to the last byte of the response. */
  readonly elapsedMs: number;
  /** Set if the exchange failed, also in the middle of a streamed body. */
  readonly error: Maybe<AgentError>;
}
export interface StreamEventNote extends HookNote {
  readonly operation: Operation;
  readonly event: AgentEvent;
  /** Starts at 0. */
  readonly index: number;
}
export interface DecodeNote extends HookNote {
  readonly operation: Operation;
  readonly event: AgentEvent;
}
/** Reported by a retrying policy; see `policyWatch`. */
export interface RetryNote extends HookNote {
  /** The attempt that starts now; the first retry is 1. */
  readonly attempt: number;
  readonly error: AgentError;
}
export interface BackoffNote extends RetryNote {
  readonly waitMs: number;
}
export interface ErrorNote extends HookNote {
  readonly operation: Operation;
  readonly error: AgentError;
}

/** Callbacks for outgoing calls, in the order in which they run. */
export interface Hooks {
  /** Before an operation is encoded; once per attempt. */
  beforeEncode?(note: EncodeNote): void;
  /** Before a request is sent; also for each message that was sent in a session. */
  afterEncode?(note: EncodedNote): void;
  /** Before a request is sent, the upgrade request of a session included. Not called for the messages of a session. */
  beforeTransport?(note: TransportNote): void;
  /**
   * The response is complete or has failed; the upgrade was accepted or refused. Not called for the messages of a session: they have
   * no response at this level. `onDecode` reports what was received.
   */
  afterTransport?(note: TransportedNote): void;
  /** A payload was decoded to an event. */
  onDecode?(note: DecodeNote): void;
  /** Each event of a streamed answer, as delivered to the caller. */
  onStreamEvent?(note: StreamEventNote): void;
  onBackoff?(note: BackoffNote): void;
  onRetry?(note: RetryNote): void;
  /** The call failed after all retries. */
  onError?(note: ErrorNote): void;
}

export type HookName = keyof Hooks;
export type HookErrorSink = (thrown: unknown, hook: HookName) => void;

type Notes = { readonly [Name in HookName]: Parameters<Required<Hooks>[Name]>[0] };
type AnyHook<Name extends HookName> = (note: Notes[Name]) => unknown;

/** Combines several observers. An observer that throws affects neither the call nor the others; the error goes to `onHookError`. */
export function combineHooks(observers: readonly Hooks[], onHookError?: HookErrorSink): Hooks {
  return {
    ...combined("beforeEncode", observers, onHookError),
    ...combined("afterEncode", observers, onHookError),
    ...combined("beforeTransport", observers, onHookError),
    ...combined("afterTransport", observers, onHookError),
    ...combined("onDecode", observers, onHookError),
    ...combined("onStreamEvent", observers, onHookError),
    ...combined("onBackoff", observers, onHookError),
    ...combined("onRetry", observers, onHookError),
    ...combined("onError", observers, onHookError),
  };
}

/** Omits a hook that no observer has, so that it costs nothing at the call site. */
function combined<Name extends HookName>(
  name: Name,
  observers: readonly Hooks[],
  onHookError: HookErrorSink | undefined,
): { readonly [Key in Name]?: AnyHook<Name> } {
  const listening = observers.filter((observer) => observer[name] !== undefined);
  if (listening.length === 0) return {};
  const hook = (note: Notes[Name]): void => {
    for (const observer of listening) notify(observer, name, note, onHookError);
  };
  return { [name]: hook } as { readonly [Key in Name]: AnyHook<Name> }; // a computed key widens to string otherwise
}

function notify<Name extends HookName>(
  observer: Hooks,
  name: Name,
  note: Notes[Name],
  onHookError: HookErrorSink | undefined,
): void {
  try {
    const hook = observer[name] as AnyHook<Name>; // filtered for observers with this hook, and Notes pairs them
    const result = hook.call(observer, note);
    // An unhandled rejection of an async observer would end the process.
    if (result instanceof Promise) result.catch((thrown: unknown) => report(thrown, name, onHookError));
  } catch (thrown) {
    report(thrown, name, onHookError);
  }
}

function report(thrown: unknown, name: HookName, onHookError: HookErrorSink | undefined): void {
  try {
    onHookError?.(thrown, name);
  } catch {
    // The error sink itself failed; the call continues.
  }
}
