import { connect as connectHttp2, constants } from "node:http2";
import { connect as connectSocket } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import { agent, type ServeOptions, type Server, serve } from "../src/index.js";
import { bearerTokens } from "../src/public/auth.js";

/** `bufferedBytes` and `bufferedBytesPerCaller`: what request bodies may hold in memory together. */

const MIB = 1024 * 1024;
const BODY = JSON.stringify({
  jsonrpc: "2.0",
  id: 1,
  method: "SendMessage",
  params: { message: { messageId: "m", role: "ROLE_USER", parts: [{ text: "x".repeat(MIB) }] } },
});
const HEADERS = { "content-type": "application/json", "a2a-version": "1.0" };
const TOKENS = new Map([
  ["ann", "token-of-ann-0123456789"],
  ["bob", "token-of-bob-0123456789"],
]);

const opened: { close(): unknown }[] = [];
afterEach(async () => {
  for (const each of opened.splice(0).reverse()) await each.close();
});

/** An agent that answers when `finish` is called. */
async function serving(options: ServeOptions) {
  let finish: () => void = () => undefined;
  const finished = new Promise<void>((resolve) => {
    finish = resolve;
  });
  let running = 0;
  const slow = agent({
    name: "slow",
    description: "",
    handle: async () => {
      running++;
      await finished;
      return "done";
    },
  });
  const server: Server = await serve(slow, { port: 0, admission: bearerTokens(TOKENS), ...options });
  opened.push(server, { close: () => finish() });
  const holds = async (count: number): Promise<void> => {
    while (running < count) await new Promise((resolve) => setTimeout(resolve, 5));
  };
  return { url: server.url, port: Number(new URL(server.url).port), finish, holds };
}

const post = (url: string, token: string, path = "/a2a", body = BODY): Promise<Response> =>
  fetch(`${url}${path}`, { method: "POST", headers: { ...HEADERS, authorization: `Bearer ${token}` }, body });

describe("request bodies in memory", () => {
  test("of one caller are limited, over all connections; another caller has its own share", async () => {
    const { url, finish, holds } = await serving({ limits: { bufferedBytesPerCaller: 2.5 * MIB } });
    const held = [post(url, "token-of-ann-0123456789"), post(url, "token-of-ann-0123456789")];
    await holds(2);
    const refused = await post(url, "token-of-ann-0123456789");
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "1"]);
    expect(await refused.json()).toMatchObject({ jsonrpc: "2.0", error: { message: expect.stringContaining("in memory") } });
    const other = post(url, "token-of-bob-0123456789");
    await holds(3);
    finish();
    expect((await Promise.all([...held, other])).map(({ status }) => status)).toEqual([200, 200, 200]);
    // Released with the responses.
    expect((await post(url, "token-of-ann-0123456789")).status).toBe(200);
  });

  test("of all callers are limited together", async () => {
    const { url, holds } = await serving({ limits: { bufferedBytes: 1.5 * MIB } });
    void post(url, "token-of-ann-0123456789").catch(() => undefined);
    await holds(1);
    const refused = await post(url, "token-of-bob-0123456789", "/a2a/message:send", JSON.stringify(JSON.parse(BODY).params));
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "1"]);
    expect(await refused.json()).toMatchObject({ error: { status: "UNAVAILABLE" } });
  });

  test("are released when the peer disconnects in the middle of one", async () => {
    const { url, port, finish } = await serving({ limits: { bufferedBytesPerCaller: 1.5 * MIB } });
    async function begun(): Promise<string> {
      const socket = connectSocket(port, "127.0.0.1").on("error", () => undefined);
      const closed = new Promise((resolve) => socket.on("close", resolve));
      const head = `POST /a2a HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\nauthorization: Bearer token-of-ann-0123456789\r\ncontent-type: application/json\r\n`;
      socket.write(`${head}content-length: ${BODY.length}\r\n\r\n${BODY.slice(0, 0.9 * MIB)}`);
      // The refusal of the next round would arrive here.
      const answered = new Promise<string>((resolve) => socket.on("data", () => resolve("refused")));
      const idle = new Promise<string>((resolve) => setTimeout(resolve, 150, "reading"));
      const outcome = await Promise.race([answered, idle]);
      socket.destroy();
      await closed;
      return outcome;
    }
    // A busy server may learn of a disconnect only after the next request; what it never releases is refused for ever.
    for (let round = 0; round < 4; round++) await expect.poll(begun, { timeout: 10_000 }).toBe("reading");
    finish();
    expect((await post(url, "token-of-ann-0123456789")).status).toBe(200);
  });

  test("are released when their answer begins to stream", async () => {
    const idle = agent({
      name: "idle",
      description: "",
      async *handle(_message, task) {
        yield task.working();
        await new Promise(() => {});
      },
    });
    const limits = { bufferedBytesPerCaller: 1.5 * MIB, drainMs: 0 };
    const server = await serve(idle, { port: 0, admission: bearerTokens(TOKENS), limits });
    opened.push(server);
    const { params } = JSON.parse(BODY);
    const rpc = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "SendStreamingMessage", params });
    const bodies = [rpc, rpc, JSON.stringify(params), rpc];
    for (const body of bodies) {
      const path = body === rpc ? "/a2a" : "/a2a/message:stream";
      const answer = await post(server.url, "token-of-ann-0123456789", path, body);
      opened.push({ close: () => answer.body?.cancel() });
      expect([answer.status, answer.headers.get("content-type")]).toEqual([200, "text/event-stream"]);
    }
  });

  test("on streams of one HTTP/2 connection are limited as well", async () => {
    const { url } = await serving({ limits: { bufferedBytesPerCaller: 2.5 * MIB } });
    const session = connectHttp2(url);
    opened.push({ close: () => session.destroy() });
    const statuses = Array.from({ length: 5 }, () => {
      const stream = session.request({
        ":method": "POST",
        ":path": "/a2a",
        ...HEADERS,
        authorization: "Bearer token-of-ann-0123456789",
      });
      stream.on("error", () => undefined);
      stream.end(BODY);
      return new Promise<unknown>((resolve) => {
        stream.once("response", (fields) => resolve(fields[constants.HTTP2_HEADER_STATUS]));
      });
    });
    // The others wait for the agent.
    const first = await Promise.race(statuses);
    expect(first).toBe(503);
  });
});
