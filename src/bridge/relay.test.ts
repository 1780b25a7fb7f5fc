import { describe, expect, it } from "vitest";
import {
  type AgentEvent,
  type Card,
  type Envelope,
  type Handler,
  isPromise,
  newEnvelope,
  type Operation,
  type ReadyIterator,
  type Reply,
  startCall,
  TAKE_READY,
  type Task,
} from "../envelope/index.js";
import { v1 } from "../protocols/a2a/codec/codec-1.0.js";
import { relayTasks } from "./relay.js";

const TRACE = "0af7651916cd43dd8448eb211c80319c";
const ids = { now: () => 1, newId: () => "m" };
const envelope = newEnvelope({ content: "hi", src: "caller", dst: "agent", context: { traceId: TRACE } }, ids);
const send: Operation = { kind: "send", envelope, delivery: "answer", task: "auto" };
const call = startCall({ parameters: { traceparent: `00-${TRACE}-b7ad6b7169203331-01` } });

/** An agent that returns the messages it received, in each kind of event, as agents of A2A do in their history. */
function returning(): { readonly handler: Handler; readonly received: Envelope[] } {
  const received: Envelope[] = [];
  const task = (): Task => ({
    id: "t",
    contextId: "c",
    status: { state: "completed", at: 1, message: received[0] },
    artifacts: [],
    history: [...received],
  });
  const handler: Handler = (operation) => {
    if (operation.kind === "send") received.push(operation.envelope);
    if (operation.kind === "task.subscribe" || (operation.kind === "send" && operation.delivery === "stream"))
      return (async function* (): AsyncGenerator<AgentEvent> {
        yield { kind: "task", task: task() };
        yield { kind: "status", taskId: "t", contextId: "c", status: task().status };
      })();
    if (operation.kind === "task.list")
      return Promise.resolve({ kind: "tasks", tasks: [task()], nextPageToken: "", pageSize: 1, totalSize: 1 });
    return Promise.resolve({ kind: "task", task: task() });
  };
  return { handler, received };
}

async function eventsOf(reply: Reply | undefined): Promise<readonly AgentEvent[]> {
  if (reply === undefined) throw new Error("not relayed");
  if (isPromise(reply)) return [await reply];
  const events: AgentEvent[] = [];
  for await (const event of reply) events.push(event);
  return events;
}

describe("relayTasks", () => {
  it("marks what it sends with the hop count", async () => {
    const { handler, received } = returning();
    await eventsOf(relay(handler)(send, call));
    expect(received[0]?.extra).toEqual({ koine_hops: 1 });
  });

  it.each<[string, Operation]>([
    ["a send", send],
    ["a stream", { ...send, delivery: "stream" }],
    ["a task", { kind: "task.get", taskId: "t" }],
    ["a list", { kind: "task.list" }],
    ["a subscription", { kind: "task.subscribe", taskId: "t", follow: true }],
    ["a cancel", { kind: "task.cancel", taskId: "t" }],
  ])("callers see no member of the gateway: %s", async (_, operation) => {
    const { handler } = returning();
    const relayed = relay(handler);
    await eventsOf(relayed(send, call));
    for (const event of await eventsOf(relayed(operation, call))) {
      const written =
        operation.kind === "task.list" ? v1.encodeResult(operation, event, ignore) : v1.encodeStreamItem(event, ignore);
      expect(JSON.stringify(written)).toContain("hi");
      expect(JSON.stringify(written)).not.toContain("urn:koine");
    }
  });

  it("takes events that arrived together as the client has them, without the marks", async () => {
    const { handler, received } = returning();
    await eventsOf(relay(handler)(send, call));
    const message = { ...envelope, extra: received[0]?.extra };
    const arrived: AgentEvent[] = [
      { kind: "status", taskId: "t", contextId: "c", status: { state: "working", at: 1 } },
      { kind: "status", taskId: "t", contextId: "c", status: { state: "completed", at: 2, message } },
    ];
    const burst: ReadyIterator<AgentEvent> = {
      next: () => Promise.resolve({ done: true, value: undefined }),
      [TAKE_READY]: () => arrived.shift(),
    };
    const reply = relay(() => ({ [Symbol.asyncIterator]: () => burst }))({ ...send, delivery: "stream" }, call);
    if (reply === undefined || isPromise(reply)) throw new Error("not a stream");
    const events: ReadyIterator<AgentEvent> = reply[Symbol.asyncIterator]();
    expect(events[TAKE_READY]?.()).toMatchObject({ status: { state: "working" } });
    expect(events[TAKE_READY]?.()).toMatchObject({ status: { message: { id: "m", extra: undefined } } });
    expect(events[TAKE_READY]?.()).toBeUndefined();
  });

  it("a trace that only the message carries stays in it", async () => {
    const { handler, received } = returning();
    await eventsOf(relay(handler)(send, startCall()));
    expect(received[0]?.context.traceId).toBe(TRACE);
  });
});

function relay(handler: Handler): ReturnType<typeof relayTasks> {
  const upstream = { handler, protocol: () => "a2a", traits: () => ({}) as never, card: () => ({}) as never };
  return relayTasks(upstream, (card: Card) => card);
}

const ignore = (): void => undefined;
