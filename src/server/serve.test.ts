import { afterEach, describe, expect, test } from "vitest";
import { makeAuthority } from "../../test/certificates.js";
import { connect } from "../client/connect.js";
import { DiscoveryCache } from "../client/discovery-cache.js";
import { AgentError, type PushConfig, type TaskEvent } from "../envelope/index.js";
import { type AdmissionFacts, bearerTokens, clientCertificates, openAdmission } from "../security/index.js";
import type { PushPort } from "../tasks/index.js";
import { noTelemetry } from "../telemetry/index.js";
import { agent } from "./agent.js";
import { type Server, serve } from "./serve.js";

const servers: Server[] = [];
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()));
});
async function serving(...args: Parameters<typeof serve>): Promise<Server> {
  const server = await serve(...args);
  servers.push(server);
  return server;
}
const echo = agent({ name: "echo", description: "says it again", handle: async (message) => message.text });

describe("serve()", () => {
  test("listens beyond loopback only with admission or openToEverybody", async () => {
    await expect(serve(echo, { host: "0.0.0.0" })).rejects.toMatchObject({ code: "forbidden" });
    const open = await serving(echo, { host: "0.0.0.0", openToEverybody: true });
    expect((await fetch(`http://127.0.0.1:${open.port}/health`)).status).toBe(200);
  });

  test("keeps the memory of signed messages when agents are replaced", async () => {
    const fresh: boolean[] = [];
    const admission = async (_head: unknown, { replay, now }: AdmissionFacts) => {
      fresh.push(await replay.add("ann", "one", now() + 60_000, now()));
      return { id: "ann", scheme: "bearer" as const, scopes: [], owner: "bearer:ann" };
    };
    const server = await serving(echo, { admission });
    const peer = await connect(server.url, { discoveryCache: new DiscoveryCache() });
    await peer.ask("one");
    await server.replace(echo, { admission });
    await peer.ask("two");
    await peer.close();
    expect([fresh[0], ...new Set(fresh.slice(1))]).toEqual([true, false]);
  });

  test("rejects a client CA without a check of client certificates", async () => {
    const authority = await makeAuthority();
    const tls = { ...(await authority.issue({ hosts: ["127.0.0.1"] })), clientCa: authority.ca };
    for (const admission of [undefined, openAdmission()])
      await expect(serve(echo, { tls, ...(admission && { admission }) })).rejects.toMatchObject({
        code: "invalid_message",
        facts: { field: "tls.clientCa" },
      });
    await serving(echo, { tls, admission: clientCertificates() });
    await serving(echo, { tls: { ...tls, clientCertificate: "require" } });
    await serving(echo, { tls, openToEverybody: true });
  });

  test("accepts its own host names only, and no web origins", async () => {
    const { url } = await serving(echo);
    expect((await fetch(`${url}/health`, { headers: { origin: "https://evil.example" } })).status).toBe(403);
    const { request } = await import("node:http");
    const status = await new Promise((done) =>
      request(`${url}/health`, { headers: { host: "evil.example" } }, (res) => done(res.statusCode)).end(),
    );
    expect(status).toBe(403);
  });

  test("serves several agents, each at its own address, the first at the root", async () => {
    const other = agent({ name: "other", description: "another", handle: async () => "from the other" });
    const { url } = await serving([echo, other]);
    const [first, second] = await Promise.all(
      [url, `${url}/a2a/other`].map((each) => connect(each, { discoveryCache: new DiscoveryCache() })),
    );
    expect([first?.card.name, await first?.ask("hi")]).toEqual(["echo", "hi"]);
    expect([second?.card.name, await second?.ask("hi")]).toEqual(["other", "from the other"]);
    await Promise.all([first?.close(), second?.close()]);
  });

  test("serves metrics to admitted callers only if configured, and never to everybody", async () => {
    const closed = await serving(echo, { telemetry: noTelemetry });
    expect((await fetch(`${closed.url}/metrics`)).status).toBe(404);
    const admission = bearerTokens(new Map([["ann", "0123456789abcdef"]]));
    const open = await serving(echo, { metrics: "admitted", admission });
    expect((await fetch(`${open.url}/metrics`)).status).toBe(401);
    expect((await fetch(`${open.url}/metrics`, { headers: { authorization: "Bearer 0123456789abcdef" } })).status).toBe(200);
    for (const metrics of ["admitted", "loopback"] as const)
      await expect(serve(echo, { metrics: metrics as "admitted" })).rejects.toMatchObject({
        code: "invalid_message",
        message: expect.stringContaining("the option admin"),
      });
  });

  test("does not serve metrics while callers cannot be authenticated", async () => {
    const admission = (): never => {
      throw new AgentError("unavailable", "the issuer is away", { retryAfterMs: 1_000 });
    };
    const { url } = await serving(echo, { metrics: "admitted", admission });
    const response = await fetch(`${url}/metrics`);
    expect([response.status, response.headers.get("retry-after")]).toEqual([503, "1"]);
  });

  test("serves its card in the requested version, at both paths, each with its own ETag", async () => {
    const { url } = await serving(echo);
    for (const path of ["/.well-known/agent-card.json", "/.well-known/agent.json"]) {
      const read = async (version?: string) => {
        const response = await fetch(`${url}${path}`, version === undefined ? {} : { headers: { "a2a-version": version } });
        const card = (await response.json()) as object;
        const { headers } = response;
        return {
          both: ["supportedInterfaces" in card, "preferredTransport" in card],
          etag: headers.get("etag"),
          vary: headers.get("vary"),
        };
      };
      const [any, current, old] = [await read(), await read("1.0"), await read("0.3")];
      expect([any.both, current.both, old.both]).toEqual([
        [true, true],
        [true, false],
        [false, true],
      ]);
      expect(new Set([any.etag, current.etag, old.etag]).size).toBe(3);
      expect([any.vary, current.vary, old.vary]).toEqual(Array(3).fill("A2A-Version, User-Agent"));
    }
  });

  test("returns the text of a streamed answer in one piece, also from the plain endpoint", async () => {
    const pieces = agent({
      name: "pieces",
      description: "d",
      async *handle() {
        yield "to";
        yield "ken";
      },
    });
    const { url } = await serving(pieces);
    const body = JSON.stringify({ id: "p-1", params: { message: { text: "go" } } });
    const plain = await (
      await fetch(`${url}/message`, { method: "POST", headers: { "content-type": "application/json" }, body })
    ).json();
    expect(plain).toMatchObject({
      id: "p-1",
      events: [
        { type: "artifact", data: { text: "token" } },
        { type: "status", data: { text: "" } },
      ],
    });
    const peer = await connect(url, { discoveryCache: new DiscoveryCache() });
    expect(await peer.ask("go")).toBe("token");
    await peer.close();
  });

  test("isolates the tasks of tenants, in both bindings", async () => {
    const { url } = await serving(
      agent({
        name: "t",
        description: "d",
        async *handle(_message, task) {
          yield task.working("w");
          return "done";
        },
      }),
    );
    const headers = { "content-type": "application/json", "a2a-version": "1.0" };
    const message = { messageId: "m-1", role: "ROLE_USER", parts: [{ text: "go" }] };
    const sent = await fetch(`${url}/a2a/acme/message:send`, { method: "POST", headers, body: JSON.stringify({ message }) });
    const { task } = (await sent.json()) as { task: { id: string } };
    const statusBy = async (path: string) => (await fetch(`${url}/a2a${path}/tasks/${task.id}`, { headers })).status;
    expect([await statusBy("/acme"), await statusBy("/other"), await statusBy("")]).toEqual([200, 404, 404]);
    const get = async (params: object) => {
      const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "GetTask", params });
      return (await (await fetch(`${url}/a2a`, { method: "POST", headers, body })).json()) as {
        result?: object;
        error?: { code: number };
      };
    };
    expect((await get({ id: task.id, tenant: "acme" })).result).toMatchObject({ id: task.id });
    expect((await get({ id: task.id })).error?.code).toBe(-32001);
  });

  test("offers push by default, and rejects webhooks at private addresses", async () => {
    const capabilitiesOf = async ({ url }: Server) =>
      (await connect(url, { discoveryCache: new DiscoveryCache() })).card.capabilities;
    const asked = { push: { taskId: "", id: "", url: "http://127.0.0.1:9/hook" } };
    const offered = await serving(echo);
    expect((await capabilitiesOf(offered)).push).toBe(true);
    const ask = (url: string) => connect(url, { discoveryCache: new DiscoveryCache() }).then((peer) => peer.send("x", asked));
    await expect(ask(offered.url)).rejects.toMatchObject({ code: "invalid_message" });
    const silent = await serving(echo, { push: false });
    expect((await capabilitiesOf(silent)).push).toBe(false);
    await expect(ask(silent.url)).rejects.toMatchObject({ code: "push_unsupported" });
  });

  test("accepts a custom push port, stores configurations, and never returns a secret", async () => {
    const notified: { readonly config: PushConfig; readonly event: TaskEvent }[] = [];
    let release: () => void = () => undefined;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const slow = agent({
      name: "slow",
      description: "d",
      async *handle(_message, task) {
        yield task.working("on it");
        await held;
        return "done";
      },
    });
    const push: PushPort = {
      async send({ config, event }) {
        notified.push({ config, event });
        return { accepted: true };
      },
    };
    const { url } = await serving(slow, { push });
    const rpc = async (method: string, params: object) => {
      const response = await fetch(`${url}/a2a`, {
        method: "POST",
        headers: { "content-type": "application/json", "a2a-version": "1.0" },
        body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
      });
      return (await response.json()) as { result: { task: { id: string } }; error: { code: number } };
    };
    const card = (await (await fetch(`${url}/.well-known/agent-card.json`)).json()) as { capabilities: object };
    expect(card.capabilities).toMatchObject({ pushNotifications: true });
    const message = { messageId: "m-1", role: "ROLE_USER", parts: [{ text: "go" }] };
    const sent = await rpc("SendMessage", { message, configuration: { returnImmediately: true } });
    const taskId = sent.result.task.id;
    const config = {
      taskId,
      id: "c-1",
      url: "https://hook.example/x",
      token: "s3cret",
      authentication: { scheme: "Bearer", credentials: "s3cret" },
    };
    await rpc("CreateTaskPushNotificationConfig", config);
    const listed = await rpc("ListTaskPushNotificationConfigs", { taskId });
    expect(listed.result).toEqual({
      configs: [{ taskId, id: "c-1", url: "https://hook.example/x", authentication: { scheme: "Bearer" } }],
    });
    expect(JSON.stringify(listed)).not.toContain("s3cret");
    release();
    await expect.poll(() => notified.at(-1)?.event).toMatchObject({ kind: "status", status: { state: "completed" } });
    expect(notified.at(-1)?.config.token).toBe("s3cret");
    await rpc("DeleteTaskPushNotificationConfig", { taskId, id: "c-1" });
    expect((await rpc("GetTaskPushNotificationConfig", { taskId, id: "c-1" })).error.code).toBe(-32001);
  });
});
