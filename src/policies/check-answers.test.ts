import { describe, expect, test } from "vitest";
import {
  AgentError,
  type AgentEvent,
  type Handler,
  NO_CONTEXT,
  NO_META,
  type Operation,
  type Reply,
  type State,
  startCall,
} from "../envelope/index.js";
import { checkAnswers } from "./check-answers.js";

const envelope = {
  id: "m",
  ts: 1,
  src: "a",
  dst: "b",
  intent: "",
  role: "user",
  content: [],
  context: NO_CONTEXT,
  meta: NO_META,
} as const;
const send = (delivery: "answer" | "accepted" | "stream"): Operation => ({ kind: "send", envelope, delivery, task: "auto" });
const subscribe = (follow: boolean): Operation => ({ kind: "task.subscribe", taskId: "t", follow });
const message: AgentEvent = { kind: "message", message: { ...envelope, role: "agent" } };
const done: AgentEvent = { kind: "done" };
const artifact: AgentEvent = {
  kind: "artifact",
  taskId: "t",
  contextId: "c",
  artifact: { id: "x", parts: [] },
  append: false,
  last: true,
};
const status = (state: Exclude<State, "failed">): AgentEvent => ({
  kind: "status",
  taskId: "t",
  contextId: "c",
  status: { state, at: 1 },
});
const task = (state: Exclude<State, "failed">): AgentEvent => ({
  kind: "task",
  task: { id: "t", contextId: "c", status: { state, at: 1 }, artifacts: [], history: [] },
});

function answering(...events: readonly AgentEvent[]): Handler {
  return async function* () {
    yield* events;
  };
}

async function collect(reply: Reply): Promise<readonly string[]> {
  const kinds: string[] = [];
  for await (const event of reply as AsyncIterable<AgentEvent>) kinds.push(event.kind); // `answering` answers with a stream
  return kinds;
}

function run(operation: Operation, ...events: readonly AgentEvent[]): Promise<readonly string[]> {
  return collect(checkAnswers()(answering(...events))(operation, startCall()));
}

describe("checkAnswers, kinds", () => {
  test("an answer of the right kind passes", async () => {
    expect(await checkAnswers()(async () => message)(send("answer"), startCall())).toBe(message);
  });

  test.each([
    ["ping", { kind: "ping" }, message],
    ["task.get", { kind: "task.get", taskId: "t" }, message],
    ["send", send("answer"), done],
  ] as const)("%s refuses another kind as the peer's fault", async (_name, operation, event) => {
    await expect(checkAnswers()(async () => event)(operation, startCall())).rejects.toMatchObject({ code: "bad_peer" });
  });

  test("also in the middle of a stream", async () => {
    await expect(run(send("stream"), task("working"), done)).rejects.toMatchObject({
      code: "bad_peer",
      message: "the peer answered send with done",
    });
  });
});

describe("checkAnswers, ends", () => {
  test("one event that is a whole answer need not close", async () => {
    const working = task("working");
    expect(await checkAnswers()(async () => working)(send("accepted"), startCall())).toBe(working);
  });

  test.each([
    ["a message", send("stream"), [message]],
    ["a terminal status", send("stream"), [task("working"), artifact, status("completed")]],
    ["a question", send("stream"), [task("working"), status("input-required")]],
    ["an artifact after a question", send("stream"), [status("auth-required"), artifact]],
    ["an accepted task", send("accepted"), [task("working")]],
    ["a log that is only read", subscribe(false), [status("working")]],
    ["an empty log", subscribe(false), []],
    ["a task that was asked for", { kind: "task.get", taskId: "t" } as const, [task("working")]],
  ] as const)("%s ends well", async (_name, operation, events) => {
    expect(await run(operation, ...events)).toHaveLength(events.length);
  });

  test.each([
    ["nothing", send("stream"), []],
    ["nothing, for one event", { kind: "ping" } as const, []],
    ["work in progress", send("stream"), [task("working"), artifact]],
    ["work that went on after a question", send("stream"), [status("input-required"), status("working")]],
    ["a followed log", subscribe(true), [task("working"), status("working")]],
  ] as const)("%s was cut", async (_name, operation, events) => {
    await expect(run(operation, ...events)).rejects.toMatchObject({ code: "interrupted" });
  });

  test("passes a failure on unchanged", async () => {
    const thrown = new AgentError("unavailable", "gone");
    const handler: Handler = async function* () {
      yield task("working");
      throw thrown;
    };
    await expect(collect(checkAnswers()(handler)(send("stream"), startCall()))).rejects.toBe(thrown);
  });

  test("does not report a cut to a reader that leaves early", async () => {
    const stream = checkAnswers()(answering(task("working"), status("working")))(send("stream"), startCall());
    let seen = 0;
    for await (const _event of stream as AsyncIterable<AgentEvent>) {
      seen++;
      break;
    }
    expect(seen).toBe(1);
  });
});
