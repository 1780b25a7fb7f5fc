import type { Envelope } from "./envelope.js";
import type { ErrorCode } from "./error.js";
import type { Maybe, Metadata } from "./json.js";
import type { Part } from "./part.js";

/** A position in a task's log. Opaque to clients; it identifies task and sequence, so that resuming needs no other state. */
export type Cursor = string & { readonly __cursor: never };

/** Why a task failed, as an error code that every protocol can express. */
export interface Failure {
  readonly code: ErrorCode;
  readonly message: string;
}

interface StatusFields {
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly message?: Maybe<Envelope>;
}

/** The state of a task, with its message and time. */
export type Status =
  | (StatusFields & { readonly state: "submitted" | "working" | "canceling" | "unknown" })
  | (StatusFields & { readonly state: "input-required" | "auth-required" })
  | (StatusFields & { readonly state: "completed" | "canceled" | "rejected" })
  | (StatusFields & { readonly state: "failed"; readonly error?: Maybe<Failure> });
/** The name of a task state. */
export type State = Status["state"];

/** A named result of a task. */
export interface Artifact {
  readonly id: string;
  readonly name?: Maybe<string>;
  readonly description?: Maybe<string>;
  readonly parts: readonly Part[];
  readonly metadata?: Maybe<Metadata>;
  readonly extensions?: Maybe<readonly string[]>;
}

/** A task: its status, artifacts and message history. */
export interface Task {
  readonly id: string;
  readonly contextId: string;
  readonly status: Status;
  readonly artifacts: readonly Artifact[];
  readonly history: readonly Envelope[];
  readonly metadata?: Maybe<Metadata>;
}

/** Final: no further event may follow. */
export function isTerminal(state: State): boolean {
  return state === "completed" || state === "failed" || state === "canceled" || state === "rejected";
}

/** The turn has ended and the caller must act. */
export function isInterrupted(state: State): boolean {
  return state === "input-required" || state === "auth-required";
}

/** A webhook that receives the events of a task. */
export interface PushConfig {
  /** The task whose events are sent. */
  readonly taskId: string;
  /** Identifies the configuration within the task. */
  readonly id: string;
  /** The webhook. */
  readonly url: string;
  /** Sent with every notification, so that the receiver can verify the sender. */
  readonly token?: Maybe<string>;
  /** Credentials for the `Authorization` header of every notification. */
  readonly authentication?: Maybe<{ readonly scheme: string; readonly credentials?: Maybe<string> }>;
  /** The protocol it was registered with: its version determines the payload format. */
  readonly via?: Maybe<{ readonly protocol: string; readonly version: string }>;
  /** The security that the call had which set it, by name: notifications must have it too. Set by the server only. */
  readonly floor?: Maybe<string>;
  /** Delivery state. Set by the sender only. */
  readonly delivery?: Maybe<PushDelivery>;
}

/** `waiting`: nothing is due. `retrying`: the last attempt failed and another follows. `gave_up`: nothing more is sent. */
export interface PushDelivery {
  readonly state: "waiting" | "pending" | "retrying" | "gave_up";
  /** The last journal entry that was accepted. */
  readonly seq: number;
  /** Failed attempts for the next entry. */
  readonly failures: number;
  /** Milliseconds since the epoch of the next attempt. */
  readonly nextAt?: Maybe<number>;
  /** The last error, without secrets. */
  readonly problem?: Maybe<string>;
}
