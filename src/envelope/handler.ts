import type { CallerCredential } from "./caller-credential.js";
import type { Cancel } from "./cancel.js";
import type { AgentEvent } from "./event.js";
import type { Floor } from "./floor.js";
import type { Head } from "./head.js";
import type { Maybe } from "./json.js";
import type { Operation } from "./operation.js";

/** Something that a protocol cannot represent. Always reported: to the call, metrics, traces and the inspector. */
export interface Loss {
  readonly protocol: string;
  /** Path in the envelope model: `message.parts[0].name`. */
  readonly path: string;
  readonly valueKind: string;
  readonly reason: string;
}
/** Receives the losses of a codec. */
export type LossSink = (loss: Loss) => void;

/** One event or many. A promise is the complete answer; an iterable ends normally only after a closing event; both fail with AgentError. */
export type Reply = Promise<AgentEvent> | AsyncIterable<AgentEvent>;
/** The common type of an agent, a remote peer, a peer with policies and a gateway. */
export type Handler = (operation: Operation, call: Call) => Reply;
/** A policy: the same for client, server and gateway. */
export type Layer = (next: Handler) => Handler;

/** The authenticated caller, which owns what it creates. */
export interface Principal {
  readonly id: string;
  readonly scheme: "anonymous" | "key" | "bearer" | "mtls" | "signature" | "did" | "self";
  readonly tenant?: Maybe<string>;
  /** The tenants that a caller without one may name. Undefined: none, unless the caller is anonymous. */
  readonly tenants?: Maybe<readonly string[]>;
  readonly scopes: readonly string[];
  /** Tenant, scheme and subject as one string: the owner of a task. */
  readonly owner: string;
}

/** An authenticated caller, with what its request proved. */
export interface Admitted {
  readonly principal: Principal;
  /** Raises the floor of its calls. */
  readonly proved?: Maybe<Partial<Floor>>;
  /** Response headers: `Authentication-Info`, the next challenge nonce. */
  readonly head?: Maybe<Head>;
}

/** The protocol, version and binding of a call. */
export interface Via {
  readonly protocol: string;
  readonly version: string;
  readonly binding: string;
}

export interface CallChange {
  readonly agent?: string;
  /** The verified author of the message or request, where another caller only brings it. What the call creates is the author's. */
  readonly caller?: Principal;
  readonly via?: Via;
  readonly parameters?: Head;
  readonly deadline?: number;
  readonly floor?: Floor;
  readonly hops?: number;
  readonly credential?: CallerCredential;
  readonly cancel?: Cancel;
  readonly reportLoss?: LossSink;
}

/** Everything about a call except the operation. Members are lazy: use `derive`, never spread it. */
export interface Call {
  /** The called agent. */
  readonly agent: string;
  readonly caller: Principal;
  /** The caller's credential, if a gateway forwards it upstream. Otherwise undefined. */
  readonly credential: Maybe<CallerCredential>;
  readonly via: Via;
  /** Inbound headers that a protocol declares: extensions, tenant, traceparent. */
  readonly parameters: Head;
  readonly hops: number;
  readonly floor: Floor;
  /** Absolute, in milliseconds on the injected clock. Limits the wait for the answer. */
  readonly deadline: Maybe<number>;
  /** Cancelled when the caller stops listening. Ends the answer, not the work: only `task.cancel` and `ttlMs` stop work. */
  readonly cancel: Cancel;
  /** The same as an AbortSignal, created on first use. */
  readonly signal: AbortSignal;
  reportLoss(loss: Loss): void;
  derive(change: CallChange): Call;
}

/** True for a single-event reply. */
export function isPromise(reply: Reply): reply is Promise<AgentEvent> {
  return typeof (reply as { readonly then?: unknown }).then === "function";
}
