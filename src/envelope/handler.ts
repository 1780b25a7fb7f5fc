import type { CallerCredential } from "./caller-credential.js";
import type { Cancel } from "./cancel.js";
import type { AgentEvent } from "./event.js";
import type { Head } from "./head.js";
import type { Maybe } from "./json.js";
import type { Loss, LossSink } from "./loss.js";
import type { Operation } from "./operation.js";

/** One event, or many. A promise is the whole answer; an iterable ends well only after a closing event; both fail with AgentError. */
export type Reply = Promise<AgentEvent> | AsyncIterable<AgentEvent>;
/** An agent, a remote peer, a peer wrapped in policies, a gateway: all have this type. */
export type Handler = (operation: Operation, call: Call) => Reply;
/** A policy: the same on client, server and gateway. */
export type Layer = (next: Handler) => Handler;

/** Who calls. Owner of what it makes. */
export interface Principal {
  readonly id: string;
  readonly scheme: "anonymous" | "key" | "bearer" | "mtls" | "did" | "self";
  readonly tenant?: Maybe<string>;
  readonly scopes: readonly string[];
  /** Tenant, scheme and subject as one string: what a task belongs to. */
  readonly owner: string;
}

/** The least protection every hop from here on must give. Only ever raised. */
export interface Floor {
  readonly encrypted: boolean;
  readonly signed: boolean;
  readonly endToEnd: boolean;
  readonly identity: boolean;
}
export const NO_FLOOR: Floor = Object.freeze({ encrypted: false, signed: false, endToEnd: false, identity: false });

/** Which wire the call came in by. */
export interface Via {
  readonly protocol: string;
  readonly version: string;
  readonly binding: string;
}

export interface CallChange {
  readonly agent?: string;
  readonly via?: Via;
  readonly parameters?: Head;
  readonly deadline?: number;
  readonly floor?: Floor;
  readonly hops?: number;
  readonly credential?: CallerCredential;
  readonly cancel?: Cancel;
  readonly lose?: LossSink;
}

/** Everything about one call that is not the operation. An object with lazy members: derive it, never spread it. */
export interface Call {
  /** Which of the served agents is meant. */
  readonly agent: string;
  readonly caller: Principal;
  /** What the caller showed, where an agent behind a gateway is to be shown it too. Undefined everywhere else. */
  readonly credential: Maybe<CallerCredential>;
  readonly via: Via;
  /** Inbound headers a protocol declares: extensions, tenant, traceparent. */
  readonly parameters: Head;
  readonly hops: number;
  readonly floor: Floor;
  /** On the injected clock, absolute, in milliseconds. Limits the wait for the answer. */
  readonly deadline: Maybe<number>;
  /** The caller stopped listening. Ends the answer, not the work: only `task.cancel` and `ttlMs` stop work. */
  readonly cancel: Cancel;
  /** The same as a platform signal, made on first use. */
  readonly signal: AbortSignal;
  reportLoss(loss: Loss): void;
  derive(change: CallChange): Call;
}

/** True for the one-event answer. */
export function isPromise(reply: Reply): reply is Promise<AgentEvent> {
  return typeof (reply as { readonly then?: unknown }).then === "function";
}
