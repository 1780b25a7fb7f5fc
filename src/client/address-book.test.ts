import { afterEach, describe, expect, test } from "vitest";
import { bearerTokens } from "../security/index.js";
import { agent } from "../server/agent.js";
import { type Server, serve } from "../server/serve.js";
import { createMetrics, createTelemetry } from "../telemetry/index.js";

const servers: Server[] = [];
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()));
});
async function serving(...args: Parameters<typeof serve>): Promise<Server> {
  const server = await serve(...args);
  servers.push(server);
  return server;
}

describe("an agent's address book", () => {
  test("sends by name, with the credentials of that peer only", async () => {
    const received: string[] = [];
    const listening = (name: string, token: string) =>
      serving(
        agent({
          name,
          description: "d",
          async handle(message, task) {
            received.push(`${name} received from ${task.caller}: ${message.text}`);
            return `${name} says hello`;
          },
        }),
        { admission: bearerTokens(new Map([[`caller-of-${name}`, token]])) },
      );
    const one = await listening("one", "token-for-edge-one");
    const two = await listening("two", "token-for-edge-two");
    const caller = agent({
      name: "caller",
      description: "d",
      handle: async () => "",
      peers: {
        one: { url: one.url, credentials: { bearer: "token-for-edge-one" } },
        two: { url: two.url, protocol: "a2a@0.3", credentials: { bearer: "token-for-edge-two" } },
        wrong: { url: two.url, credentials: { bearer: "token-for-edge-one" } },
      },
    });
    expect(await caller.ask("one", "hi")).toBe("one says hello");
    expect(await caller.ask("two", "hi")).toBe("two says hello");
    await expect(caller.ask("wrong", "hi")).rejects.toMatchObject({ code: "unauthenticated" });
    expect(received).toEqual(["one received from caller-of-one: hi", "two received from caller-of-two: hi"]);
    await caller.closePeers();
  });

  test("calls itself in memory, before and while it is served, under the same task rules", async () => {
    const self = agent({
      name: "self",
      description: "d",
      async *handle(message, task) {
        yield task.working("thinking");
        return `to myself: ${message.text}`;
      },
    });
    expect(await self.ask("self", "before")).toBe("to myself: before");
    await serving(self);
    const kinds: string[] = [];
    for await (const event of self.stream("self", "while")) kinds.push(event.kind);
    expect(kinds).toEqual(["task", "status", "artifact", "status"]);
  });

  test("labels metrics by configured names only", async () => {
    const metrics = createMetrics();
    const telemetry = createTelemetry({ metrics });
    const server = await serving(agent({ name: "named-by-itself", description: "d", handle: async () => "four" }));
    const caller = agent({
      name: "caller",
      description: "d",
      handle: async () => "",
      peers: { friend: server.url },
      edges: { telemetry },
    });
    await caller.ask("friend", "hi");
    await caller.ask("caller", "hi");
    const text = telemetry.metricsText();
    expect(text).toMatch(/REQUEST_LATENCY_count\{src_agent="caller",dst_id="friend",protocol="a2a"\} 1/);
    expect(text).toMatch(/REQUEST_LATENCY_count\{src_agent="caller",dst_id="caller",protocol="memory"\} 1/);
    // "hi" there and "four" back, counted as content; the JSON around them only as bytes.
    expect(text).toMatch(/MSG_BYTES_PAYLOAD\{src_agent="caller",dst_id="friend",protocol="a2a"\} 6\n/);
    expect(text).not.toContain("named-by-itself");
    expect(text).not.toContain("127.0.0.1");
    await caller.closePeers();
  });

  test("names the known peers for an unknown one", async () => {
    const lonely = agent({ name: "lonely", description: "d", handle: async () => "" });
    await expect(lonely.ask("nobody", "hi")).rejects.toMatchObject({
      code: "not_found",
      message: 'unknown peer "nobody"; the address book is empty',
    });
  });

  test("propagates the trace and the parent of a message", async () => {
    let seen: unknown;
    const far = await serving(
      agent({
        name: "far",
        description: "d",
        async handle({ context }) {
          seen = context;
          return "ok";
        },
      }),
    );
    const near = agent({
      name: "near",
      description: "d",
      peers: { far: far.url },
      handle: async (message) => near.ask("far", "onward", { parent: message }),
    });
    const server = await serving(near);
    const body = {
      jsonrpc: "2.0",
      id: 1,
      method: "SendMessage",
      params: { message: { messageId: "m-1", role: "ROLE_USER", parts: [{ text: "go" }] } },
    };
    const traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    const response = await fetch(`${server.url}/a2a`, {
      method: "POST",
      headers: { "content-type": "application/json", "a2a-version": "1.0", traceparent },
      body: JSON.stringify(body),
    });
    expect(response.status).toBe(200);
    expect(seen).toMatchObject({ traceId: "4bf92f3577b34da6a3ce929d0e0e4736", parentId: "m-1" });
    await near.closePeers();
  });
});
