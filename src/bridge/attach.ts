import {
  AgentError,
  type AgentEvent,
  type Call,
  type Cancel,
  isPromise,
  type Maybe,
  partBytes,
  type Reply,
} from "../envelope/index.js";
import type { Clock } from "../policies/index.js";
import type { AgentStream, Relayed } from "../tasks/index.js";
import type { AdoptedState } from "./adopted-state.js";
import { canStream, type Upstream } from "./upstream.js";

/** A task elsewhere that is to be followed from where it was left. */
export interface Attaching {
  /** What was kept last: it changes with every event. */
  known(): AdoptedState;
  readonly call: Call;
  readonly clock: Clock;
  readonly cancel: Cancel;
  readonly random: () => number;
  /** What an event is here. */
  take(event: AgentEvent): { readonly step: Relayed; readonly end: boolean };
}

/** In a row without anything new. */
const TRIES = 12;
const FIRST_WAIT_MS = 100;
const LONGEST_WAIT_MS = 10_000;
/** How soon, and at most how late, a task is looked at again that cannot be listened to. */
const FIRST_LOOK_MS = 50;
const LATEST_LOOK_MS = 2_000;

/**
 * Takes up a task where it was left: behind the cursor where the peer gives the rest, else by what it is now and what
 * follows, else by looking again and again. A peer that is away for a while is waited for.
 */
export async function* attach(upstream: Upstream, from: Attaching): AgentStream {
  let seen = "";
  for (let tries = 0; ; ) {
    try {
      for await (const event of eventsOf(upstream, from)) {
        const now = asSeen(event);
        if (now === seen) {
          // It is there and has nothing new to say: that is no failure, and nothing to write down.
          tries = Math.min(tries, TRIES - 2);
          continue;
        }
        seen = now ?? seen;
        const { step, end } = from.take(event);
        if (end) return step;
        yield step;
        tries = 0;
      }
      throw new AgentError("interrupted", "the stream ended before the task did");
    } catch (thrown) {
      const error = AgentError.from(thrown);
      tries++;
      if (from.cancel.cancelled || !isPassing(error)) throw gone(error);
      if (tries >= TRIES)
        throw new AgentError("unavailable", "the agent behind this gateway went away in the middle of its work", {
          cause: error,
        });
      const longestMs = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** tries);
      await from.clock.sleep(longestMs * (0.5 + from.random() / 2), from.cancel);
    }
  }
}

function eventsOf(upstream: Upstream, from: Attaching): AsyncIterable<AgentEvent> {
  const { taskId, cursor } = from.known();
  const { resume } = upstream.card().capabilities;
  if (resume && cursor !== undefined)
    return behind(upstream.handler({ kind: "task.subscribe", taskId, after: cursor, follow: true }, from.call));
  return canStream(upstream) ? nowAndThen(upstream, from) : looking(upstream, from);
}

/** The first is the task as it was at the cursor, which is written down already. */
async function* behind(reply: Reply): AsyncGenerator<AgentEvent, void, void> {
  if (isPromise(reply)) throw new AgentError("bad_peer", "a stream was expected and one answer came");
  let first = true;
  for await (const event of reply) {
    if (!first || event.kind !== "task") yield event;
    first = false;
  }
}

/** What it is now, and what follows. A task that has ended cannot be listened to on every wire. */
async function* nowAndThen(upstream: Upstream, from: Attaching): AsyncGenerator<AgentEvent, void, void> {
  const { taskId } = from.known();
  const reply = upstream.handler({ kind: "task.subscribe", taskId, follow: true }, from.call);
  if (isPromise(reply)) throw new AgentError("bad_peer", "a stream was expected and one answer came");
  try {
    yield* reply;
  } catch (thrown) {
    const { code } = AgentError.from(thrown);
    if (code !== "unsupported" && code !== "unsupported_method") throw thrown;
    yield* looking(upstream, from);
  }
}

async function* looking(upstream: Upstream, { known, call, clock, cancel }: Attaching): AsyncGenerator<AgentEvent, void, void> {
  for (let waitMs = FIRST_LOOK_MS; ; waitMs = Math.min(waitMs * 2, LATEST_LOOK_MS)) {
    const reply = upstream.handler({ kind: "task.get", taskId: known().taskId }, call);
    if (!isPromise(reply)) throw new AgentError("bad_peer", "one answer was expected and a stream came");
    yield await reply;
    await clock.sleep(waitMs, cancel);
  }
}

/** What two looks at a task have in common where nothing happened between them; undefined for what is always news. */
function asSeen(event: AgentEvent): Maybe<string> {
  if (event.kind !== "task") return undefined;
  const { status, artifacts } = event.task;
  const parts = artifacts.flatMap((artifact) => artifact.parts);
  const bytes = parts.reduce((sum, part) => sum + partBytes(part), 0);
  return `${status.state} ${status.at} ${artifacts.length} ${parts.length} ${bytes}`;
}

/** It may be otherwise in a moment. */
function isPassing({ code }: AgentError): boolean {
  return code === "interrupted" || code === "unavailable" || code === "overloaded" || code === "deadline";
}

function gone(error: AgentError): AgentError {
  if (error.code === "unsupported_method")
    return new AgentError(
      "lost_place",
      "the answer was lost on its way, and the agent behind this gateway cannot be asked for it again",
      {
        cause: error,
      },
    );
  if (error.code !== "task_not_found" && error.code !== "expired") return error;
  return new AgentError("lost_place", "the agent behind this gateway no longer knows this task", { cause: error });
}
