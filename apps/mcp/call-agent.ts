import { AgentError, type EventOf, isClosing, type Maybe, type Task } from "../../src/index.js";
import type { Clock } from "../../src/public/policies.js";
import { TaskFold } from "../../src/public/protocols.js";
import type { AgentRequest } from "./arguments.js";
import { type FollowOptions, follow } from "./follow.js";
import { LIMITS } from "./limits.js";
import type { Progress } from "./progress.js";

type Answer = EventOf<"send">;

export interface AgentCall extends FollowOptions {
  /** Cancels the call and the task. */
  readonly signal: AbortSignal;
  /** Timeout of the wait. The task continues and can be waited for again. */
  readonly limitMs: number;
  readonly progress: Maybe<Progress>;
}

/** The outcome of a call. With an error there may still be a running task that can be waited for. */
export interface CallEnd {
  readonly answer: Maybe<Answer>;
  readonly error: Maybe<AgentError>;
  readonly taskId: Maybe<string>;
  readonly session: Maybe<string>;
}

/** Sends a message, follows it to the end and reports progress. Never throws: errors are part of the outcome. */
export async function callAgent(call: AgentCall): Promise<CallEnd> {
  const { signal, request, progress, clock, limitMs } = call;
  const response = new ResponseCollector(request);
  const disconnect = new AbortController();
  let stopping: Maybe<Promise<void>>;
  const stop = (): void => {
    stopping ??= stopWork(call, response, disconnect);
  };
  signal.addEventListener("abort", stop, { once: true });
  const cancelTimer = clock.after(limitMs, () => disconnect.abort(tooLong(limitMs)));
  try {
    if (signal.aborted) return response.end(cancelled());
    for await (const event of follow(call, disconnect.signal)) {
      response.add(event);
      await progress?.report(event);
    }
    return response.end(undefined);
  } catch (thrown) {
    return response.end(AgentError.from(thrown));
  } finally {
    cancelTimer();
    signal.removeEventListener("abort", stop);
    progress?.end();
    response.finish();
    await stopping;
  }
}

/** Cancels the task before disconnecting: closing a stream alone does not stop the task. */
async function stopWork({ peer, clock }: AgentCall, response: ResponseCollector, disconnect: AbortController): Promise<void> {
  const taskId = response.taskId ?? (await response.taskIdWithin(LIMITS.taskIdMs, clock));
  try {
    if (taskId !== undefined) await peer.cancelTask(taskId, { signal: AbortSignal.timeout(LIMITS.cancelMs) });
  } catch {
    // Ended meanwhile or not cancelable; the caller is gone.
  } finally {
    disconnect.abort(cancelled());
  }
}

function cancelled(): AgentError {
  return new AgentError("cancelled", "The call was cancelled");
}

function tooLong(ms: number): AgentError {
  return new AgentError("deadline", `The agent did not finish within ${ms / 1000} seconds`);
}

/** Collects the events of a response. */
class ResponseCollector {
  taskId: Maybe<string>;
  #session: Maybe<string>;
  #fold: Maybe<TaskFold>;
  #last: Maybe<Answer>;
  #onTaskId: () => void = () => undefined;

  constructor({ task, session }: AgentRequest) {
    this.taskId = task;
    this.#session = session;
  }

  add(event: Answer): void {
    this.#last = event;
    if (event.kind === "message") {
      this.taskId = event.message.context.taskId ?? this.taskId;
      this.#session = event.message.context.sessionId ?? this.#session;
      return;
    }
    const { id, contextId } = event.kind === "task" ? event.task : { id: event.taskId, contextId: event.contextId };
    this.taskId = id;
    this.#session = contextId === "" ? this.#session : contextId;
    // A stream that does not start with a task still belongs to one.
    this.#fold ??= new TaskFold(event.kind === "task" ? event.task : emptyTask(id, contextId));
    this.#fold.apply(event);
    this.#onTaskId();
  }

  /** The task id as soon as it is known; undefined on timeout. */
  taskIdWithin(ms: number, clock: Clock): Promise<Maybe<string>> {
    return new Promise((resolve) => {
      const known = (): void => {
        cancelTimer();
        resolve(this.taskId);
      };
      const cancelTimer = clock.after(ms, known);
      this.#onTaskId = known;
    });
  }

  /** Ends pending waits. */
  finish(): void {
    this.#onTaskId();
  }

  end(error: Maybe<AgentError>): CallEnd {
    const answer = this.#answer();
    const ids = { taskId: this.taskId, session: this.#session };
    if (error !== undefined) return { answer, error, ...ids };
    if (this.#last !== undefined && answer !== undefined && isClosing(this.#last)) return { answer, error: undefined, ...ids };
    return { answer, error: new AgentError("interrupted", "The agent closed the stream without an answer"), ...ids };
  }

  #answer(): Maybe<Answer> {
    if (this.#fold === undefined || this.#last?.kind === "message") return this.#last;
    return { kind: "task", task: this.#fold.snapshot() };
  }
}

function emptyTask(id: string, contextId: string): Task {
  return { id, contextId, status: { state: "unknown", at: 0 }, artifacts: [], history: [] };
}
