import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { StreamResponse, type TaskPushNotificationConfig, TaskState } from "@a2a-js/sdk";
import { legacyPushNotificationToV1StreamResponse } from "@a2a-js/sdk/compat/v0_3";
import { createLegacyAwarePushNotificationSender } from "@a2a-js/sdk/compat/v0_3/server";
import {
  DefaultPushNotificationSender,
  InMemoryPushNotificationStore,
  ServerCallContext,
  UnauthenticatedUser,
} from "@a2a-js/sdk/server";
import type { Task as LegacyTask } from "a2a-js-sdk-03";
import {
  InMemoryPushNotificationStore as LegacyPushStore,
  DefaultPushNotificationSender as LegacySender,
} from "a2a-js-sdk-03/server";
import { afterEach, describe, expect, test } from "vitest";
import { type AgentEvent, agent, connect, DiscoveryCache, type PushReceiver, pushReceiver, serve } from "../src/index.js";
import { Hook } from "./push-hook.js";

const TOKEN = "token-0123456789";
const open: { close(): unknown }[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((each) => each.close()));
});

const worker = agent({
  name: "worker",
  description: "works",
  async *handle(message, task) {
    yield task.working("on it");
    yield task.artifact(`did ${message.text}`, { id: "a-1", last: true });
    return task.complete("finished");
  },
});

/** The notification for a webhook that was registered with this version. */
async function notificationsBy(pin: string, port: { readonly url: string }): Promise<string> {
  const server = await serve(worker, { push: { allow: ["127.0.0.1"] }, taskLimits: { pushRetryMs: 5, lookAgainMs: 20 } });
  open.push(server);
  const peer = await connect(server.url, { discoveryCache: new DiscoveryCache(), pin });
  open.push(peer);
  const event = await peer.send("it", { push: { taskId: "", id: "hook", url: port.url, token: TOKEN } });
  return event.kind === "task" ? event.task.id : "";
}

/** A receiver on a real port. */
async function listening(receiver: PushReceiver): Promise<string> {
  const server = createServer(receiver.listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  open.push({ close: () => server.close() });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

function inShort(event: AgentEvent): string {
  if (event.kind === "task") return `task ${event.task.id} ${event.task.status.state} ${event.task.artifacts.length}`;
  if (event.kind === "status") return `status ${event.taskId} ${event.status.state}`;
  return event.kind === "artifact" ? `artifact ${event.taskId} ${event.artifact.id}` : event.kind;
}

describe("the official code reads what we send", () => {
  test.each(["a2a@1.0/JSONRPC", "a2a@1.0/HTTP+JSON"])("as a StreamResponse of 1.0, registered by %s", async (pin) => {
    const hook = await Hook.open();
    open.push(hook);
    const taskId = await notificationsBy(pin, hook);
    const got = await hook.count(4);
    expect(new Set(got.map(({ headers }) => headers["content-type"]))).toEqual(new Set(["application/a2a+json"]));
    const read = got.map(({ body }) => StreamResponse.fromJSON(body));
    expect(read.map((item) => StreamResponse.toJSON(item))).toEqual(got.map(({ body }) => body));
    expect(read.map(({ payload }) => payload?.$case)).toEqual(["task", "statusUpdate", "artifactUpdate", "statusUpdate"]);
    const last = read.at(-1)?.payload;
    expect(last?.$case === "statusUpdate" && [last.value.taskId, last.value.status?.state]).toEqual([
      taskId,
      TaskState.TASK_STATE_COMPLETED,
    ]);
  });

  test.each(["a2a@0.3/JSONRPC", "a2a@0.3/HTTP+JSON"])("as the whole task of 0.3, registered by %s", async (pin) => {
    const hook = await Hook.open();
    open.push(hook);
    const taskId = await notificationsBy(pin, hook);
    const got = await hook.count(4);
    expect(new Set(got.map(({ headers }) => headers["content-type"]))).toEqual(new Set(["application/json"]));
    const tasks = got.map(({ body }) => legacyPushNotificationToV1StreamResponse(body).payload);
    const seen = tasks.map((item) =>
      item?.$case === "task" ? [item.value.id, item.value.status?.state, item.value.artifacts.length] : item?.$case,
    );
    expect(seen).toEqual([
      [taskId, TaskState.TASK_STATE_SUBMITTED, 0],
      [taskId, TaskState.TASK_STATE_WORKING, 0],
      [taskId, TaskState.TASK_STATE_WORKING, 1],
      [taskId, TaskState.TASK_STATE_COMPLETED, 1],
    ]);
    expect(got[0]?.headers["x-a2a-notification-token"]).toBe(TOKEN);
  });
});

describe("our receiver reads what the official servers send", () => {
  const update = StreamResponse.fromJSON({
    statusUpdate: { taskId: "t-1", contextId: "c-1", status: { state: "TASK_STATE_COMPLETED" } },
  });
  const whole: LegacyTask = { kind: "task", id: "t-1", contextId: "c-1", status: { state: "completed" } };

  async function receiving() {
    const events: string[] = [];
    const receiver = pushReceiver({ token: TOKEN }, (event) => void events.push(inShort(event)));
    return { events, url: await listening(receiver) };
  }

  test.each([
    ["1.0", "X-A2A-Notification-Token", "status t-1 completed"],
    ["1.0", "A2A-Notification-Token", "status t-1 completed"],
    ["0.3", "X-A2A-Notification-Token", "task t-1 completed 0"],
  ])("1.3.0 for a webhook of %s, with %s", async (requestedVersion, tokenHeaderName, expected) => {
    const { events, url } = await receiving();
    const store = new InMemoryPushNotificationStore();
    const context = new ServerCallContext({ user: new UnauthenticatedUser(), requestedVersion });
    const config: TaskPushNotificationConfig = {
      tenant: "",
      id: "p",
      taskId: "t-1",
      url,
      token: TOKEN,
      authentication: undefined,
    };
    await store.save("t-1", context, config);
    const task = legacyPushNotificationToV1StreamResponse(whole).payload;
    if (task?.$case !== "task") throw new Error("not a task");
    const sender =
      requestedVersion === "1.0"
        ? new DefaultPushNotificationSender(store, { tokenHeaderName })
        : createLegacyAwarePushNotificationSender(store, { tokenHeaderName });
    await sender.send(update, context, task.value);
    expect(events).toEqual([expected]);
  });

  test("0.3.14", async () => {
    const { events, url } = await receiving();
    const store = new LegacyPushStore();
    await store.save("t-1", { id: "p", url, token: TOKEN });
    await new LegacySender(store).send(whole);
    expect(events).toEqual(["task t-1 completed 0"]);
  });
});

describe("our receiver", () => {
  const body = JSON.stringify({ statusUpdate: { taskId: "t", contextId: "c", status: { state: "TASK_STATE_WORKING" } } });
  const post = (url: string, headers: Record<string, string>, text = body): Promise<number> =>
    fetch(url, { method: "POST", headers, body: text }).then(({ status }) => status);

  test("receives everything our sender sends, once and in order, after any number of failures", async () => {
    const events: string[] = [];
    let failures = 2;
    const receiver = pushReceiver({ token: TOKEN }, (event) => {
      if (events.length === 1 && failures-- > 0) throw new Error("not now");
      events.push(inShort(event));
    });
    const taskId = await notificationsBy("a2a@1.0", { url: await listening(receiver) });
    await expect.poll(() => events.length).toBe(4);
    expect(events).toEqual([
      `task ${taskId} submitted 0`,
      `status ${taskId} working`,
      `artifact ${taskId} a-1`,
      `status ${taskId} completed`,
    ]);
  });

  test("requires the agreed credentials", async () => {
    const events: string[] = [];
    const authentication = { scheme: "Bearer", credentials: "c-1" };
    const url = await listening(pushReceiver({ token: TOKEN, authentication }, (event) => void events.push(inShort(event))));
    const right = { "x-a2a-notification-token": TOKEN, authorization: "bearer c-1" };
    expect(await post(url, {})).toBe(401);
    expect(await post(url, { ...right, authorization: "Bearer c-2" })).toBe(401);
    expect(await post(url, { authorization: right.authorization })).toBe(401);
    expect(await post(url, { ...right, "x-a2a-notification-token": "other" })).toBe(401);
    expect(events).toEqual([]);
    expect(await post(url, right)).toBe(204);
    expect(events).toEqual(["status t working"]);
    expect(() => pushReceiver({}, () => undefined)).toThrow("fromAnybody");
  });

  test("delivers a notification once, and again only after a failure", async () => {
    let calls = 0;
    const receiver = pushReceiver({ fromAnybody: true }, async () => {
      if (++calls === 1) throw new Error("not now");
    });
    const url = await listening(receiver);
    const id = { "idempotency-key": "t:p:1" };
    expect(await post(url, id)).toBe(500);
    expect(await Promise.all([post(url, id), post(url, id)])).toEqual([204, 204]);
    expect(await post(url, id)).toBe(204);
    expect(calls).toBe(2);
    expect(await post(url, { "idempotency-key": "t:p:2" })).toBe(204);
    expect(calls).toBe(3);
  });

  test("refuses what is not a notification", async () => {
    const url = await listening(pushReceiver({ fromAnybody: true }, () => undefined));
    expect(await post(url, {}, "no json")).toBe(400);
    expect(await post(url, {}, "[]")).toBe(400);
    expect(await post(url, {}, "{}")).toBe(400);
    expect(await post(url, {}, '{"kind":"rumour"}')).toBe(400);
    expect(await post(url, {}, '{"statusUpdate":{}}')).toBe(400);
    expect((await fetch(url)).status).toBe(405);
  });
});
