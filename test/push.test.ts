import { afterEach, describe, expect, test } from "vitest";
import {
  type Agent,
  agent,
  connect,
  DiscoveryCache,
  type RemoteAgent,
  type ServeOptions,
  type Server,
  serve,
} from "../src/index.js";
import type { TaskLimits } from "../src/tasks/index.js";
import { makeAuthority } from "./certificates.js";
import { type Answer, Hook, ok, status } from "./push-hook.js";

const SECRET = "s3cret-0123456789";
const QUICK: Partial<TaskLimits> = { pushRetryMs: 5, pushRetryMaxMs: 20, lookAgainMs: 20, pushTimeoutMs: 5_000 };
/** The whole life of a task that sends three words. */
const LIFE = ["task", "artifactUpdate", "artifactUpdate", "artifactUpdate", "statusUpdate"];

const open: { close(): unknown }[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((each) => each.close()));
});

const words: Agent = agent({
  name: "words",
  description: "says three words",
  async *handle(_message, task) {
    for (const word of ["one ", "two ", "three "]) {
      yield word;
      // One append each, so that webhooks are notified while the task still runs.
      await new Promise((resolve) => setImmediate(resolve));
    }
    return task.complete();
  },
});

async function hook(answer?: Answer): Promise<Hook> {
  const made = await Hook.open(answer);
  open.push(made);
  return made;
}

async function serving(options: ServeOptions = {}): Promise<Server> {
  const { taskLimits, ...rest } = options;
  const server = await serve(words, { push: { allow: ["127.0.0.1"] }, ...rest, taskLimits: { ...QUICK, ...taskLimits } });
  open.push(server);
  return server;
}

async function peerOf({ url }: Server, pin = "a2a@1.0"): Promise<RemoteAgent> {
  const peer = await connect(url, { discoveryCache: new DiscoveryCache(), pin });
  open.push(peer);
  return peer;
}

async function start(peer: RemoteAgent, url: string, more: object = {}): Promise<string> {
  const event = await peer.send("go", { push: { taskId: "", id: "hook", url, ...more } });
  if (event.kind !== "task") throw new Error("a send with a webhook makes a task");
  return event.task.id;
}

/** The state of delivery, once it has this value. */
async function delivery(peer: RemoteAgent, taskId: string, state: string) {
  const read = async () => (await peer.pushes(taskId))[0]?.delivery;
  await expect.poll(async () => (await read())?.state, { timeout: 10_000, interval: 5 }).toBe(state);
  return read();
}

const kinds = (hook: Hook): string[] => hook.got.map(({ body }) => Object.keys(body).join());

describe("webhooks are notified of everything, in order", () => {
  test("one that fails at first misses nothing, and every attempt for an entry has the same id", async () => {
    let down = 3;
    const failing = await hook((response, count) =>
      count > 1 && down-- > 0 ? status(503)(response, count) : ok(response, count),
    );
    const taskId = await start(await peerOf(await serving()), failing.url);
    await failing.count(LIFE.length + 3);
    expect(kinds(failing)).toEqual(["task", "artifactUpdate", "artifactUpdate", "artifactUpdate", ...LIFE.slice(1)]);
    const ids = failing.got.map(({ headers }) => headers["idempotency-key"]);
    expect(ids).toEqual([1, 2, 2, 2, 2, 3, 4, 5].map((seq) => `${taskId}:hook:${seq}`));
    const texts = failing.got.slice(4, 7).map(({ body }) => body.artifactUpdate.artifact.parts[0].text);
    expect(texts).toEqual(["one ", "two ", "three "]);
    expect(failing.got.at(-1)?.body.statusUpdate.status.state).toBe("TASK_STATE_COMPLETED");
  });

  test("one that hangs, disconnects or is slow does not delay the others", async () => {
    const hangs = await hook((response, count) => void (count > 1 && ok(response, count)));
    const hangsUp = await hook((response, count) => (count === 1 ? void response.socket?.destroy() : ok(response, count)));
    const slow = await hook((response, count) => void setTimeout(() => ok(response, count), 50));
    const quick = await hook();
    const server = await serving({ taskLimits: { pushTimeoutMs: 1_500 } });
    const peer = await peerOf(server);
    const stuck = await start(peer, hangs.url);
    await start(peer, hangsUp.url);
    await start(peer, slow.url);
    await start(peer, quick.url);
    await quick.count(LIFE.length);
    await hangsUp.count(LIFE.length + 1);
    await slow.count(LIFE.length);
    expect(kinds(slow)).toEqual(LIFE);
    expect(kinds(quick)).toEqual(LIFE);
    expect(kinds(hangsUp)).toEqual(["task", ...LIFE]);
    await hangs.count(LIFE.length + 1);
    expect(kinds(hangs)).toEqual(["task", ...LIFE]);
    expect(await delivery(peer, stuck, "waiting")).toMatchObject({ seq: LIFE.length, failures: 0 });
  });

  test("one that is registered later is notified of later events", async () => {
    const late = await hook();
    const ask = agent({
      name: "ask",
      description: "d",
      handle: (_message, task) => (task.turn === 1 ? task.ask("?") : "done"),
    });
    const server = await serve(ask, { push: { allow: ["127.0.0.1"] }, taskLimits: QUICK });
    open.push(server);
    const peer = await peerOf(server);
    const event = await peer.start("go");
    const taskId = event.kind === "task" ? event.task.id : "";
    await expect.poll(async () => (await peer.getTask(taskId)).status.state).toBe("input-required");
    const set = await peer.setPush(taskId, { url: late.url, token: SECRET });
    await peer.send("go on", { task: taskId });
    await late.count(3);
    expect(kinds(late)).toEqual(["statusUpdate", "artifactUpdate", "statusUpdate"]);
    await peer.deletePush(taskId, set.id);
    expect(await peer.pushes(taskId)).toEqual([]);
  });

  test("the trace of the message is propagated", async () => {
    const webhook = await hook();
    const peer = await peerOf(await serving());
    const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    await peer.send("go", { traceparent, push: { taskId: "", id: "hook", url: webhook.url } });
    const [first] = await webhook.count(1);
    expect(first?.headers["traceparent"]).toMatch(/^00-0af7651916cd43dd8448eb211c80319c-[0-9a-f]{16}-01$/);
  });
});

describe("a webhook that cannot be notified", () => {
  test("is given up when it is gone, or after all attempts, and the peer can see why", async () => {
    const gone = await hook(status(410));
    const broken = await hook(status(500));
    const peer = await peerOf(await serving({ taskLimits: { pushTries: 3 } }));
    const toGone = await start(peer, gone.url, { token: SECRET });
    const toBroken = await start(peer, broken.url);
    expect(await delivery(peer, toGone, "gave_up")).toEqual({ state: "gave_up", seq: 0, failures: 1, problem: "HTTP 410" });
    expect(await delivery(peer, toBroken, "gave_up")).toEqual({ state: "gave_up", seq: 0, failures: 3, problem: "HTTP 500" });
    expect([gone.got.length, broken.got.length]).toEqual([1, 3]);
  });

  test("is not followed to a redirect", async () => {
    const elsewhere = await hook();
    const redirects = await hook(status(307, { location: elsewhere.url }));
    const peer = await peerOf(await serving({ taskLimits: { pushTries: 2 } }));
    const problem = (await delivery(peer, await start(peer, redirects.url), "gave_up"))?.problem;
    expect(problem).toBe("HTTP 307: redirects are not followed");
    expect(elsewhere.got).toEqual([]);
  });

  test("is retried after the delay it asks for", async () => {
    const busy = await hook((response, count) =>
      count === 1 ? status(429, { "retry-after": "3600" })(response, count) : ok(response, count),
    );
    const peer = await peerOf(await serving({ taskLimits: { pushRetryMaxMs: 60_000 } }));
    const before = Date.now();
    const state = await delivery(peer, await start(peer, busy.url), "retrying");
    // Bounded by the longest delay between two attempts.
    expect((state?.nextAt ?? 0) - before).toBeGreaterThan(50_000);
    expect((state?.nextAt ?? 0) - before).toBeLessThan(90_000);
    expect(busy.got).toHaveLength(1);
  });

  test("reports the problem on the wire without a secret", async () => {
    const closed = await hook();
    const { url, port } = closed;
    closed.close();
    const peer = await peerOf(await serving({ taskLimits: { pushTries: 1 } }));
    const authentication = { scheme: "Bearer", credentials: SECRET };
    const taskId = await start(peer, url, { token: SECRET, authentication });
    expect((await delivery(peer, taskId, "gave_up"))?.problem).toBe(`connection refused by 127.0.0.1:${port} (ECONNREFUSED)`);
  });

  test("must have a certificate of a trusted authority", async () => {
    const authority = await makeAuthority();
    const pair = await authority.issue({ hosts: ["127.0.0.1"] });
    const secure = await Hook.open(ok, pair);
    open.push(secure);
    const url = `https://127.0.0.1:${secure.port}/`;
    const untrusting = await peerOf(await serving({ taskLimits: { pushTries: 1 } }));
    expect((await delivery(untrusting, await start(untrusting, url), "gave_up"))?.problem).toContain(
      "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
    );
    expect(secure.got).toEqual([]);
    const friend = await peerOf(await serving({ push: { allow: ["127.0.0.1"], tls: { ca: authority.ca } } }));
    await start(friend, url);
    await secure.count(LIFE.length);
  });
});

describe("the address of a webhook", () => {
  const PRIVATE = [
    "http://127.0.0.1:9/",
    "http://localhost:9/",
    "http://[::1]:9/",
    "http://[::ffff:127.0.0.1]:9/",
    "http://2130706433/",
    "http://0.0.0.0:9/",
    "http://10.1.2.3/",
    "http://192.168.1.1/",
    "http://[fd00::1]/",
    "http://169.254.169.254/latest/meta-data",
    "http://[fe80::1]/",
    "http://224.0.0.1/",
  ];

  test.each(PRIVATE)("%s is refused by default, with the name of the member", async (url) => {
    const server = await serving({ push: true });
    const peer = await peerOf(server);
    await expect(start(peer, url)).rejects.toMatchObject({ code: "invalid_message", message: expect.stringContaining("url") });
  });

  test.each([["1.0"], ["0.3"]])("is an error of the caller over the wire of %s", async (version) => {
    const { url } = await serving({ push: true });
    const config = { url: "http://169.254.169.254/" };
    const wire =
      version === "1.0"
        ? { method: "CreateTaskPushNotificationConfig", params: { taskId: "t", id: "p", ...config } }
        : { method: "tasks/pushNotificationConfig/set", params: { taskId: "t", pushNotificationConfig: config } };
    const headers = { "content-type": "application/json", "a2a-version": version };
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, ...wire });
    const answer = (await (await fetch(`${url}/a2a`, { method: "POST", headers, body })).json()) as { error: { code: number } };
    expect(answer.error.code).toBe(-32602);
  });

  test("a name that resolves to this machine is refused too", async () => {
    const resolve = async (): Promise<string[]> => ["93.184.216.34", "127.0.0.1"];
    const peer = await peerOf(await serving({ push: { resolve } }));
    await expect(start(peer, "http://hooks.example/")).rejects.toMatchObject({ code: "invalid_message" });
  });

  test("a name that becomes private after its registration is never dialled", async () => {
    const inside = await hook();
    let asked = 0;
    const resolve = async (): Promise<string[]> => [asked++ === 0 ? "93.184.216.34" : "127.0.0.1"];
    const peer = await peerOf(await serving({ push: { resolve } }));
    const taskId = await start(peer, `http://hooks.example:${inside.port}/`);
    expect(await delivery(peer, taskId, "gave_up")).toMatchObject({
      failures: 1,
      problem: "resolves to a loopback address; webhooks need a public one",
    });
    expect(inside.got).toEqual([]);
  });

  test("a name is resolved once per request, and the checked address is dialled", async () => {
    const inside = await hook();
    const asked: string[] = [];
    const resolve = async (name: string): Promise<string[]> => {
      asked.push(name);
      return ["127.0.0.1"];
    };
    const host = `hooks.example:${inside.port}`;
    const peer = await peerOf(await serving({ push: { resolve, allow: [host] } }));
    await start(peer, `http://${host}/`);
    const got = await inside.count(LIFE.length);
    // The platform cannot resolve this name, so only the configured resolver can have done it.
    expect(new Set(got.map(({ headers }) => headers.host))).toEqual(new Set([host]));
    // Once when it was registered, once for each request.
    expect(asked).toHaveLength(1 + LIFE.length);
    await expect(start(peer, "http://hooks.example:1/")).rejects.toMatchObject({ code: "invalid_message" });
  });
});

describe("secrets", () => {
  const authentication = { scheme: "Bearer", credentials: SECRET };

  test.each([
    ["x", ["x-a2a-notification-token"]],
    ["plain", ["a2a-notification-token"]],
    ["both", ["a2a-notification-token", "x-a2a-notification-token"]],
  ])("the token is sent in the header of the setting (%s), beside the credentials", async (pushTokenHeader, names) => {
    const webhook = await hook();
    const peer = await peerOf(await serving({ settings: { a2a: { pushTokenHeader } } }));
    await start(peer, webhook.url, { token: "t-1", authentication });
    const [first] = await webhook.count(1);
    const sent = Object.entries(first?.headers ?? {}).filter(([, value]) => value === "t-1");
    expect(sent.map(([name]) => name).sort()).toEqual(names);
    expect(first?.headers.authorization).toBe(`Bearer ${SECRET}`);
  });

  test("an unknown setting is refused at start", async () => {
    await expect(serve(words, { settings: { a2a: { pushTokenHeader: "y" } } })).rejects.toMatchObject({
      facts: { field: "pushTokenHeader" },
      code: "invalid_message",
    });
  });

  test.each(["a2a@1.0/JSONRPC", "a2a@1.0/HTTP+JSON", "a2a@0.3/JSONRPC", "a2a@0.3/HTTP+JSON"])(
    "are never returned over %s, and the state of delivery is shown",
    async (pin) => {
      const broken = await hook(status(500));
      const peer = await peerOf(await serving({ taskLimits: { pushTries: 1 } }), pin);
      const taskId = await start(peer, broken.url, { token: SECRET, authentication });
      await delivery(peer, taskId, "gave_up");
      const shown = await peer.pushes(taskId);
      expect(JSON.stringify(shown)).not.toContain(SECRET);
      expect(shown).toMatchObject([
        {
          id: "hook",
          url: broken.url,
          authentication: { scheme: "Bearer" },
          delivery: { state: "gave_up", problem: "HTTP 500" },
        },
      ]);
    },
  );

  test("a caller that does not know the extension gets no unknown member", async () => {
    const webhook = await hook();
    const server = await serving();
    const taskId = await start(await peerOf(server), webhook.url);
    const read = async (headers: Record<string, string>) =>
      (await (await fetch(`${server.url}/a2a/tasks/${taskId}/pushNotificationConfigs/hook`, { headers })).json()) as object;
    expect(Object.keys(await read({ "a2a-version": "1.0" })).sort()).toEqual(["id", "taskId", "url"]);
    const named = { "a2a-version": "1.0", "a2a-extensions": "urn:koine:push-delivery:1" };
    expect(await read(named)).toMatchObject({ delivery: { failures: 0 } });
  });
});
