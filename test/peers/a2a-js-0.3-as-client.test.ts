import type { Message, MessageSendParams, Part, Task, TaskArtifactUpdateEvent, TaskStatusUpdateEvent } from "a2a-js-sdk-03";
import {
  A2AClient,
  AuthenticatedExtendedCardNotConfiguredError,
  type Client,
  ClientFactory,
  createAuthenticatingFetchWithRetry,
  DefaultAgentCardResolver,
  JsonRpcTransportFactory,
  PushNotificationNotSupportedError,
  RestTransportFactory,
  TaskNotCancelableError,
  TaskNotFoundError,
  UnsupportedOperationError,
} from "a2a-js-sdk-03/client";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Server } from "../../src/index.js";
import { collect } from "./against-official.js";
import { ALICE, BOB, startGuardedKoine, startKoine } from "./koine.js";

type StreamEvent = Message | Task | TaskStatusUpdateEvent | TaskArtifactUpdateEvent;

const INTERFACES = [
  { binding: "JSONRPC", further: "+" },
  // Here the SDK itself drops `append`, which our server writes.
  { binding: "HTTP+JSON", further: ":" },
] as const;

function clientFor(url: string, binding: string, fetchImpl: typeof fetch = fetch): Promise<Client> {
  const factory = new ClientFactory({
    transports: [new JsonRpcTransportFactory({ fetchImpl }), new RestTransportFactory({ fetchImpl })],
    preferredTransports: [binding],
    cardResolver: new DefaultAgentCardResolver({ fetchImpl }),
  });
  return factory.createFromUrl(url);
}

function withToken(token: string): typeof fetch {
  return createAuthenticatingFetchWithRetry(fetch, {
    headers: async () => ({ authorization: `Bearer ${token}` }),
    shouldRetryWithHeaders: async () => undefined,
  });
}

describe.each(INTERFACES)("@a2a-js/sdk 0.3.14 as client by $binding against our server", ({ binding, further }) => {
  let server: Server;
  let client: Client;
  beforeAll(async () => {
    server = await startKoine();
    client = await clientFor(server.url, binding);
  });
  afterAll(() => server?.close());

  const say = (words: string, more: Partial<Message> = {}) => client.sendMessage(params([textPart(words)], more));
  const stream = (words: string) => client.sendMessageStream(params([textPart(words)]));
  const makeTask = async (words: string): Promise<Task> => taskIn(await say(words));

  test("reads our card and chooses the interface", async () => {
    const card = await client.getAgentCard();
    expect(card).toMatchObject({ name: "conform", description: "does what a test commands", preferredTransport: "JSONRPC" });
    expect(card.protocolVersion).toMatch(/^0\.3/);
    expect(card.capabilities).toMatchObject({ streaming: true, pushNotifications: true });
  });

  test("one question, one message", async () => {
    const answer = await say("hello");
    expect(answer).toMatchObject({ kind: "message", role: "agent", parts: [{ kind: "text", text: "you said: hello" }] });
  });

  test("a task with an artifact, read again by its id", async () => {
    const task = await makeTask("conform: task");
    expect(summary(task)).toEqual({ state: "completed", artifacts: { result: "done" } });
    expect(summary(await client.getTask({ id: task.id }))).toEqual({ state: "completed", artifacts: { result: "done" } });
  });

  test("a stream brings every event in order and ends with the task", async () => {
    const events = await collect(stream("conform: stream 3"));
    expect(events.map(line)).toEqual([
      "task submitted",
      "status working",
      "artifact stream: chunk 1 ",
      `artifact stream${further} chunk 2 `,
      `artifact stream${further} chunk 3 !`,
      "status completed, final",
    ]);
    expect((await collect(stream("hello"))).map(line)).toEqual(["message you said: hello"]);
  });

  test("a question, its answer, and the end of the task", async () => {
    const asked = await makeTask("conform: ask");
    expect(asked.status).toMatchObject({ state: "input-required", message: { parts: [{ text: "what is the answer?" }] } });
    const answered = taskIn(await say("42", { taskId: asked.id, contextId: asked.contextId }));
    expect(answered.id).toBe(asked.id);
    expect(summary(answered)).toEqual({ state: "completed", artifacts: { result: "the answer was: 42" } });
  });

  test("a running task is watched by a second reader and cancelled", async () => {
    const first = stream("conform: wait");
    const { id } = taskIn((await first.next()).value);
    const second = client.resubscribeTask({ id });
    expect(taskIn((await second.next()).value).id).toBe(id);
    const rest = Promise.all([collect(first), collect(second)]);
    expect((await client.cancelTask({ id })).status.state).toBe("canceled");
    for (const events of await rest) expect(events.map(line).at(-1)).toBe("status canceled, final");
  });

  test("files and data cross in both directions", async () => {
    const sent: Part[] = [
      textPart("conform: echo"),
      { kind: "file", file: { bytes: "AAH+/w==", mimeType: "image/x-four" } },
      { kind: "file", file: { uri: "https://files.example/a", mimeType: "text/plain" } },
      { kind: "data", data: { deep: [1, { ok: true }] } },
    ];
    const task = taskIn(await client.sendMessage(params(sent)));
    expect(task.artifacts?.[0]?.parts).toMatchObject(sent);
  });

  test("a task that failed or was rejected says why", async () => {
    for (const [word, state] of [
      ["fail", "failed"],
      ["reject", "rejected"],
    ]) {
      const { status } = await makeTask(`conform: ${word}`);
      expect(status).toMatchObject({ state, message: { parts: [{ kind: "text", text: "as commanded" }] } });
    }
  });

  test("every refusal is the SDK's own error class", async () => {
    const { id, contextId } = await makeTask("conform: task");
    const refusals = await Promise.allSettled([
      client.getTask({ id: "nobody-knows-it" }),
      client.cancelTask({ id: "nobody-knows-it" }),
      say("more", { taskId: "nobody-knows-it" }),
      client.cancelTask({ id }),
      say("more", { taskId: id, contextId }),
      client.transport.getExtendedAgentCard(),
      say("more", { taskId: id, contextId: "another" }),
      client.sendMessage(params([])),
    ]);
    expect(refusals.map(nameOf)).toEqual([
      TaskNotFoundError.name,
      TaskNotFoundError.name,
      TaskNotFoundError.name,
      TaskNotCancelableError.name,
      UnsupportedOperationError.name,
      UnsupportedOperationError.name,
      "-32602",
      "-32602",
    ]);
    expect(await say("still there?")).toMatchObject({ parts: [{ text: "you said: still there?" }] });
  });

  test("a stream that cannot begin says why", async () => {
    const { id } = await makeTask("conform: task");
    const refusals = await Promise.allSettled([
      collect(client.resubscribeTask({ id: "nobody-knows-it" })),
      collect(client.resubscribeTask({ id })),
    ]);
    expect(refusals.map(nameOf)).toEqual([TaskNotFoundError.name, UnsupportedOperationError.name]);
  });

  test("push configurations are stored, read without their secrets, and deleted", async () => {
    const { transport } = client;
    const { id } = await makeTask("conform: ask");
    const hook = { id: "hook", url: "https://hooks.example/a" };
    const named = { id, pushNotificationConfigId: "hook" };
    await transport.setTaskPushNotificationConfig({ taskId: id, pushNotificationConfig: { ...hook, token: "s3cret" } });
    const got = await transport.getTaskPushNotificationConfig(named);
    expect(got.pushNotificationConfig).toMatchObject(hook);
    expect(JSON.stringify(got)).not.toContain("s3cret");
    expect(await transport.listTaskPushNotificationConfig({ id })).toHaveLength(1);
    await transport.deleteTaskPushNotificationConfig(named);
    expect(await transport.listTaskPushNotificationConfig({ id })).toEqual([]);
  });

  test("push configurations are refused if our card does not offer them", async () => {
    const silent = await startKoine({ push: false });
    try {
      const { transport } = await clientFor(silent.url, binding);
      const named = { id: "t", pushNotificationConfigId: "hook" };
      const refusals = await Promise.allSettled([
        transport.setTaskPushNotificationConfig({
          taskId: "t",
          pushNotificationConfig: { id: "hook", url: "https://hooks.example/a" },
        }),
        transport.getTaskPushNotificationConfig(named),
        transport.listTaskPushNotificationConfig({ id: "t" }),
        transport.deleteTaskPushNotificationConfig(named),
      ]);
      expect(refusals.map(nameOf)).toEqual(new Array(4).fill(PushNotificationNotSupportedError.name));
    } finally {
      await silent.close();
    }
  });
});

describe.each(INTERFACES)("@a2a-js/sdk 0.3.14 with a bearer token by $binding", ({ binding }) => {
  let server: Server;
  beforeAll(async () => {
    server = await startGuardedKoine();
  });
  afterAll(() => server?.close());

  test("gets the extended card, if there is one for it", async () => {
    const alice = await clientFor(server.url, binding, withToken(ALICE));
    expect((await alice.transport.getExtendedAgentCard()).description).toBe("told to friends");
    const bob = await clientFor(server.url, binding, withToken(BOB));
    const refusals = await Promise.allSettled([bob.transport.getExtendedAgentCard()]);
    expect(refusals.map(nameOf)).toEqual([AuthenticatedExtendedCardNotConfiguredError.name]);
  });

  test("sees only its own tasks", async () => {
    const alice = await clientFor(server.url, binding, withToken(ALICE));
    const bob = await clientFor(server.url, binding, withToken(BOB));
    const { id } = taskIn(await alice.sendMessage(params([textPart("conform: ask")])));
    expect((await alice.getTask({ id })).id).toBe(id);
    const refusals = await Promise.allSettled([
      bob.getTask({ id }),
      bob.cancelTask({ id }),
      bob.sendMessage(params([textPart("42")], { taskId: id })),
    ]);
    expect(refusals.map(nameOf)).toEqual(new Array(3).fill(TaskNotFoundError.name));
  });

  test("is refused without one", async () => {
    const anonymous = await clientFor(server.url, binding);
    await expect(anonymous.sendMessage(params([textPart("hello")]))).rejects.toThrow(/bearer token/);
  });
});

test("the SDK's first client class, which knows JSON-RPC only, works too", async () => {
  const server = await startKoine();
  try {
    const client = await A2AClient.fromCardUrl(`${server.url}/.well-known/agent-card.json`);
    const answer = await client.sendMessage(params([textPart("hello")]));
    expect(answer).toMatchObject({ result: { kind: "message", parts: [{ kind: "text", text: "you said: hello" }] } });
    expect(await client.getTask({ id: "nobody-knows-it" })).toMatchObject({ error: { code: -32001 } });
    const events = await collect(client.sendMessageStream(params([textPart("conform: stream 2")])));
    expect(events.map(line).at(-1)).toBe("status completed, final");
  } finally {
    await server.close();
  }
});

function params(parts: Part[], more: Partial<Message> = {}): MessageSendParams {
  return { message: { kind: "message", messageId: crypto.randomUUID(), role: "user", parts, ...more } };
}

function textPart(text: string): Part {
  return { kind: "text", text };
}

const textIn = (part: Part): string => (part.kind === "text" ? part.text : `(${part.kind})`);

function taskIn(result: StreamEvent | void): Task {
  if (result?.kind === "task") return result;
  throw new Error(`a task was expected, not ${JSON.stringify(result)}`);
}

/** The SDK's error classes differ per transport and are not all exported, but all extend the exported ones in name. */
function nameOf(outcome: PromiseSettledResult<unknown>): string {
  if (outcome.status === "fulfilled") return "no error";
  const thrown: unknown = outcome.reason;
  const error = thrown instanceof Error && thrown.cause instanceof Error ? thrown.cause : thrown;
  const name = error instanceof Error ? error.constructor.name.replace("JSONRPCError", "Error") : "not an error";
  return KNOWN.has(name) ? name : (/-32\d{3}/.exec(String(error))?.[0] ?? String(error));
}

const KNOWN: ReadonlySet<string> = new Set(
  [
    TaskNotFoundError,
    TaskNotCancelableError,
    UnsupportedOperationError,
    PushNotificationNotSupportedError,
    AuthenticatedExtendedCardNotConfiguredError,
  ].map(({ name }) => name),
);

function line(event: StreamEvent): string {
  switch (event.kind) {
    case "message":
      return `message ${event.parts.map(textIn).join("")}`;
    case "task":
      return `task ${event.status.state}`;
    case "status-update":
      return `status ${event.status.state}${event.final ? ", final" : ""}`;
    case "artifact-update": {
      const { artifact, append, lastChunk } = event;
      return `artifact ${artifact.artifactId}${append ? "+" : ":"} ${artifact.parts.map(textIn).join("")}${lastChunk ? "!" : ""}`;
    }
    default:
      return event satisfies never;
  }
}

function summary({ status, artifacts = [] }: Task): { readonly state: string; readonly artifacts: Record<string, string> } {
  return {
    state: status.state,
    artifacts: Object.fromEntries(artifacts.map(({ artifactId, parts }) => [artifactId, parts.map(textIn).join("")])),
  };
}
