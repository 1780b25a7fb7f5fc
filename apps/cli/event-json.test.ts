import { expect, test } from "vitest";
import type { AgentEvent, Envelope, Task } from "../../src/index.js";
import { eventJson } from "./event-json.js";

const message: Envelope = {
  id: "m-1",
  ts: 1_700_000_000.5,
  src: "agent",
  dst: "koine",
  intent: "",
  role: "agent",
  content: [{ kind: "text", text: "why" }],
  context: { sessionId: "c-1" },
  meta: {},
};
const task: Task = {
  id: "t-1",
  contextId: "c-1",
  status: { state: "failed", at: 1_700_000_000_500, message, error: { code: "internal", message: "why" } },
  artifacts: [
    {
      id: "a",
      name: "one",
      parts: [
        { kind: "text", text: "x" },
        { kind: "text", text: "y" },
      ],
    },
    { id: "b", parts: [{ kind: "raw", bytes: Uint8Array.of(255, 0), mediaType: "image/png", name: "p.png" }] },
    {
      id: "c",
      parts: [
        { kind: "data", data: { n: 1 } },
        { kind: "url", url: "https://files.example/f" },
      ],
    },
  ],
  history: [],
};
const envelope = {
  id: "m-1",
  ts: 1_700_000_000.5,
  src: "agent",
  dst: "koine",
  content: { text: "why" },
  context: { session_id: "c-1" },
  role: "agent",
};

test("a task", () => {
  expect(eventJson({ kind: "task", task })).toEqual({
    kind: "task",
    text: "xy\n\n",
    task: {
      id: "t-1",
      session_id: "c-1",
      state: "failed",
      at: 1_700_000_000.5,
      status_message: envelope,
      error: { code: "internal", face: "E_PROTOCOL", message: "why" },
      artifacts: [
        { id: "a", name: "one", parts: [{ text: "x" }, { text: "y" }] },
        { id: "b", parts: [{ raw: "/wA=", media_type: "image/png", name: "p.png" }] },
        { id: "c", parts: [{ data: { n: 1 } }, { url: "https://files.example/f" }] },
      ],
      history: [],
    },
  });
});

test("a message, a status, an artifact and a page", () => {
  const cursor = "5.t-1" as NonNullable<AgentEvent["cursor"]>; // cursors are made by peers; any text can be one
  expect(eventJson({ kind: "message", message, head: { "run-id": "r" } })).toEqual({
    kind: "message",
    text: "why",
    message: envelope,
    head: { "run-id": "r" },
  });
  expect(
    eventJson({ kind: "status", taskId: "t-1", contextId: "c-1", status: { state: "working", at: 1_000, message }, cursor }),
  ).toEqual({
    kind: "status",
    task_id: "t-1",
    session_id: "c-1",
    text: "why",
    state: "working",
    at: 1,
    status_message: envelope,
    cursor: "5.t-1",
  });
  const artifact = { id: "a", parts: [{ kind: "text", text: "x" } as const] };
  expect(eventJson({ kind: "artifact", taskId: "t-1", contextId: "c-1", artifact, append: true, last: false })).toEqual({
    kind: "artifact",
    task_id: "t-1",
    session_id: "c-1",
    text: "x",
    artifact: { id: "a", parts: [{ text: "x" }] },
    append: true,
    last: false,
  });
  expect(eventJson({ kind: "tasks", tasks: [], nextPageToken: "n", pageSize: 10, totalSize: 30 })).toEqual({
    kind: "tasks",
    tasks: [],
    next_page_token: "n",
    page_size: 10,
    total_size: 30,
  });
});

test("secrets of a push configuration are not written", () => {
  const config = { taskId: "t-1", id: "p-1", url: "https://hook.example", token: "secret" };
  expect(eventJson({ kind: "push", config })).toEqual({ kind: "push" });
});

test("content of any size is written", () => {
  const large: Envelope = { ...message, content: [{ kind: "text", text: "x".repeat(2_000_000) }] };
  expect(JSON.stringify(eventJson({ kind: "message", message: large })).length).toBeGreaterThan(4_000_000);
});
