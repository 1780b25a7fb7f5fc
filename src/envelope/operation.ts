import type { Envelope } from "./envelope.js";
import type { Maybe, Metadata } from "./json.js";
import type { Cursor, PushConfig, State } from "./task.js";

/** A request to an agent. A closed union: new operations extend it. */
export type Operation =
  | {
      readonly kind: "send";
      readonly envelope: Envelope;
      /** `answer` waits for a closing event, `accepted` for the task to exist, `stream` delivers every event. */
      readonly delivery: "answer" | "accepted" | "stream";
      /** `always` if the protocol has no bare replies, or if a push configuration or an idempotency key requires a task. */
      readonly task: "auto" | "always";
      readonly historyLength?: Maybe<number>;
      readonly outputModes?: Maybe<readonly string[]>;
      readonly push?: Maybe<PushConfig>;
      /** Not a new message: resumes a lost stream after this cursor. */
      readonly after?: Maybe<Cursor>;
      /** Metadata of the request, separate from the message's. */
      readonly metadata?: Maybe<Metadata>;
    }
  | { readonly kind: "task.get"; readonly taskId: string; readonly historyLength?: Maybe<number> }
  | {
      readonly kind: "task.list";
      readonly contextId?: Maybe<string>;
      /** Finds the task that a lost send has started. */
      readonly idempotencyKey?: Maybe<string>;
      readonly state?: Maybe<State>;
      /** Milliseconds since the epoch, inclusive, compared with the time of the last status. */
      readonly changedSince?: Maybe<number>;
      readonly pageSize?: Maybe<number>;
      readonly pageToken?: Maybe<string>;
      readonly historyLength?: Maybe<number>;
      readonly artifacts?: Maybe<boolean>;
    }
  | {
      readonly kind: "task.cancel";
      readonly taskId: string;
      readonly metadata?: Maybe<Metadata>;
      /** Refuse a task that is already canceled, like any other that has ended. By default it is returned as it is. */
      readonly onlyOnce?: Maybe<boolean>;
    }
  /** `follow: false` reads the log and ends; `after` is exclusive. */
  | { readonly kind: "task.subscribe"; readonly taskId: string; readonly after?: Maybe<Cursor>; readonly follow: boolean }
  | { readonly kind: "push.set"; readonly config: PushConfig }
  | { readonly kind: "push.get"; readonly taskId: string; readonly id: string }
  | { readonly kind: "push.delete"; readonly taskId: string; readonly id: string }
  | {
      readonly kind: "push.list";
      readonly taskId: string;
      readonly pageSize?: Maybe<number>;
      readonly pageToken?: Maybe<string>;
    }
  | { readonly kind: "session.close"; readonly sessionId: string }
  | { readonly kind: "card"; readonly extended: boolean }
  | { readonly kind: "ping" };

export type OperationKind = Operation["kind"];
export type OperationOf<K extends OperationKind> = Extract<Operation, { readonly kind: K }>;

/** Operations without side effects, which are safe to retry. */
export function isSafe(operation: Operation): boolean {
  switch (operation.kind) {
    case "task.get":
    case "task.list":
    case "task.subscribe":
    case "push.get":
    case "push.list":
    case "card":
    case "ping":
      return true;
    case "send":
    case "task.cancel":
    case "push.set":
    case "push.delete":
    case "session.close":
      return false;
    default:
      return operation satisfies never;
  }
}
