import type { AgentError, AgentEvent, Maybe, Operation } from "../envelope/index.js";
import type { Edge } from "./edge.js";

/** On every note: between whom, and in which trace. */
export interface Noted {
  readonly edge: Edge;
  readonly traceId: Maybe<string>;
}
export interface EncodeNote extends Noted {
  readonly operation: Operation;
}
export interface EncodedNote extends Noted {
  /** Undefined when the client half sent a request that belongs to no call, such as a look at a card. */
  readonly operation: Maybe<Operation>;
  /** The protocol's own body. Not a copy: do not write to it. */
  readonly payload: Uint8Array;
}
export interface TransportNote extends Noted {
  readonly method: string;
  /** Where it goes, without query; header fields are left out because they hold credentials. */
  readonly target: string;
  readonly bytes: number;
}
export interface TransportedNote extends TransportNote {
  /** Undefined when no response came. */
  readonly status: Maybe<number>;
  readonly receivedBytes: number;
  /** From the request to the last byte of the response. */
  readonly elapsedMs: number;
  /** Set when the exchange failed, also in the middle of a streamed body. */
  readonly error: Maybe<AgentError>;
}
export interface StreamEventNote extends Noted {
  readonly operation: Operation;
  readonly event: AgentEvent;
  /** Counts from 0. */
  readonly index: number;
}
export interface DecodeNote extends Noted {
  readonly operation: Operation;
  readonly event: AgentEvent;
}
/** What a policy says that tries again; see `policyWatch`. */
export interface RetryNote extends Noted {
  /** The try that comes now; the first retry is 1. */
  readonly attempt: number;
  readonly error: AgentError;
}
export interface BackoffNote extends RetryNote {
  readonly waitMs: number;
}
export interface ErrorNote extends Noted {
  readonly operation: Operation;
  readonly error: AgentError;
}

/** What an observer of outgoing calls may want to see, in the order in which it happens. */
export interface Hooks {
  /** An operation is about to become a protocol payload; once per try. */
  beforeEncode?(note: EncodeNote): void;
  afterEncode?(note: EncodedNote): void;
  beforeTransport?(note: TransportNote): void;
  /** The response is complete, or will never be. */
  afterTransport?(note: TransportedNote): void;
  /** The payload of an answer has become an event. */
  onDecode?(note: DecodeNote): void;
  /** Each event of a streamed answer as the caller gets it. */
  onStreamEvent?(note: StreamEventNote): void;
  onBackoff?(note: BackoffNote): void;
  onRetry?(note: RetryNote): void;
  /** The call failed for good. */
  onError?(note: ErrorNote): void;
}

export type HookName = keyof Hooks;
export type HookErrorSink = (thrown: unknown, hook: HookName) => void;

type Notes = { readonly [Name in HookName]: Parameters<Required<Hooks>[Name]>[0] };
type AnyHook<Name extends HookName> = (note: Notes[Name]) => unknown;

/** Many observers as one. None can break the call, or keep another from seeing it; what they throw goes to the sink. */
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

/** The one member, or none when nobody wants it: an absent hook costs nothing where it would be called. */
function combined<Name extends HookName>(
  name: Name,
  observers: readonly Hooks[],
  onHookError: HookErrorSink | undefined,
): { readonly [Key in Name]?: AnyHook<Name> } {
  const listening = observers.filter((observer) => observer[name] !== undefined);
  if (listening.length === 0) return {};
  const hook = (note: Notes[Name]): void => {
    for (const observer of listening) tell(observer, name, note, onHookError);
  };
  return { [name]: hook } as { readonly [Key in Name]: AnyHook<Name> }; // a computed key widens to string otherwise
}

function tell<Name extends HookName>(
  observer: Hooks,
  name: Name,
  note: Notes[Name],
  onHookError: HookErrorSink | undefined,
): void {
  try {
    const hook = observer[name] as AnyHook<Name>; // only observers that have this hook are asked, and Notes pairs them
    const told = hook.call(observer, note);
    // An async observer fails later; left alone that would end the process.
    if (told instanceof Promise) told.catch((thrown: unknown) => report(thrown, name, onHookError));
  } catch (thrown) {
    report(thrown, name, onHookError);
  }
}

function report(thrown: unknown, name: HookName, onHookError: HookErrorSink | undefined): void {
  try {
    onHookError?.(thrown, name);
  } catch {
    // The sink of last resort failed; the call goes on all the same.
  }
}
