import { type EventOf, isClosing, type Task } from "../../src/index.js";
import { TaskFold } from "../../src/public/protocols.js";

type Answer = EventOf<"send">;

/** The position in a stream: enough to resume it after an interruption. */
export class StreamPosition {
  taskId: string | undefined;
  cursor: string | undefined;
  state: string | undefined;
  closed = false;

  observe(event: Answer): void {
    this.cursor = event.cursor ?? this.cursor;
    this.closed = isClosing(event);
    if (event.kind === "task") {
      this.taskId = event.task.id;
      this.state = event.task.status.state;
    } else if (event.kind === "message") {
      this.taskId = event.message.context.taskId ?? this.taskId;
    } else {
      this.taskId = event.taskId;
      if (event.kind === "status") this.state = event.status.state;
    }
  }
}

/** Folds a stream into its final answer, reporting each event. */
export async function foldAnswer(events: AsyncIterable<Answer>, onEvent: (event: Answer) => void): Promise<Answer | undefined> {
  let fold: TaskFold | undefined;
  let last: Answer | undefined;
  for await (const event of events) {
    onEvent(event);
    last = event;
    if (event.kind === "message") continue;
    // A stream that does not begin with a task still has one.
    fold ??= new TaskFold(event.kind === "task" ? event.task : taskOf(event));
    fold.apply(event);
  }
  return fold === undefined || last?.kind === "message" ? last : { kind: "task", task: fold.snapshot(), cursor: last?.cursor };
}

function taskOf({ taskId, contextId }: Extract<Answer, { readonly taskId: string }>): Task {
  return { id: taskId, contextId, status: { state: "unknown", at: 0 }, artifacts: [], history: [] };
}
