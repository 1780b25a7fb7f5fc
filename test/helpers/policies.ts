import {
  type AgentError,
  type AgentEvent,
  type Context,
  isPromise,
  newEnvelope,
  type OperationOf,
  type Reply,
} from "../../src/envelope/index.js";
import type { PolicyNote } from "../../src/policies/notes.js";

type Send = OperationOf<"send">;
const IDS = { now: () => 1_000, newId: () => "m" };

/** Messages for the tests of retry, breaker, bulkhead and cache. */
export function send(
  context: Context = {},
  more: Partial<Pick<Send, "delivery" | "after">> & { readonly content?: string } = {},
): Send {
  const { content = "go", delivery = "answer", after } = more;
  return { kind: "send", delivery, after, task: "auto", envelope: newEnvelope({ content, src: "a", dst: "b", context }, IDS) };
}

export const PING = { kind: "ping" } as const;
export const PONG: AgentEvent = { kind: "done" };
export const working: AgentEvent = { kind: "status", taskId: "t", contextId: "c", status: { state: "working", at: 1 } };
export const completed: AgentEvent = { kind: "status", taskId: "t", contextId: "c", status: { state: "completed", at: 2 } };

export async function* streamOf(...steps: readonly (AgentEvent | AgentError)[]): AsyncGenerator<AgentEvent, void, void> {
  for (const step of steps) {
    if (step instanceof Error) throw step;
    yield step;
  }
}

/** A reply that the test completes. */
export function openReply() {
  let answer: (event: AgentEvent) => void = () => undefined;
  let fail: (error: AgentError) => void = () => undefined;
  const reply = new Promise<AgentEvent>((resolve, reject) => {
    answer = resolve;
    fail = reject;
  });
  return { reply, answer, fail };
}

export function iterate(reply: Reply): AsyncIterator<AgentEvent> {
  if (isPromise(reply)) throw new Error("expected a stream");
  return reply[Symbol.asyncIterator]();
}

/** All events, and the error that ended them, if any. */
export async function collect(reply: Reply): Promise<{ readonly events: readonly AgentEvent[]; readonly thrown?: unknown }> {
  const events: AgentEvent[] = [];
  try {
    if (isPromise(reply)) events.push(await reply);
    else for await (const event of reply) events.push(event);
    return { events };
  } catch (thrown) {
    return { events, thrown };
  }
}

/** The context of a policy, and its recorded notes. */
export function place() {
  const heard: PolicyNote[] = [];
  return { destination: "peer", protocol: "toy", notes: (note: PolicyNote) => void heard.push(note), heard };
}
