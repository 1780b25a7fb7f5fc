import type { Card } from "./card.js";
import type { Envelope } from "./envelope.js";
import type { Head } from "./head.js";
import type { Maybe, Metadata } from "./json.js";
import type { OperationKind } from "./operation.js";
import type { Artifact, Cursor, PushConfig, Status, Task } from "./task.js";
import { isInterrupted, isTerminal } from "./task.js";

interface EventFields {
  readonly head?: Maybe<Head>;
  readonly cursor?: Maybe<Cursor>;
}
type On<K extends string, Fields> = EventFields & { readonly kind: K } & Fields;
interface OfTask {
  readonly taskId: string;
  readonly contextId: string;
  readonly metadata?: Maybe<Metadata>;
}

/** What a handler returns, one or many. A closed union. */
export type AgentEvent =
  | On<"message", { readonly message: Envelope }>
  | On<"task", { readonly task: Task }>
  | On<"status", OfTask & { readonly status: Status }>
  | On<"artifact", OfTask & { readonly artifact: Artifact; readonly append: boolean; readonly last: boolean }>
  | On<
      "tasks",
      {
        readonly tasks: readonly Task[];
        readonly nextPageToken: string;
        readonly pageSize: number;
        readonly totalSize: number;
      }
    >
  | On<"push", { readonly config: PushConfig }>
  | On<"pushes", { readonly configs: readonly PushConfig[]; readonly nextPageToken: string }>
  | On<"card", { readonly card: Card }>
  | On<"done", unknown>;
export type EventKind = AgentEvent["kind"];

/** The same event with a cursor. Member by member: a spread costs several times as much, and this runs for every event of a stream. */
export function withCursor(event: AgentEvent, cursor: Cursor): AgentEvent {
  switch (event.kind) {
    case "task":
      return { kind: "task", task: event.task, head: event.head, cursor };
    case "status": {
      const { taskId, contextId, status, metadata, head } = event;
      return { kind: "status", taskId, contextId, status, metadata, head, cursor };
    }
    case "artifact": {
      const { taskId, contextId, artifact, append, last, metadata, head } = event;
      return { kind: "artifact", taskId, contextId, artifact, append, last, metadata, head, cursor };
    }
    default:
      return { ...event, cursor };
  }
}

/** The event kinds that may answer each operation. Any other kind is refused as a peer error. */
export const ANSWERS = {
  send: ["message", "task", "status", "artifact"],
  "task.subscribe": ["task", "status", "artifact"],
  "task.get": ["task"],
  "task.cancel": ["task"],
  "task.list": ["tasks"],
  "push.set": ["push"],
  "push.get": ["push"],
  "push.list": ["pushes"],
  "push.delete": ["done"],
  "session.close": ["done"],
  card: ["card"],
  ping: ["done"],
} as const satisfies Record<OperationKind, readonly EventKind[]>;

/** The events that answer an operation. */
export type EventOf<K extends OperationKind> = Extract<AgentEvent, { readonly kind: (typeof ANSWERS)[K][number] }>;

/**
 * A stream ends normally only after a closing event: a bare message, a terminal state, a state that waits for the caller, or the event
 * of a single-event operation. Any other end is a cut.
 */
export function isClosing(event: AgentEvent): boolean {
  switch (event.kind) {
    case "task":
      return isTerminal(event.task.status.state) || isInterrupted(event.task.status.state);
    case "status":
      return isTerminal(event.status.state) || isInterrupted(event.status.state);
    case "artifact":
      return false;
    case "message":
    case "tasks":
    case "push":
    case "pushes":
    case "card":
    case "done":
      return true;
    default:
      return event satisfies never;
  }
}
