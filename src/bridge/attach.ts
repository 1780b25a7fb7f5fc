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

/** An upstream task to follow from its stored position. */
export interface Attachment {
  /** The current stored state; it changes with every event. */
  known(): AdoptedState;
  readonly call: Call;
  readonly clock: Clock;
  readonly cancel: Cancel;
  readonly random: () => number;
  /** When the work has to be done, in milliseconds since the epoch. */
  readonly deadline: Maybe<number>;
  /** Converts an event. */
  take(event: AgentEvent): Promise<{ readonly step: Relayed; readonly end: boolean }>;
}

/** Consecutive attempts without a new event. */
const MAX_ATTEMPTS = 12;
const FIRST_DELAY_MS = 100;
const MAX_DELAY_MS = 10_000;
/** The first and the longest interval of polling a task that cannot be subscribed to. */
const FIRST_POLL_MS = 50;
const MAX_POLL_MS = 2_000;

/**
 * Continues a task from its stored position: after the cursor if the upstream can resume, else from its current state by
 * subscribing, else by polling. Reattempts with backoff while the upstream is unavailable.
 */
export async function* attach(upstream: Upstream, from: Attachment): AgentStream {
  let last = "";
  for (let attempts = 0; ; ) {
    try {
      for await (const event of eventsOf(upstream, from)) {
        const current = fingerprint(event);
        if (current === last) {
          // The upstream answers without a change: not a failure, and nothing to store.
          attempts = Math.min(attempts, MAX_ATTEMPTS - 2);
          continue;
        }
        last = current ?? last;
        const { step, end } = await from.take(event);
        if (end) return step;
        yield step;
        attempts = 0;
      }
      throw new AgentError("interrupted", "the stream ended before the task did");
    } catch (thrown) {
      const error = AgentError.from(thrown);
      attempts++;
      if (from.cancel.cancelled || !isTransient(error)) throw asLost(error);
      const leftMs = from.deadline === undefined ? MAX_DELAY_MS : from.deadline - from.clock.now();
      if (leftMs <= 0) throw new AgentError("deadline", "the upstream agent did not end its work in time", { cause: error });
      if (attempts >= MAX_ATTEMPTS)
        throw new AgentError("unavailable", "the upstream agent became unavailable during its work", {
          cause: error,
        });
      const longestMs = Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** attempts);
      await from.clock.sleep(Math.min(leftMs, longestMs * (0.5 + from.random() / 2)), from.cancel);
    }
  }
}

function eventsOf(upstream: Upstream, from: Attachment): AsyncIterable<AgentEvent> {
  const { taskId, cursor } = from.known();
  const { resume } = upstream.card().capabilities;
  if (resume && cursor !== undefined)
    return afterCursor(upstream.handler({ kind: "task.subscribe", taskId, after: cursor, follow: true }, from.call));
  return canStream(upstream) ? subscribed(upstream, from) : polled(upstream, from);
}

/** Skips the first event: the task as it was at the cursor, which is stored already. */
async function* afterCursor(reply: Reply): AsyncGenerator<AgentEvent, void, void> {
  if (isPromise(reply)) throw new AgentError("bad_peer", "expected a stream and received one answer");
  let first = true;
  for await (const event of reply) {
    if (!first || event.kind !== "task") yield event;
    first = false;
  }
}

/** The current state and what follows. Some protocols cannot subscribe to a task that has ended: it is polled. */
async function* subscribed(upstream: Upstream, from: Attachment): AsyncGenerator<AgentEvent, void, void> {
  const { taskId } = from.known();
  const reply = upstream.handler({ kind: "task.subscribe", taskId, follow: true }, from.call);
  if (isPromise(reply)) throw new AgentError("bad_peer", "expected a stream and received one answer");
  try {
    yield* reply;
  } catch (thrown) {
    const { code } = AgentError.from(thrown);
    if (code !== "unsupported" && code !== "unsupported_method") throw thrown;
    yield* polled(upstream, from);
  }
}

async function* polled(upstream: Upstream, { known, call, clock, cancel }: Attachment): AsyncGenerator<AgentEvent, void, void> {
  for (let waitMs = FIRST_POLL_MS; ; waitMs = Math.min(waitMs * 2, MAX_POLL_MS)) {
    const reply = upstream.handler({ kind: "task.get", taskId: known().taskId }, call);
    if (!isPromise(reply)) throw new AgentError("bad_peer", "expected one answer and received a stream");
    yield await reply;
    await clock.sleep(waitMs, cancel);
  }
}

/** Equal for two snapshots of a task without a change between them; undefined for events, which are always new. */
function fingerprint(event: AgentEvent): Maybe<string> {
  if (event.kind !== "task") return undefined;
  const { status, artifacts } = event.task;
  const parts = artifacts.flatMap((artifact) => artifact.parts);
  const bytes = parts.reduce((sum, part) => sum + partBytes(part), 0);
  return `${status.state} ${status.at} ${artifacts.length} ${parts.length} ${bytes}`;
}

function isTransient({ code }: AgentError): boolean {
  return code === "interrupted" || code === "unavailable" || code === "overloaded" || code === "deadline";
}

function asLost(error: AgentError): AgentError {
  if (error.code === "unsupported_method")
    return new AgentError(
      "lost_place",
      "the connection was lost before the answer arrived, and the upstream agent cannot return it again",
      {
        cause: error,
      },
    );
  if (error.code !== "task_not_found" && error.code !== "expired") return error;
  return new AgentError("lost_place", "the upstream agent no longer knows this task", { cause: error });
}
