import { AgentError, type EventOf, isClosing, type Maybe, type Task } from "../../src/index.js";
import type { Clock } from "../../src/public/policies.js";
import { TaskFold } from "../../src/public/protocols.js";
import type { Wanted } from "./arguments.js";
import { type Following, follow } from "./follow.js";
import { LIMITS } from "./limits.js";
import type { Progress } from "./progress.js";

type Answer = EventOf<"send">;

export interface AgentCall extends Following {
  /** The assistant no longer wants it: the call ends, and the work too. */
  readonly signal: AbortSignal;
  /** How long the wait may take. The work goes on behind it, and can be waited for again. */
  readonly limitMs: number;
  readonly progress: Maybe<Progress>;
}

/** How a call ended. With an error there may still be a task, which goes on and can be waited for. */
export interface CallEnd {
  readonly answer: Maybe<Answer>;
  readonly error: Maybe<AgentError>;
  readonly taskId: Maybe<string>;
  readonly session: Maybe<string>;
}

/** Sends, follows to the end, and tells on the way. Never throws: what goes wrong is an end too. */
export async function callAgent(call: AgentCall): Promise<CallEnd> {
  const { signal, wanted, progress, clock, limitMs } = call;
  const seen = new Seen(wanted);
  const hangUp = new AbortController();
  let stopping: Maybe<Promise<void>>;
  const stop = (): void => {
    stopping ??= stopWork(call, seen, hangUp);
  };
  signal.addEventListener("abort", stop, { once: true });
  const forget = clock.after(limitMs, () => hangUp.abort(tooLong(limitMs)));
  try {
    if (signal.aborted) return seen.end(cancelled());
    for await (const event of follow(call, hangUp.signal)) {
      seen.see(event);
      await progress?.see(event);
    }
    return seen.end(undefined);
  } catch (thrown) {
    return seen.end(AgentError.from(thrown));
  } finally {
    forget();
    signal.removeEventListener("abort", stop);
    progress?.end();
    seen.noMore();
    await stopping;
  }
}

/** The task is cancelled before we hang up: a stream that is merely left goes on without us. */
async function stopWork({ peer, clock }: AgentCall, seen: Seen, hangUp: AbortController): Promise<void> {
  const taskId = seen.taskId ?? (await seen.taskIdWithin(LIMITS.taskIdMs, clock));
  try {
    if (taskId !== undefined) await peer.cancelTask(taskId, { signal: AbortSignal.timeout(LIMITS.cancelMs) });
  } catch {
    // It has ended meanwhile, or cannot be stopped. Nobody listens any more to whom that could be said.
  } finally {
    hangUp.abort(cancelled());
  }
}

function cancelled(): AgentError {
  return new AgentError("cancelled", "the call was cancelled");
}

function tooLong(ms: number): AgentError {
  return new AgentError("deadline", `the agent has not ended within ${ms / 1000} seconds`);
}

/** What has been seen of an answer so far. */
class Seen {
  taskId: Maybe<string>;
  #session: Maybe<string>;
  #fold: Maybe<TaskFold>;
  #last: Maybe<Answer>;
  #onTaskId: () => void = () => undefined;

  constructor({ task, session }: Wanted) {
    this.taskId = task;
    this.#session = session;
  }

  see(event: Answer): void {
    this.#last = event;
    if (event.kind === "message") {
      this.taskId = event.message.context.taskId ?? this.taskId;
      this.#session = event.message.context.sessionId ?? this.#session;
      return;
    }
    const { id, contextId } = event.kind === "task" ? event.task : { id: event.taskId, contextId: event.contextId };
    this.taskId = id;
    this.#session = contextId === "" ? this.#session : contextId;
    // A stream that does not begin with a task still has one.
    this.#fold ??= new TaskFold(event.kind === "task" ? event.task : emptyTask(id, contextId));
    this.#fold.apply(event);
    this.#onTaskId();
  }

  /** The id as soon as it is known; undefined when it is not in time, or never will be. */
  taskIdWithin(ms: number, clock: Clock): Promise<Maybe<string>> {
    return new Promise((resolve) => {
      const known = (): void => {
        forget();
        resolve(this.taskId);
      };
      const forget = clock.after(ms, known);
      this.#onTaskId = known;
    });
  }

  /** Nothing will be seen any more. */
  noMore(): void {
    this.#onTaskId();
  }

  end(error: Maybe<AgentError>): CallEnd {
    const answer = this.#answer();
    const place = { taskId: this.taskId, session: this.#session };
    if (error !== undefined) return { answer, error, ...place };
    if (this.#last !== undefined && answer !== undefined && isClosing(this.#last)) return { answer, error: undefined, ...place };
    return { answer, error: new AgentError("interrupted", "the agent closed the stream without an answer"), ...place };
  }

  #answer(): Maybe<Answer> {
    if (this.#fold === undefined || this.#last?.kind === "message") return this.#last;
    return { kind: "task", task: this.#fold.snapshot() };
  }
}

function emptyTask(id: string, contextId: string): Task {
  return { id, contextId, status: { state: "unknown", at: 0 }, artifacts: [], history: [] };
}
