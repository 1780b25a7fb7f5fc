import type { Envelope, EventOf } from "../../src/index.js";

/** What a recording calls by ids of its own time, under the ids of now. */
export class ReplayIds {
  readonly #newId: () => string;
  readonly #sessions = new Map<string, string>();
  readonly #tasks = new Map<string, string>();
  readonly #messages = new Map<string, string>();
  readonly #traces = new Map<string, string>();

  constructor(newId: () => string) {
    this.#newId = newId;
  }

  /** Undefined for a follow-up whose task was never replayed. */
  envelopeFor(recorded: Envelope, src: string, dst: string, nowMs: number): Envelope | undefined {
    const { context } = recorded;
    const taskId = context.taskId === undefined ? undefined : this.#tasks.get(context.taskId);
    if (context.taskId !== undefined && taskId === undefined) return undefined;
    const id = this.#newId();
    this.#messages.set(recorded.id, id);
    return {
      ...recorded,
      id,
      ts: nowMs / 1000,
      src,
      dst,
      context: {
        ...context,
        taskId,
        sessionId: context.sessionId === undefined ? undefined : this.#fresh(this.#sessions, context.sessionId),
        traceId: context.traceId === undefined ? undefined : this.#fresh(this.#traces, context.traceId),
        parentId: context.parentId === undefined ? undefined : this.#messages.get(context.parentId),
        // The same key would give the answer of an earlier replay.
        idempotencyKey: undefined,
      },
      // The way is chosen here, and what was said about the recording is not for the agent.
      meta: {},
      references: undefined,
      proofs: undefined,
      extra: undefined,
    };
  }

  /** Follow-ups name what the recorded answer named; they go to what this one names. */
  answered(recorded: Envelope | undefined, event: EventOf<"send">): void {
    const now = namesIn(event);
    const { taskId, sessionId } = recorded?.context ?? {};
    if (taskId !== undefined && now.taskId !== undefined) this.#tasks.set(taskId, now.taskId);
    if (sessionId !== undefined && now.sessionId !== undefined) this.#sessions.set(sessionId, now.sessionId);
    if (recorded !== undefined && recorded.id !== "" && now.messageId !== undefined)
      this.#messages.set(recorded.id, now.messageId);
  }

  #fresh(ids: Map<string, string>, recorded: string): string {
    const known = ids.get(recorded) ?? this.#newId();
    ids.set(recorded, known);
    return known;
  }
}

interface Names {
  readonly messageId?: string | undefined;
  readonly taskId?: string | undefined;
  readonly sessionId?: string | undefined;
}

function namesIn(event: EventOf<"send">): Names {
  if (event.kind === "message") {
    const { id, context } = event.message;
    return { messageId: id, taskId: context.taskId, sessionId: context.sessionId };
  }
  if (event.kind === "task") return { taskId: event.task.id, sessionId: event.task.contextId };
  return { taskId: event.taskId, sessionId: event.contextId };
}
