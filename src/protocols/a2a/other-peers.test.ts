import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { AgentError, type AgentEvent, type Card, type Loss, type Operation, startCall } from "../../envelope/index.js";
import type { HttpResponse } from "../../transport/exchange.js";
import { createClientContext } from "../client-context.js";
import type { IdSource, Peer } from "../protocol.js";
import { connect } from "./client.js";

/** Answers of implementations that write something unusual, as recorded (`fixtures/other-peers.json`). */
const recorded: { readonly [name: string]: { readonly body: unknown; readonly events?: readonly unknown[] } } = JSON.parse(
  readFileSync(new URL("./fixtures/other-peers.json", import.meta.url), "utf8"),
);

const card: Card = {
  name: "peer",
  description: "",
  version: "1",
  skills: [],
  inputModes: [],
  outputModes: [],
  capabilities: { streaming: true, push: false, extended: false, idempotentSend: false, resume: false, extensions: [] },
  security: { schemes: {}, anyOf: [] },
  interfaces: [],
};
const ids: IdSource = { now: () => 1_000, newId: () => "id" };

interface Outcome {
  readonly events: readonly AgentEvent[];
  readonly error?: string;
  readonly losses: readonly Loss[];
}

interface Exchange {
  readonly operation: Operation;
  readonly answer: HttpResponse;
  readonly version?: "1.0" | "0.3";
  readonly binding?: string;
}

async function outcomeOf({ operation, answer, version = "1.0", binding = "JSONRPC" }: Exchange): Promise<Outcome> {
  const peer: Peer = { url: "http://peer", version, binding, tenant: undefined, card };
  const link = { exchange: () => answer, close: async () => undefined };
  const { handler } = connect({ ...createClientContext({ link, ids }), peer });
  const losses: Loss[] = [];
  const events: AgentEvent[] = [];
  try {
    const reply = handler(operation, startCall({ reportLoss: (loss) => losses.push(loss) }));
    if (reply instanceof Promise) events.push(await reply);
    else for await (const event of reply) events.push(event);
    return { events, losses };
  } catch (thrown) {
    return { events, error: AgentError.from(thrown).code, losses };
  }
}

function json(body: unknown, status = 200): HttpResponse {
  return { status, headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
}

function body(name: string): unknown {
  const found = recorded[name];
  if (found === undefined) throw new Error(`no recording ${name}`);
  return found.body;
}

const send = (delivery: "answer" | "stream"): Operation => ({
  kind: "send",
  delivery,
  task: "auto",
  envelope: {
    id: "m1",
    ts: 1,
    src: "",
    dst: "",
    intent: "",
    role: "user",
    content: [{ kind: "text", text: "hi" }],
    context: {},
    meta: {},
  },
});

describe("members that only describe an answer", () => {
  test("a time without a zone is dropped and reported; the task is used", async () => {
    const { events, losses } = await outcomeOf({ operation: send("answer"), answer: json(body("submitted without a zone")) });
    expect(events).toMatchObject([{ kind: "task", task: { id: "t1", status: { state: "submitted", at: 1_000 } } }]);
    expect(losses).toEqual([
      {
        protocol: "a2a",
        path: "task.status.timestamp",
        valueKind: "string",
        reason: "is not a UTC timestamp such as 2025-10-28T10:30:00.000Z; ignored",
      },
    ]);
  });

  test("so are names, lists and metadata of another type; ids, states and content are not optional", async () => {
    const artifact = { artifactId: "a", name: 7, description: {}, extensions: "x", metadata: [], parts: [{ text: "yes" }] };
    const message = { messageId: "m", role: "ROLE_AGENT", parts: [{ text: "done" }], metadata: "none", extensions: 1 };
    const status = { state: "TASK_STATE_COMPLETED", message };
    const task = { id: "t", status, artifacts: [artifact], metadata: 3 };
    const get: Operation = { kind: "task.get", taskId: "t" };
    const answered = (result: unknown) => outcomeOf({ operation: get, answer: json({ jsonrpc: "2.0", id: "id", result }) });

    const { events, losses } = await answered(task);
    expect(events).toMatchObject([{ task: { artifacts: [{ id: "a", name: undefined, parts: [{ text: "yes" }] }] } }]);
    expect(losses.map(({ path }) => path).sort()).toEqual([
      "task.artifacts[0].description",
      "task.artifacts[0].extensions",
      "task.artifacts[0].metadata",
      "task.artifacts[0].name",
      "task.metadata",
      "task.status.message.extensions",
      "task.status.message.metadata",
    ]);
    expect((await answered({ ...task, id: 4 })).error).toBe("bad_peer");
    expect((await answered({ ...task, status: { state: 99 } })).error).toBe("bad_peer");
    expect((await answered({ ...task, artifacts: [{ ...artifact, parts: "x" }] })).error).toBe("bad_peer");
  });
});

describe("a 1.0 stream that begins with a status", () => {
  const update = (state: string) => ({
    jsonrpc: "2.0",
    id: "id",
    result: { statusUpdate: { taskId: "t1", contextId: "c1", status: { state } } },
  });
  const stream = (...items: readonly unknown[]): HttpResponse => ({
    status: 200,
    headers: { "content-type": "text/event-stream" },
    body: items.map((item) => `data: ${JSON.stringify(item)}\n\n`).join(""),
  });

  test("is read to its end, and reported once", async () => {
    const answer = stream(update("TASK_STATE_WORKING"), update("TASK_STATE_COMPLETED"));
    const { events, error, losses } = await outcomeOf({ operation: send("stream"), answer });
    expect(error).toBeUndefined();
    expect(events.map((event) => (event.kind === "status" ? event.status.state : event.kind))).toEqual(["working", "completed"]);
    expect(losses.map(({ path }) => path)).toEqual(["stream.task"]);
  });
});

test("a webhook for a peer without push notifications is reported", async () => {
  const push = { taskId: "", id: "", url: "https://caller.example/hook" };
  const result = { task: { id: "t", status: { state: "TASK_STATE_COMPLETED" } } };
  const operation = { ...send("answer"), push } as Operation; // a send
  const { losses } = await outcomeOf({ operation, answer: json({ jsonrpc: "2.0", id: "id", result }) });
  expect(losses.map(({ path }) => path)).toEqual(["operation.push"]);
});

describe("a delete", () => {
  const remove: Operation = { kind: "push.delete", taskId: "t", id: "p" };

  test("may be answered without a result, and without a body", async () => {
    const without = json(body("delete without a result"));
    expect((await outcomeOf({ operation: remove, answer: without })).events).toEqual([{ kind: "done" }]);
    const empty: HttpResponse = { status: 200, headers: {}, body: "" };
    expect((await outcomeOf({ operation: remove, answer: empty })).events).toEqual([{ kind: "done" }]);
  });

  test("no other operation may", async () => {
    const answer = json(body("delete without a result"));
    expect((await outcomeOf({ operation: { kind: "task.get", taskId: "t" }, answer })).error).toBe("bad_peer");
  });
});

describe("errors of other implementations", () => {
  const get: Operation = { kind: "task.get", taskId: "t" };

  test.each([
    ["unauthenticated in Go", "unauthenticated"],
    ["unauthorized in Go", "forbidden"],
  ])("%s", async (name, code) => {
    expect((await outcomeOf({ operation: get, answer: json(body(name)) })).error).toBe(code);
  });

  // The forms that servers of 0.3 write over REST; the specification defines none.
  test.each([
    ["JavaScript", 404, { code: -32001, message: "Task not found" }, "task_not_found"],
    ["Python", 404, { type: "TaskNotFoundError", message: "Task not found" }, "task_not_found"],
    ["Java", 404, { error: "io.a2a.spec.TaskNotFoundError", message: "" }, "task_not_found"],
    ["Java, other code", 409, { error: "io.a2a.spec.TaskNotCancelableError", message: "no" }, "not_cancelable"],
    [
      "Google",
      404,
      { error: { code: 404, status: "NOT_FOUND", message: "no", details: [info("TASK_NOT_FOUND")] } },
      "task_not_found",
    ],
    ["JSON-RPC over REST", 404, { jsonrpc: "2.0", error: { code: -32001, message: "Task not found" } }, "task_not_found"],
    ["an object with details", 404, { code: 0, message: "no", data: info("TASK_NOT_FOUND") }, "task_not_found"],
    ["Python, generic", 500, { type: "InternalError", message: "no" }, "internal"],
  ])("0.3 REST: %s", async (_, status, answer, code) => {
    const outcome = await outcomeOf({ operation: get, answer: json(answer, status), version: "0.3", binding: "HTTP+JSON" });
    expect(outcome.error).toBe(code);
  });
});

function info(reason: string): object {
  return { "@type": "type.googleapis.com/google.rpc.ErrorInfo", reason, domain: "a2a-protocol.org" };
}
