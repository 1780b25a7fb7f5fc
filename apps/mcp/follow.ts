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
import type { Wanted } from "./arguments.js";
import { LIMITS } from "./limits.js";

type Answer = EventOf<"send">;
type Answers = AsyncGenerator<Answer, void, void>;

export interface Following {
  readonly peer: RemoteAgent;
  readonly wanted: Wanted;
  readonly intent: Maybe<string>;
  readonly traceparent: Maybe<string>;
  readonly clock: Clock;
}

/** What happens from now on: to a new message, or without one to a task that is under way. */
export async function* follow(following: Following, signal: AbortSignal): Answers {
  const { peer, wanted } = following;
  const { content, task } = wanted;
  const { streaming } = peer.card.capabilities;
  if (content.length > 0 && streaming) return yield* peer.stream(content, sendOptions(following, signal));
  // Who does not stream is asked again and again: so the id of the task is known at once, and its steps are seen.
  const first: Answer =
    content.length === 0 && task !== undefined
      ? { kind: "task", task: await peer.getTask(task, { signal }) }
      : await peer.start(content, sendOptions(following, signal));
  yield first;
  if (first.kind !== "task" || isClosing(first)) return;
  if (streaming) yield* peer.subscribe(first.task.id, { signal });
  else yield* polled(following, first.task, signal);
}

function sendOptions({ wanted: { session, task }, intent, traceparent }: Following, signal: AbortSignal): SendOptions {
  return {
    signal,
    ...(session === undefined ? {} : { session }),
    ...(task === undefined ? {} : { task }),
    ...(intent === undefined ? {} : { intent }),
    ...(traceparent === undefined ? {} : { traceparent }),
  };
}

/** The task each time it has changed, until it has ended or asks something. */
async function* polled({ peer, clock }: Following, from: Task, signal: AbortSignal): Answers {
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
      forget();
      reject(AgentError.from(signal.reason));
    };
    const forget = clock.after(ms, () => {
      signal.removeEventListener("abort", stop);
      resolve();
    });
    if (signal.aborted) stop();
    else signal.addEventListener("abort", stop, { once: true });
  });
}
