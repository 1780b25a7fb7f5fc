import {
  AgentError,
  type AgentEvent,
  type Call,
  CallSlot,
  type Handler,
  isPromise,
  type Layer,
  type Maybe,
  type OperationOf,
  type State,
  type Task,
  type TaskEvent,
  TaskFold,
} from "../envelope/index.js";
import type { Clock } from "./clock.js";
import { stateIn } from "./task-id.js";

interface FollowOptions {
  /** Whether the peer can stream; otherwise it is polled. */
  canStream(): boolean;
  readonly clock: Clock;
}

/** On calls whose caller follows an unfinished task itself. */
export const followsItself = new CallSlot<true>();

/** The first and the longest interval of polling. */
const FIRST_POLL_MS = 50;
const LONGEST_POLL_MS = 2_000;
/** Consecutive failed polls. */
const MAX_FAILURES = 5;

/**
 * A send that waits for the answer, to a peer that returns a task before it has ended: follows the task until it ends or asks,
 * by subscribing where the peer streams, else by polling. The deadline and cancellation of the call hold for all of it; the task
 * itself continues, as after any wait that was given up.
 */
export function followTasks(options: FollowOptions): Layer {
  return (next) =>
    function followed(operation, call) {
      const reply = next(operation, call);
      if (operation.kind !== "send" || operation.delivery !== "answer" || !isPromise(reply)) return reply;
      return reply.then((event) =>
        event.kind === "task" && !isSettled(event.task.status.state) && followsItself.of(call) !== true
          ? new Following(options, next, operation, call).end(event.task)
          : event,
      );
    };
}

/** Also `unknown`: some versions have no name for a state that may be the last, and waiting would never end. */
function isSettled(state: State): boolean {
  return state !== "submitted" && state !== "working" && state !== "canceling";
}

class Following {
  readonly #options: FollowOptions;
  readonly #handler: Handler;
  readonly #operation: OperationOf<"send">;
  readonly #call: Call;

  constructor(options: FollowOptions, handler: Handler, operation: OperationOf<"send">, call: Call) {
    this.#options = options;
    this.#handler = handler;
    this.#operation = operation;
    this.#call = call;
  }

  async end(task: Task): Promise<AgentEvent> {
    try {
      const seen = this.#options.canStream() ? await this.#subscribe(task) : undefined;
      return { kind: "task", task: await this.#poll(task.id, seen) };
    } catch (thrown) {
      // The message was sent, whatever failed afterwards: it must not be sent again.
      const error = AgentError.from(thrown);
      throw new AgentError(error.code, error.message, {
        ...error.facts,
        sent: "maybe",
        detail: { ...error.facts.detail, taskId: task.id },
        cause: error,
      });
    }
  }

  /** The task as its stream shows it at the end; undefined if the stream cannot be read to its end. */
  async #subscribe(task: Task): Promise<Maybe<Task>> {
    const reply = this.#handler({ kind: "task.subscribe", taskId: task.id, follow: true }, this.#call);
    if (isPromise(reply)) return void (await reply.catch(() => undefined));
    const fold = new TaskFold(task);
    try {
      for await (const event of reply) {
        // `checkAnswers` has rejected all other kinds.
        fold.apply(event as TaskEvent);
        const state = stateIn(event);
        if (state !== undefined && isSettled(state)) return fold.snapshot();
      }
    } catch (thrown) {
      if (this.#call.cancel.cancelled) throw thrown;
    }
    return undefined;
  }

  /** The task as the peer stores it: events before the subscription are in no stream. `seen` serves where it is stored no longer. */
  async #poll(taskId: string, seen: Maybe<Task>): Promise<Task> {
    const { clock } = this.#options;
    const { historyLength } = this.#operation;
    let failures = 0;
    for (let waitMs = FIRST_POLL_MS; ; waitMs = Math.min(waitMs * 2, LONGEST_POLL_MS)) {
      try {
        const event = await this.#handler({ kind: "task.get", taskId, historyLength }, this.#call);
        if ("kind" in event && event.kind === "task" && isSettled(event.task.status.state)) return event.task;
        failures = 0;
      } catch (thrown) {
        failures += 1;
        if (this.#call.cancel.cancelled) throw thrown;
        if (seen !== undefined) return seen;
        if (!isTransient(AgentError.from(thrown)) || failures >= MAX_FAILURES) throw thrown;
      }
      await clock.sleep(waitMs, this.#call.cancel);
    }
  }
}

function isTransient({ code }: AgentError): boolean {
  return code === "interrupted" || code === "unavailable" || code === "overloaded";
}
