import { setTimeout as delay } from "node:timers/promises";
import { type Message, type Part, Role, type StreamResponse, type Task, TaskState } from "@a2a-js/sdk";
import {
  type Client,
  ClientFactory,
  createAuthenticatingFetchWithRetry,
  DefaultAgentCardResolver,
  JsonRpcTransportFactory,
  RestTransportFactory,
} from "@a2a-js/sdk/client";
import {
  ExtendedAgentCardNotConfiguredError,
  PushNotificationNotSupportedError,
  RequestMalformedError,
  TaskNotCancelableError,
  TaskNotFoundError,
  UnsupportedOperationError,
} from "@a2a-js/sdk/errors";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Server } from "../../src/index.js";
import { collect } from "./against-official.js";
import { ALICE, BOB, startGuardedKoine, startKoine } from "./koine.js";

const INTERFACES = [
  { binding: "JSONRPC", version: "1.0", further: "+" },
  { binding: "HTTP+JSON", version: "1.0", further: "+" },
  { binding: "JSONRPC", version: "0.3", further: "+" },
  // Here the SDK itself drops `append`, which our server writes.
  { binding: "HTTP+JSON", version: "0.3", further: ":" },
] as const;
type InterfaceUnderTest = (typeof INTERFACES)[number];

const legacyCompat = { enabled: true };

/** The SDK's own client, pinned to one interface of our card. */
async function clientFor(
  url: string,
  { binding, version }: InterfaceUnderTest,
  fetchImpl: typeof fetch = fetch,
): Promise<Client> {
  const cardResolver = new DefaultAgentCardResolver({ legacyCompat, fetchImpl });
  const card = await cardResolver.resolve(url);
  const only = card.supportedInterfaces.filter((each) => each.protocolBinding === binding && each.protocolVersion === version);
  expect(only).toHaveLength(1);
  const transports = [
    new JsonRpcTransportFactory({ legacyCompat, fetchImpl }),
    new RestTransportFactory({ legacyCompat, fetchImpl }),
  ];
  const factory = new ClientFactory({ transports, cardResolver });
  return factory.createFromAgentCard({ ...card, supportedInterfaces: only });
}

function withToken(token: string): typeof fetch {
  return createAuthenticatingFetchWithRetry(fetch, {
    headers: async () => ({ authorization: `Bearer ${token}` }),
    shouldRetryWithHeaders: async () => undefined,
  });
}

describe.each(INTERFACES)("@a2a-js/sdk 1.3.0 as client by $binding $version against our server", (iface) => {
  let server: Server;
  let client: Client;
  beforeAll(async () => {
    server = await startKoine();
    client = await clientFor(server.url, iface);
  });
  afterAll(() => server?.close());

  const say = (text: string, more: Partial<Message> = {}) => client.sendMessage(request([textPart(text)], more));
  const stream = (text: string) => client.sendMessageStream(request([textPart(text)]));
  const makeTask = async (text: string): Promise<Task> => taskIn(await say(text));

  test("reads our card and chooses the interface", async () => {
    expect(client.protocolVersion).toBe(iface.version);
    expect(client.transport.protocolName).toBe(iface.binding);
    const card = await client.getAgentCard();
    expect(card).toMatchObject({ name: "conform", description: "does what a test commands", version: "1.0.0" });
    expect(card.capabilities).toMatchObject({ streaming: true, pushNotifications: true });
  });

  test("one question, one message", async () => {
    const answer = messageIn(await say("hello"));
    expect(answer.parts.map(textIn)).toEqual(["you said: hello"]);
    expect(answer.role).toBe(Role.ROLE_AGENT);
    expect(answer.contextId).not.toBe("");
  });

  test("a task with an artifact, read again by its id", async () => {
    const task = await makeTask("conform: task");
    const expected = { state: "TASK_STATE_COMPLETED", artifacts: { result: "done" } };
    expect(summary(task)).toEqual(expected);
    const read = await client.getTask({ tenant: "", id: task.id, historyLength: undefined });
    expect(summary(read)).toEqual(expected);
    expect(read.history.map(({ parts }) => parts.map(textIn))).toContainEqual(["conform: task"]);
  });

  test("a stream brings every event in order and ends with the task", async () => {
    const events = await collect(stream("conform: stream 3"));
    expect(events.map(line)).toEqual([
      "task TASK_STATE_SUBMITTED",
      "status TASK_STATE_WORKING",
      "artifact stream: chunk 1 ",
      `artifact stream${iface.further} chunk 2 `,
      `artifact stream${iface.further} chunk 3 !`,
      "status TASK_STATE_COMPLETED",
    ]);
    expect((await collect(stream("hello"))).map(line)).toEqual(["message you said: hello"]);
  });

  test("a question, its answer, and the end of the task", async () => {
    const asked = await makeTask("conform: ask");
    expect(asked.status?.state).toBe(TaskState.TASK_STATE_INPUT_REQUIRED);
    expect(asked.status?.message?.parts.map(textIn)).toEqual(["what is the answer?"]);
    const answered = taskIn(await say("42", { taskId: asked.id, contextId: asked.contextId }));
    expect(answered.id).toBe(asked.id);
    expect(summary(answered)).toEqual({ state: "TASK_STATE_COMPLETED", artifacts: { result: "the answer was: 42" } });
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

  test("files and data cross in both directions", async () => {
    const bytes = Buffer.from([0, 1, 254, 255]);
    const sent: Part[] = [
      textPart("conform: echo"),
      { content: { $case: "raw", value: bytes }, metadata: undefined, filename: "four.bin", mediaType: "image/x-four" },
      {
        content: { $case: "url", value: "https://files.example/a" },
        metadata: undefined,
        filename: "a",
        mediaType: "text/plain",
      },
      { content: { $case: "data", value: { deep: [1, { ok: true }] } }, metadata: undefined, filename: "", mediaType: "" },
    ];
    const task = taskIn(await client.sendMessage(request(sent)));
    const back = task.artifacts[0]?.parts.map(({ content, mediaType }) => ({ content, mediaType })) ?? [];
    expect(back).toHaveLength(4);
    expect(back[0]?.content).toEqual({ $case: "text", value: "conform: echo" });
    expect(back[1]).toMatchObject({ content: { $case: "raw" }, mediaType: "image/x-four" });
    expect([...((back[1]?.content?.value as Uint8Array) ?? [])]).toEqual([0, 1, 254, 255]); // a raw part holds bytes
    expect(back[2]).toMatchObject({ content: { $case: "url", value: "https://files.example/a" }, mediaType: "text/plain" });
    expect(back[3]?.content).toEqual({ $case: "data", value: { deep: [1, { ok: true }] } });
  });

  test("returns at once if the answer is not awaited", async () => {
    const started = taskIn(await client.sendMessage({ ...request([textPart("conform: wait")]), configuration: atOnce }));
    expect([TaskState.TASK_STATE_SUBMITTED, TaskState.TASK_STATE_WORKING]).toContain(started.status?.state);
    await client.cancelTask({ tenant: "", id: started.id, metadata: undefined });
  });

  test("a task that failed or was rejected says why", async () => {
    for (const [word, state] of [
      ["fail", TaskState.TASK_STATE_FAILED],
      ["reject", TaskState.TASK_STATE_REJECTED],
    ] as const) {
      const { status } = await makeTask(`conform: ${word}`);
      expect([status?.state, status?.message?.parts.map(textIn)]).toEqual([state, ["as commanded"]]);
    }
  });

  test("every refusal is the SDK's own error class", async () => {
    const { id, contextId } = await makeTask("conform: task");
    const unknownTask = { tenant: "", id: "nobody-knows-it" };
    await expect(client.getTask({ ...unknownTask, historyLength: undefined })).rejects.toBeInstanceOf(TaskNotFoundError);
    await expect(client.cancelTask({ ...unknownTask, metadata: undefined })).rejects.toBeInstanceOf(TaskNotFoundError);
    await expect(say("more", { taskId: "nobody-knows-it" })).rejects.toBeInstanceOf(TaskNotFoundError);
    await expect(client.cancelTask({ tenant: "", id, metadata: undefined })).rejects.toBeInstanceOf(TaskNotCancelableError);
    await expect(say("more", { taskId: id, contextId })).rejects.toBeInstanceOf(UnsupportedOperationError);
    await expect(say("more", { taskId: id, contextId: "another" })).rejects.toBeInstanceOf(RequestMalformedError);
    await expect(client.sendMessage(request([]))).rejects.toBeInstanceOf(RequestMalformedError);
    expect(messageIn(await say("still there?")).parts.map(textIn)).toEqual(["you said: still there?"]);
  });

  test("a stream that cannot begin is refused with the SDK's own error class", async () => {
    const { id } = await makeTask("conform: task");
    const unknown = collect(client.resubscribeTask({ tenant: "", id: "nobody-knows-it" }));
    expect(await reasonOf(unknown)).toBeInstanceOf(TaskNotFoundError);
    const ended = collect(client.resubscribeTask({ tenant: "", id }));
    expect(await reasonOf(ended)).toBeInstanceOf(UnsupportedOperationError);
  });

  test("push configurations are stored, read without their secrets, and deleted", async () => {
    const { transport } = client;
    const { id: taskId } = await makeTask("conform: ask");
    const config = { tenant: "", id: "hook", taskId, url: "https://hooks.example/a", token: "", authentication: undefined };
    const named = { tenant: "", taskId, id: "hook" };
    const list = { tenant: "", taskId, pageSize: 0, pageToken: "" };
    const kept = { id: "hook", url: config.url, token: "" };
    expect(await transport.createTaskPushNotificationConfig({ ...config, token: "s3cret" })).toMatchObject(kept);
    expect(await transport.getTaskPushNotificationConfig(named)).toMatchObject(kept);
    expect((await transport.listTaskPushNotificationConfig(list)).configs).toMatchObject([kept]);
    await transport.deleteTaskPushNotificationConfig(named);
    expect((await transport.listTaskPushNotificationConfig(list)).configs).toEqual([]);
    const inside = transport.createTaskPushNotificationConfig({ ...config, url: "http://127.0.0.1:1/" });
    await expect(inside).rejects.toBeInstanceOf(RequestMalformedError);
  });

  test("push configurations are refused if our card does not offer them", async () => {
    const silent = await startKoine({ push: false });
    try {
      const { transport } = await clientFor(silent.url, iface);
      const config = {
        tenant: "",
        id: "hook",
        taskId: "t",
        url: "https://hooks.example/a",
        token: "",
        authentication: undefined,
      };
      const named = { tenant: "", taskId: "t", id: "hook" };
      const refused = PushNotificationNotSupportedError;
      await expect(transport.createTaskPushNotificationConfig(config)).rejects.toBeInstanceOf(refused);
      await expect(transport.getTaskPushNotificationConfig(named)).rejects.toBeInstanceOf(refused);
      await expect(transport.deleteTaskPushNotificationConfig(named)).rejects.toBeInstanceOf(refused);
      const listed = transport.listTaskPushNotificationConfig({ tenant: "", taskId: "t", pageSize: 0, pageToken: "" });
      await expect(listed).rejects.toBeInstanceOf(refused);
    } finally {
      await silent.close();
    }
  });

  test("an extended card that is not configured is refused", async () => {
    await expect(client.transport.getExtendedAgentCard({ tenant: "" })).rejects.toBeInstanceOf(UnsupportedOperationError);
  });
});

describe.each(INTERFACES.slice(0, 2))("@a2a-js/sdk 1.3.0 lists our tasks by $binding 1.0", (iface) => {
  test("page by page, newest first, by context and by state", async () => {
    const server = await startKoine();
    try {
      const client = await clientFor(server.url, iface);
      const ids: string[] = [];
      for (const word of ["task", "ask", "fail"]) {
        ids.push(taskIn(await client.sendMessage(request([textPart(`conform: ${word}`)], { contextId: "c-1" }))).id);
        // Newest first: two of the same millisecond have no order.
        await delay(2);
      }
      const list = { ...LIST, contextId: "c-1" };
      const first = await client.listTasks({ ...list, pageSize: 2 });
      expect([first.totalSize, first.pageSize, first.tasks.map(({ id }) => id)]).toEqual([3, 2, [ids[2], ids[1]]]);
      const second = await client.listTasks({ ...list, pageSize: 2, pageToken: first.nextPageToken });
      expect([second.nextPageToken, second.tasks.map(({ id }) => id)]).toEqual(["", [ids[0]]]);
      const failed = await client.listTasks({ ...list, status: TaskState.TASK_STATE_FAILED });
      expect(failed.tasks.map(({ id }) => id)).toEqual([ids[2]]);
      expect((await client.listTasks({ ...LIST, contextId: "elsewhere" })).tasks).toEqual([]);
      await expect(client.listTasks({ ...LIST, pageToken: "made up" })).rejects.toBeInstanceOf(RequestMalformedError);
    } finally {
      await server.close();
    }
  });
});

describe.each(INTERFACES)("@a2a-js/sdk 1.3.0 with a bearer token by $binding $version", (iface) => {
  let server: Server;
  beforeAll(async () => {
    server = await startGuardedKoine();
  });
  afterAll(() => server?.close());

  test("gets the extended card, if there is one for it", async () => {
    const alice = await clientFor(server.url, iface, withToken(ALICE));
    expect((await alice.transport.getExtendedAgentCard({ tenant: "" })).description).toBe("told to friends");
    const bob = await clientFor(server.url, iface, withToken(BOB));
    await expect(bob.transport.getExtendedAgentCard({ tenant: "" })).rejects.toBeInstanceOf(ExtendedAgentCardNotConfiguredError);
  });

  test("sees only its own tasks", async () => {
    const alice = await clientFor(server.url, iface, withToken(ALICE));
    const bob = await clientFor(server.url, iface, withToken(BOB));
    const { id } = taskIn(await alice.sendMessage(request([textPart("conform: ask")])));
    expect((await alice.getTask({ tenant: "", id, historyLength: undefined })).id).toBe(id);
    await expect(bob.getTask({ tenant: "", id, historyLength: undefined })).rejects.toBeInstanceOf(TaskNotFoundError);
    await expect(bob.cancelTask({ tenant: "", id, metadata: undefined })).rejects.toBeInstanceOf(TaskNotFoundError);
    await expect(bob.sendMessage(request([textPart("42")], { taskId: id }))).rejects.toBeInstanceOf(TaskNotFoundError);
  });

  test("is refused without one", async () => {
    const anonymous = await clientFor(server.url, iface);
    await expect(anonymous.sendMessage(request([textPart("hello")]))).rejects.toThrow(/bearer token/);
  });
});

const LIST = {
  tenant: "",
  contextId: "",
  status: TaskState.TASK_STATE_UNSPECIFIED,
  pageSize: undefined,
  pageToken: "",
  historyLength: undefined,
  statusTimestampAfter: undefined,
  includeArtifacts: undefined,
};
const atOnce = {
  acceptedOutputModes: [],
  taskPushNotificationConfig: undefined,
  historyLength: undefined,
  returnImmediately: true,
};

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

function textPart(value: string): Part {
  return { content: { $case: "text", value }, metadata: undefined, filename: "", mediaType: "" };
}

/** What a refused call threw; an error inside a stream is the cause of what the SDK throws. */
async function reasonOf(refused: Promise<unknown>): Promise<unknown> {
  const [outcome] = await Promise.allSettled([refused]);
  if (outcome.status === "fulfilled") return "no error";
  const thrown: unknown = outcome.reason;
  return thrown instanceof Error && thrown.cause instanceof Error ? thrown.cause : thrown;
}

function textIn({ content }: Part): string {
  return content?.$case === "text" ? content.value : `(${content?.$case})`;
}

function taskIn(result: unknown): Task {
  if (typeof result === "object" && result !== null && "status" in result && "id" in result) return result as Task; // only tasks have both
  throw new Error(`a task was expected, not ${JSON.stringify(result)}`);
}

function messageIn(result: Message | Task): Message {
  if ("messageId" in result) return result;
  throw new Error(`a message was expected, not ${JSON.stringify(result)}`);
}

function line({ payload }: StreamResponse): string {
  switch (payload?.$case) {
    case "message":
      return `message ${payload.value.parts.map(textIn).join("")}`;
    case "task":
      return `task ${TaskState[payload.value.status?.state ?? 0]}`;
    case "statusUpdate":
      return `status ${TaskState[payload.value.status?.state ?? 0]}`;
    case "artifactUpdate": {
      const { artifact, append, lastChunk } = payload.value;
      return `artifact ${artifact?.artifactId}${append ? "+" : ":"} ${artifact?.parts.map(textIn).join("")}${lastChunk ? "!" : ""}`;
    }
    default:
      return "nothing";
  }
}

function summary({ status, artifacts }: Task): {
  readonly state: string | undefined;
  readonly artifacts: Record<string, string>;
} {
  return {
    state: TaskState[status?.state ?? 0],
    artifacts: Object.fromEntries(artifacts.map(({ artifactId, parts }) => [artifactId, parts.map(textIn).join("")])),
  };
}
