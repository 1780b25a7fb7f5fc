import type { Cursor } from "./cursor.js";
import type { Envelope } from "./envelope.js";
import type { Maybe, Metadata } from "./json.js";
import type { PushConfig, State } from "./task.js";

/** What a caller wants. Closed: an operation that does not fit widens this union; there is no side door. */
export type Operation =
  | {
      readonly kind: "send";
      readonly envelope: Envelope;
      /** `answer` waits for a closing event, `accepted` for the task to exist, `stream` takes everything. */
      readonly delivery: "answer" | "accepted" | "stream";
      /** `always` where the wire has no bare reply, or a push config or a key needs something to hold on to. */
      readonly task: "auto" | "always";
      readonly historyLength?: Maybe<number>;
      readonly outputModes?: Maybe<readonly string[]>;
      readonly push?: Maybe<PushConfig>;
      /** Not a new message: a stream that was lost is taken up behind this place. */
      readonly after?: Maybe<Cursor>;
      /** The request's own metadata, beside the message's. */
      readonly metadata?: Maybe<Metadata>;
    }
  | { readonly kind: "task.get"; readonly taskId: string; readonly historyLength?: Maybe<number> }
  | {
      readonly kind: "task.list";
      readonly contextId?: Maybe<string>;
      /** Finds the work a lost send has started. */
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
      /** A task that is canceled already is refused like any other that has ended. Default: it is given as it is. */
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

/** Operations that change nothing: a second try can do no harm. */
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
