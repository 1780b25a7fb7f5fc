import { type Message, type Part, Role, type StreamResponse, type Task, TaskState } from "@a2a-js/sdk";
import { type Client, ClientFactory, DefaultAgentCardResolver } from "@a2a-js/sdk/client";
import { GrpcTransportFactory } from "@a2a-js/sdk/client/grpc";
import { TaskNotCancelableError, TaskNotFoundError, UnsupportedOperationError } from "@a2a-js/sdk/errors";
import { A2AService } from "@a2a-js/sdk/server/grpc";
import { status } from "@grpc/grpc-js";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type AgentEvent, connect, DiscoveryCache, type Operation, type Server } from "../../src/index.js";
import { startCall } from "../../src/public/protocols.js";
import { askGrpc, sendRequest } from "../wires/grpc.js";
import { collect, describeOfficial, NAMELESS, PARTS } from "./against-official.js";
import { ALICE, startGuardedKoine, startKoine } from "./koine.js";
import type { OfficialServer } from "./official.js";
import { startOfficialGrpc } from "./official-1.3-grpc.js";

describeOfficial({
  name: "the gRPC server of @a2a-js/sdk 1.3.0",
  start: startOfficialGrpc,
  interfaces: [
    { pin: "a2a@1.0/GRPC", closed: "unsupported", extended: "unsupported", echoed: PARTS },
    {
      pin: "a2a@0.3/GRPC",
      closed: "unsupported",
      extended: "unsupported",
      unlisted: "unsupported_method",
      echoed: NAMELESS,
    },
  ],
});

describe("our client and an official gRPC server", () => {
  let server: OfficialServer;
  beforeAll(async () => {
    server = await startOfficialGrpc();
  });
  afterAll(() => server?.close());

  test.each(["a2a@1.0/GRPC", "a2a@0.3/GRPC"])("push configurations by %s", async (pin) => {
    const remote = await connect(server.url, { pin, discoveryCache: new DiscoveryCache() });
    const asked = await remote.send("conform: ask");
    const taskId = asked.kind === "task" ? asked.task.id : "";
    const one = (operation: Operation) => remote.handler(operation, startCall()) as Promise<AgentEvent>; // none of these streams
    const config = { id: "hook", taskId, url: "https://hooks.example/a", token: "opaque" };
    expect(await one({ kind: "push.set", config })).toMatchObject({ kind: "push", config });
    expect(await one({ kind: "push.get", taskId, id: "hook" })).toMatchObject({ kind: "push", config });
    expect(await one({ kind: "push.list", taskId })).toMatchObject({ kind: "pushes", configs: [config] });
    expect(await one({ kind: "push.delete", taskId, id: "hook" })).toMatchObject({ kind: "done" });
    expect(await one({ kind: "push.list", taskId })).toMatchObject({ kind: "pushes", configs: [] });
    await remote.close();
  });

  test("a deadline ends the wait, and a reader that stops releases the stream", async () => {
    const remote = await connect(server.url, { pin: "a2a@1.0/GRPC", discoveryCache: new DiscoveryCache(), timeoutMs: 200 });
    await expect(remote.send("conform: wait")).rejects.toMatchObject({ code: "deadline" });
    const events = remote.stream("conform: wait")[Symbol.asyncIterator]();
    expect((await events.next()).value).toMatchObject({ kind: "task" });
    await events.return?.();
    // It drains: an unreleased stream would keep it open until the shutdown timeout.
    await remote.close();
  });
});

const INTERFACES = [
  { version: "1.0", further: "+" },
  // Here the SDK itself drops `append`, which our server writes.
  { version: "0.3", further: ":" },
] as const;

describe.each(INTERFACES)("@a2a-js/sdk 1.3.0 as client by gRPC $version against our server", ({ version, further }) => {
  let server: Server;
  let client: Client;
  beforeAll(async () => {
    server = await startKoine();
    const legacyCompat = { enabled: true };
    const cardResolver = new DefaultAgentCardResolver({ legacyCompat });
    const card = await cardResolver.resolve(server.url);
    const only = card.supportedInterfaces.filter((each) => each.protocolBinding === "GRPC" && each.protocolVersion === version);
    expect(only).toHaveLength(1);
    const factory = new ClientFactory({ transports: [new GrpcTransportFactory({ legacyCompat })], cardResolver });
    client = await factory.createFromAgentCard({ ...card, supportedInterfaces: only });
  });
  afterAll(() => server?.close());

  const say = (text: string, more: Partial<Message> = {}) => client.sendMessage(request([textPart(text)], more));
  const stream = (text: string) => client.sendMessageStream(request([textPart(text)]));
  const makeTask = async (text: string): Promise<Task> => taskIn(await say(text));

  test("one question, one message", async () => {
    const answer = await say("Grüße, 世界 🌍");
    expect("parts" in answer && answer.parts.map(textIn)).toEqual(["you said: Grüße, 世界 🌍"]);
  });

  test("a stream brings every event in order and ends with the task", async () => {
    expect((await collect(stream("conform: stream 3"))).map(line)).toEqual([
      "task TASK_STATE_SUBMITTED",
      "status TASK_STATE_WORKING",
      "artifact stream: chunk 1 ",
      `artifact stream${further} chunk 2 `,
      `artifact stream${further} chunk 3 !`,
      "status TASK_STATE_COMPLETED",
    ]);
    expect((await collect(stream("hello"))).map(line)).toEqual(["message you said: hello"]);
  });

  test("a question, its answer, and the end of the task", async () => {
    const asked = await makeTask("conform: ask");
    expect(asked.status?.state).toBe(TaskState.TASK_STATE_INPUT_REQUIRED);
    const answered = taskIn(await say("42", { taskId: asked.id, contextId: asked.contextId }));
    expect([answered.id, answered.status?.state]).toEqual([asked.id, TaskState.TASK_STATE_COMPLETED]);
    expect(answered.artifacts.map(({ parts }) => parts.map(textIn))).toEqual([["the answer was: 42"]]);
  });

  test("a running task is watched by a second reader and cancelled", async () => {
    const first = stream("conform: wait");
    const id = taskIn((await first.next()).value?.payload?.value).id;
    const second = client.resubscribeTask({ tenant: "", id });
    expect(taskIn((await second.next()).value?.payload?.value).id).toBe(id);
    const rest = Promise.all([collect(first), collect(second)]);
    const cancelled = await client.cancelTask({ tenant: "", id, metadata: undefined });
    expect(cancelled.status?.state).toBe(TaskState.TASK_STATE_CANCELED);
    for (const events of await rest) expect(events.map(line).at(-1)).toBe("status TASK_STATE_CANCELED");
  });

  test("every refusal arrives as the SDK's own error class", async () => {
    const { id } = await makeTask("conform: task");
    const get = (taskId: string) => client.getTask({ tenant: "", id: taskId, historyLength: undefined });
    await expect(get("nobody")).rejects.toThrow(TaskNotFoundError);
    await expect(client.cancelTask({ tenant: "", id, metadata: undefined })).rejects.toThrow(TaskNotCancelableError);
    await expect(collect(client.resubscribeTask({ tenant: "", id }))).rejects.toThrow(UnsupportedOperationError);
    await expect(collect(client.resubscribeTask({ tenant: "", id: "nobody" }))).rejects.toThrow(TaskNotFoundError);
  });
});

describe("grpc-js and our server", () => {
  let server: Server;
  let address: string;
  beforeAll(async () => {
    server = await startKoine();
    address = new URL(server.url).host;
  });
  afterAll(() => server?.close());

  test("an error has its status, its message and its details", async () => {
    const { error } = await askGrpc(address, A2AService.getTask, { tenant: "", id: "naïve % ID", historyLength: undefined });
    expect(error?.code).toBe(status.NOT_FOUND);
    const bin = error?.metadata.get("grpc-status-details-bin")[0];
    expect(Buffer.isBuffer(bin) && bin.toString("latin1")).toContain("type.googleapis.com/google.rpc.ErrorInfo");
    expect(Buffer.isBuffer(bin) && bin.toString("latin1")).toContain("TASK_NOT_FOUND");
  });

  test("an unknown version, an unknown extension and a known one", async () => {
    const send = (headers: { readonly [name: string]: string }) =>
      askGrpc(address, A2AService.sendMessage, sendRequest("hello"), { headers });
    expect((await send({ "a2a-version": "0.3" })).error?.code).toBe(status.FAILED_PRECONDITION);
    expect((await send({ "a2a-version": "1.0", "a2a-extensions": "urn:x" })).metadata?.get("a2a-extensions")).toEqual([]);
    const active = await send({ "a2a-extensions": "urn:x, urn:koine:resume:1" });
    expect(active.metadata?.get("a2a-extensions")).toEqual(["urn:koine:resume:1"]);
  });

  test("an unknown method", async () => {
    const call = { ...A2AService.getTask, path: "/lf.a2a.v1.A2AService/GetEverything" };
    expect((await askGrpc(address, call, { tenant: "", id: "t", historyLength: undefined })).error).toMatchObject({
      code: status.UNIMPLEMENTED,
      details: "unknown method /lf.a2a.v1.A2AService/GetEverything",
    });
  });

  test("a deadline is enforced while the work continues", async () => {
    const { error } = await askGrpc(address, A2AService.sendMessage, sendRequest("conform: wait"), { timeoutMs: 150 });
    expect(error?.code).toBe(status.DEADLINE_EXCEEDED);
    const remote = await connect(server.url, { discoveryCache: new DiscoveryCache() });
    const { tasks } = await remote.listTasks({ pageSize: 100 });
    expect(tasks.map((task) => task.status.state)).toContain("working");
    await Promise.all(tasks.filter((task) => task.status.state === "working").map(({ id }) => remote.cancelTask(id)));
    await remote.close();
  });

  test("credentials are metadata", async () => {
    const guarded = await startGuardedKoine();
    try {
      const { host } = new URL(guarded.url);
      const ask = (headers: { readonly [name: string]: string }) =>
        askGrpc(host, A2AService.sendMessage, sendRequest("hello"), { headers });
      expect((await ask({})).error?.code).toBe(status.UNAUTHENTICATED);
      expect((await ask({ authorization: `Bearer ${ALICE}` })).error).toBeUndefined();
    } finally {
      await guarded.close();
    }
  });
});

const textPart = (value: string): Part => ({
  content: { $case: "text", value },
  metadata: undefined,
  filename: "",
  mediaType: "",
});

function request(parts: Part[], more: Partial<Message> = {}) {
  const message: Message = {
    messageId: crypto.randomUUID(),
    contextId: "",
    taskId: "",
    role: Role.ROLE_USER,
    parts,
    metadata: undefined,
    extensions: [],
    referenceTaskIds: [],
    ...more,
  };
  return { tenant: "", message, configuration: undefined, metadata: undefined };
}

function textIn({ content }: Part): string {
  return content?.$case === "text" ? content.value : "";
}

function taskIn(value: unknown): Task {
  if (typeof value === "object" && value !== null && "artifacts" in value) return value as Task; // only tasks have them
  throw new Error("a task was expected");
}

function line({ payload }: StreamResponse): string {
  switch (payload?.$case) {
    case "message":
      return `message ${payload.value.parts.map(textIn).join("")}`;
    case "task":
      return `task ${stateName(payload.value.status?.state)}`;
    case "statusUpdate":
      return `status ${stateName(payload.value.status?.state)}`;
    case "artifactUpdate": {
      const { artifact, append, lastChunk } = payload.value;
      return `artifact ${artifact?.artifactId}${append ? "+" : ":"} ${artifact?.parts.map(textIn).join("")}${lastChunk ? "!" : ""}`;
    }
    default:
      return "nothing";
  }
}

function stateName(state: TaskState | undefined): string {
  return TaskState[state ?? TaskState.UNRECOGNIZED];
}
