import type { Envelope } from "./envelope.js";
import type { ErrorCode } from "./error.js";
import type { Maybe, Metadata } from "./json.js";
import type { Part } from "./part.js";

/** Why a task failed, in our own codes, so that every wire can say it in its own. */
export interface Failure {
  readonly code: ErrorCode;
  readonly message: string;
}

interface StatusFields {
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly message?: Maybe<Envelope>;
}

export type Status =
  | (StatusFields & { readonly state: "submitted" | "working" | "canceling" | "unknown" })
  | (StatusFields & { readonly state: "input-required" | "auth-required" })
  | (StatusFields & { readonly state: "completed" | "canceled" | "rejected" })
  | (StatusFields & { readonly state: "failed"; readonly error?: Maybe<Failure> });
export type State = Status["state"];

export interface Artifact {
  readonly id: string;
  readonly name?: Maybe<string>;
  readonly description?: Maybe<string>;
  readonly parts: readonly Part[];
  readonly metadata?: Maybe<Metadata>;
  readonly extensions?: Maybe<readonly string[]>;
}

export interface Task {
  readonly id: string;
  readonly contextId: string;
  readonly status: Status;
  readonly artifacts: readonly Artifact[];
  readonly history: readonly Envelope[];
  readonly metadata?: Maybe<Metadata>;
}

/** Final: no event follows, and none may. */
export function isTerminal(state: State): boolean {
  return state === "completed" || state === "failed" || state === "canceled" || state === "rejected";
}

/** The turn is over and the caller has to act. */
export function isInterrupted(state: State): boolean {
  return state === "input-required" || state === "auth-required";
}

/** Where a caller wants to be told of what happens to a task. */
export interface PushConfig {
  readonly taskId: string;
  readonly id: string;
  readonly url: string;
  readonly token?: Maybe<string>;
  readonly authentication?: Maybe<{ readonly scheme: string; readonly credentials?: Maybe<string> }>;
  /** The wire it was asked for by: its version decides the form of what is sent. */
  readonly via?: Maybe<{ readonly protocol: string; readonly version: string }>;
  /** How far it was told. Known to the one who tells; nobody sets it. */
  readonly delivery?: Maybe<PushDelivery>;
}

/** `waiting`: nothing is due. `retrying`: the last try failed and another follows. `gave_up`: nothing more is sent. */
export interface PushDelivery {
  readonly state: "waiting" | "pending" | "retrying" | "gave_up";
  /** The last journal entry that was accepted. */
  readonly seq: number;
  /** Tries of the next entry that failed. */
  readonly failures: number;
  /** Milliseconds since the epoch: when the next try is due. */
  readonly nextAt?: Maybe<number>;
  /** What went wrong last, without secrets. */
  readonly problem?: Maybe<string>;
}
