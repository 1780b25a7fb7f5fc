import { type EventOf, isClosing, type Task } from "../../src/index.js";
import { TaskFold } from "../../src/public/protocols.js";

type Answer = EventOf<"send">;

/** Where a caller stands in a stream: enough to say how to go on if it is cut. */
export class StreamPosition {
  taskId: string | undefined;
  cursor: string | undefined;
  state: string | undefined;
  closed = false;

  see(event: Answer): void {
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

/** A stream as the one answer it amounts to, for a caller who wants only that but likes to see progress. */
export async function foldAnswer(events: AsyncIterable<Answer>, see: (event: Answer) => void): Promise<Answer | undefined> {
  let fold: TaskFold | undefined;
  let last: Answer | undefined;
  for await (const event of events) {
    see(event);
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
