import {
  AgentError,
  type EventOf,
  isClosing,
  type Maybe,
  type RemoteAgent,
  type SendOptions,
  type Task,
} from "../../src/index.js";
import type { Clock } from "../../src/public/policies.js";
import type { AgentRequest } from "./arguments.js";
import { LIMITS } from "./limits.js";

type Answer = EventOf<"send">;
type Answers = AsyncGenerator<Answer, void, void>;

export interface FollowOptions {
  readonly peer: RemoteAgent;
  readonly request: AgentRequest;
  readonly intent: Maybe<string>;
  readonly traceparent: Maybe<string>;
  readonly clock: Clock;
}

/** Yields the events of a new message, or without one, of a running task. */
export async function* follow(options: FollowOptions, signal: AbortSignal): Answers {
  const { peer, request } = options;
  const { content, task } = request;
  const { streaming } = peer.card.capabilities;
  if (content.length > 0 && streaming) return yield* peer.stream(content, sendOptions(options, signal));
  // Without streaming the task is polled: its id is known at once, and its progress is visible.
  const first: Answer =
    content.length === 0 && task !== undefined
      ? { kind: "task", task: await peer.getTask(task, { signal }) }
      : await peer.start(content, sendOptions(options, signal));
  yield first;
  if (first.kind !== "task" || isClosing(first)) return;
  if (streaming) yield* peer.subscribe(first.task.id, { signal });
  else yield* poll(options, first.task, signal);
}

function sendOptions({ request: { session, task }, intent, traceparent }: FollowOptions, signal: AbortSignal): SendOptions {
  return {
    signal,
    ...(session === undefined ? {} : { session }),
    ...(task === undefined ? {} : { task }),
    ...(intent === undefined ? {} : { intent }),
    ...(traceparent === undefined ? {} : { traceparent }),
  };
}

/** Yields the task whenever it changes, until it ends or requires input. */
async function* poll({ peer, clock }: FollowOptions, from: Task, signal: AbortSignal): Answers {
  let before = from;
  for (let pause: number = LIMITS.pollMs; ; pause = Math.min(LIMITS.pollMaxMs, pause * 1.5)) {
    await wait(pause, clock, signal);
    const task = await peer.getTask(from.id, { signal });
    if (isSame(task, before)) continue;
    before = task;
    const event: Answer = { kind: "task", task };
    yield event;
    if (isClosing(event)) return;
  }
}

function isSame(a: Task, b: Task): boolean {
  return a.status.state === b.status.state && a.status.at === b.status.at && piecesOf(a) === piecesOf(b);
}

function piecesOf({ artifacts }: Task): number {
  return artifacts.reduce((count, { parts }) => count + parts.length, 0);
}

function wait(ms: number, clock: Clock, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      cancelTimer();
      reject(AgentError.from(signal.reason));
    };
    const cancelTimer = clock.after(ms, () => {
      signal.removeEventListener("abort", stop);
      resolve();
    });
    if (signal.aborted) stop();
    else signal.addEventListener("abort", stop, { once: true });
  });
}
