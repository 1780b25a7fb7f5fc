import { describe, expect, test } from "vitest";
import { CONTRACT_CARD, fixedIds, PUBLIC_URL } from "../../../../conformance/scripted-host.js";
import { AgentError, type AgentEvent, type Handler, type Loss, type Task } from "../../../index.js";
import { createHost, front, startCall } from "../../../public/protocols.js";
import { createMemoryStore } from "../../../tasks/index.js";
import { makeRequest } from "../../../transport/request.js";
import { acp } from "../index.js";

/** Runs of an upstream of another protocol: without a log, without messages, and with repeated cancellation. */

const RUN = "0f5c1a52-5b9e-4c9e-9a4e-3f2d7a1b6c11";
const AT = 1_767_323_045_678;

function taskOf(state: "working" | "completed" | "canceled", more: Partial<Task> = {}): Task {
  const artifacts = [{ id: "result", parts: [{ kind: "text" as const, text: "so far" }] }];
  return { id: RUN, contextId: "", status: { state, at: AT }, artifacts, history: [], ...more };
}

/** Cannot read a log without subscribing, like an A2A client. */
function upstream(task: () => Task, live: readonly AgentEvent[] = []): Handler {
  return (operation) => {
    switch (operation.kind) {
      case "task.get":
      case "task.cancel":
        return Promise.resolve({ kind: "task", task: task() });
      case "task.subscribe":
        if (!operation.follow) return Promise.reject(new AgentError("unsupported_method", "no log"));
        return following(task(), live);
      default:
        return Promise.reject(new AgentError("internal", `asked for ${operation.kind}`));
    }
  };
}

async function* following(task: Task, live: readonly AgentEvent[]): AsyncGenerator<AgentEvent, void, void> {
  if (live.length === 0) throw new AgentError("unsupported", "the task is finished");
  yield { kind: "task", task };
  yield* live;
}

function relayed(handler: Handler) {
  const losses: string[] = [];
  const ids = fixedIds();
  const { records } = createMemoryStore({ now: ids.now });
  const made = createHost({ handler, cards: [CONTRACT_CARD], ids, publicUrl: PUBLIC_URL, records });
  const reportLoss = ({ path }: Loss): void => void losses.push(path);
  const host = {
    ...made,
    begin: (_: unknown, start: Parameters<typeof made.begin>[1]) => startCall({ ...start, reportLoss }),
  };
  const { exchange } = front(host, [acp]);
  return {
    losses,
    async ask(method: string, path: string, headers = {}) {
      const { status, body } = await exchange(makeRequest({ method, url: `${PUBLIC_URL}/runs/${RUN}${path}`, headers }));
      let text = "";
      if (typeof body === "string") text = body;
      else for await (const chunk of body as AsyncIterable<string>) text += chunk;
      return { status, text };
    },
  };
}

const typesIn = (text: string): readonly unknown[] =>
  (JSON.parse(text) as { readonly events: readonly { readonly type: string }[] }).events.map(({ type }) => type);
const streamedTypes = (text: string): readonly unknown[] =>
  text.split("\n").flatMap((line) => (line.startsWith("data: ") ? [(JSON.parse(line.slice(6)) as { type: string }).type] : []));
const SSE = { accept: "text/event-stream" };
const ENDED: AgentEvent = { kind: "status", taskId: RUN, contextId: "", status: { state: "completed", at: AT + 9 } };
const MORE: AgentEvent = {
  kind: "artifact",
  taskId: RUN,
  contextId: "",
  artifact: { id: "result", parts: [{ kind: "text", text: ", and done" }] },
  append: true,
  last: true,
};

describe("the log of a run whose upstream keeps none", () => {
  test("is derived from the current run, and reported as a loss", async () => {
    const { ask, losses } = relayed(upstream(() => taskOf("completed")));
    const { status, text } = await ask("GET", "/events");
    expect([status, typesIn(text)]).toEqual([
      200,
      ["run.created", "run.in-progress", "message.created", "message.part", "message.completed", "run.completed"],
    ]);
    expect(losses).toContain("task.log");
  });

  test("is followed from the current run to its end", async () => {
    const { ask, losses } = relayed(upstream(() => taskOf("working"), [MORE, ENDED]));
    const { status, text } = await ask("GET", "/events", SSE);
    expect([status, streamedTypes(text)]).toEqual([
      200,
      ["run.created", "run.in-progress", "message.created", "message.part", "message.part", "message.completed", "run.completed"],
    ]);
    expect(losses).not.toContain("task.log");
  });

  test.each<[string, object]>([
    ["from the beginning", {}],
    ["from a place", { "last-event-id": "1-2" }],
  ])("of a finished run is returned %s, to its end", async (_, place) => {
    const { ask } = relayed(upstream(() => taskOf("completed")));
    const { status, text } = await ask("GET", "/events", { ...SSE, ...place });
    expect([status, streamedTypes(text).at(-1)]).toEqual([200, "run.completed"]);
    expect(text).toContain("so far");
  });
});

describe("a cancellation", () => {
  test("is acknowledged", async () => {
    let cancelled = false;
    const working = upstream(() => taskOf(cancelled ? "canceled" : "working"));
    const handler: Handler = (operation, call) => {
      cancelled ||= operation.kind === "task.cancel";
      return working(operation, call);
    };
    const { status, text } = await relayed(handler).ask("POST", "/cancel");
    expect([status, JSON.parse(text)]).toMatchObject([202, { status: "cancelling", finished_at: null }]);
  });

  test("of a cancelled run returns the run", async () => {
    const { status, text } = await relayed(upstream(() => taskOf("canceled"))).ask("POST", "/cancel");
    expect([status, JSON.parse(text)]).toMatchObject([202, { status: "cancelled", finished_at: "2026-01-02T03:04:05.678Z" }]);
  });
});

test("the creation time of a run does not change with its state", async () => {
  let at = AT;
  const sent = (ts: number) => ({
    id: "m",
    ts,
    src: "a",
    dst: "b",
    intent: "",
    role: "user" as const,
    content: [],
    context: {},
    meta: {},
  });
  // A protocol without times: messages are as recent as the answer that contains them.
  const handler = upstream(() => taskOf("working", { status: { state: "working", at }, history: [sent(at / 1000)] }));
  const { ask } = relayed(handler);
  const read = async (): Promise<unknown> => (JSON.parse((await ask("GET", "")).text) as { created_at: unknown }).created_at;
  const first = await read();
  at += 60_000;
  expect([first, await read()]).toEqual(["2026-01-02T03:04:05.678Z", first]);
});
