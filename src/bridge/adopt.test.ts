import { afterEach, describe, expect, test } from "vitest";
import { BurstSource } from "../../test/helpers/burst-source.js";
import { AgentError, type AgentEvent, type Handler, systemIds, textOf, textPart } from "../envelope/index.js";
import { agent, connect, DiscoveryCache, mount } from "../index.js";
import { memoryLink } from "../public/protocols.js";
import { createMemoryStore, type Store } from "../tasks/index.js";
import { bridgedAgent } from "./bridge.js";
import type { Upstream } from "./upstream.js";

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

const of = { taskId: "t-1", contextId: "c-1" };
const task: AgentEvent = {
  kind: "task",
  task: { id: "t-1", contextId: "c-1", status: { state: "submitted", at: 0 }, artifacts: [], history: [] },
};
const status = (state: "working" | "completed"): AgentEvent => ({ kind: "status", ...of, status: { state, at: 0 } });
const piece = (text: string): AgentEvent => ({
  kind: "artifact",
  ...of,
  artifact: { id: "a", parts: [textPart(text)] },
  append: text !== "1",
  last: false,
});

function upstreamOf(handler: Handler): Upstream {
  const { card } = agent({ name: "peer", description: "sends events together", handle: () => undefined });
  const capabilities = { ...card.capabilities, streaming: true, idempotentSend: false, resume: false };
  return {
    handler,
    protocol: () => "toy",
    traits: () => ({ streaming: true, tasks: true, inputTurns: true }),
    card: () => ({ ...card, capabilities }),
  };
}

/** What a caller reads of a stream, and the numbers of events in the writes of the gateway's journal. */
async function streamed(handler: Handler): Promise<{
  readonly read: readonly string[];
  readonly writes: readonly number[];
  readonly states: readonly unknown[];
}> {
  const writes: number[] = [];
  const states: unknown[] = [];
  const memory = createMemoryStore({ now: systemIds.now });
  const store: Store = new Proxy(memory, {
    get(target, name) {
      if (name === "append")
        return (...[id, batch]: Parameters<Store["append"]>) => {
          writes.push(batch.events.length);
          if (batch.state !== undefined) states.push(batch.state);
          return target.append(id, batch);
        };
      const member: unknown = Reflect.get(target, name, target);
      return typeof member === "function" ? member.bind(target) : member;
    },
  });
  const bridged = bridgedAgent(upstreamOf(handler), { signed: false, upstreamUrls: [] }, { name: "peer" });
  const gateway = mount(bridged, { publicUrl: "http://gateway.example", store });
  closing.push(() => gateway.close());
  const link = memoryLink(gateway.exchange);
  const caller = await connect("http://gateway.example", { link, discoveryCache: new DiscoveryCache(), resume: false });
  closing.push(() => caller.close());
  const read: string[] = [];
  for await (const event of caller.stream("go")) {
    if (event.kind === "artifact") read.push(textOf(event.artifact.parts));
    else read.push(event.kind === "task" ? event.task.status.state : event.kind === "status" ? event.status.state : event.kind);
  }
  return { read, writes, states };
}

describe("events of an upstream", () => {
  test("that arrive together are stored together, in their order", async () => {
    const all = [task, status("working"), piece("1"), piece("2"), piece("3"), status("completed")];
    const { read, writes } = await streamed(() => new BurstSource(...all));
    expect(read).toEqual(["submitted", "working", "1", "2", "3", "completed"]);
    expect(writes).toEqual([5]);
  });

  test("leave the id of the upstream task, also if the task and its end came together", async () => {
    const { read, states } = await streamed(() => new BurstSource(task, status("completed")));
    expect(read).toEqual(["submitted", "completed"]);
    expect(states).toEqual([expect.objectContaining({ task: "t-1" })]);
  });

  test("are stored before the failure that follows them, and the task is followed from there", async () => {
    const cut = new AgentError("interrupted", "cut", { sent: "maybe" });
    const snapshot: AgentEvent = {
      kind: "task",
      task: {
        id: "t-1",
        contextId: "c-1",
        status: { state: "completed", at: 0 },
        artifacts: [{ id: "a", parts: [textPart("1"), textPart("2")] }],
        history: [],
      },
    };
    const { read } = await streamed((operation) =>
      operation.kind === "send"
        ? new BurstSource(task, status("working"), piece("1"), cut)
        : operation.kind === "task.subscribe"
          ? new BurstSource(snapshot)
          : Promise.reject(new AgentError("unsupported_method", operation.kind)),
    );
    expect(read).toEqual(["submitted", "working", "1", "2", "completed"]);
  });

  test("are stored before one of another task, which fails the task", async () => {
    const other: AgentEvent = { kind: "status", taskId: "t-2", contextId: "c-1", status: { state: "working", at: 0 } };
    const { read } = await streamed((operation) =>
      operation.kind === "send"
        ? new BurstSource(task, status("working"), piece("1"), other, piece("2"))
        : Promise.resolve<AgentEvent>({ kind: "done" }),
    );
    expect(read).toEqual(["submitted", "working", "1", "failed"]);
  });

  test("of a long burst are stored in parts", async () => {
    const pieces = Array.from({ length: 150 }, (_, index) => piece(String(index + 1)));
    const { read, writes } = await streamed(() => new BurstSource(task, ...pieces, status("completed")));
    expect(read).toHaveLength(152);
    expect(writes.length).toBeGreaterThan(1);
    expect(writes.reduce((sum, each) => sum + each, 0)).toBe(151);
  });
});
