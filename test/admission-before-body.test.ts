import { createHash } from "node:crypto";
import { connect as connectHttp2 } from "node:http2";
import { connect as connectTcp } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import { AgentError, agent, type Principal, type ServeOptions, serve } from "../src/index.js";
import { type Admission, type AuditEntry, bearerTokens } from "../src/public/auth.js";

const TOKEN = "the-token-of-ann-0123456789";
const ANN: Principal = { id: "ann", scheme: "key", scopes: [], owner: "key:ann" };
const tokens = (): Admission => bearerTokens(new Map([["ann", TOKEN]]));
const closing: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function serving(options: ServeOptions): Promise<{ readonly url: string; readonly port: number }> {
  const echo = agent({ name: "echo", description: "repeats", handle: ({ text }) => text });
  const server = await serve(echo, { push: false, limits: { drainMs: 500 }, ...options });
  closing.push(() => server.close());
  return server;
}

/** Writes bytes to the port; `until` is what the answer must contain. */
function exchangeRaw(port: number, bytes: string, until: RegExp): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connectTcp(port, "127.0.0.1");
    closing.push(() => void socket.destroy());
    let received = "";
    socket.on("data", (piece) => {
      received += piece.toString("latin1");
      if (until.test(received)) resolve(received);
    });
    socket.on("error", reject);
    socket.on("close", () => reject(new Error(`closed after ${JSON.stringify(received)}`)));
    socket.write(bytes);
  });
}

const SENT = JSON.stringify({
  jsonrpc: "2.0",
  id: 1,
  method: "SendMessage",
  params: { message: { messageId: "m1", role: "ROLE_USER", parts: [{ text: "hello" }] } },
});
const JSON_TYPE = { "content-type": "application/json", "a2a-version": "1.0" };

describe("a caller without credentials", () => {
  const head = (port: number, path: string, more = "") =>
    `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nContent-Type: application/json\r\nContent-Length: 4194304\r\n${more}\r\n`;

  test.each(["/", "/a2a", "/a2a/message:send", "/message", "/runs", "/acp/message", "/agora"])(
    "is refused before it sends a body to %s",
    async (path) => {
      const { port } = await serving({ admission: tokens() });
      const answer = await exchangeRaw(port, head(port, path), /\r\n\r\n[\s\S]+/);
      expect(answer).toMatch(/^HTTP\/1\.1 401 /);
      expect(answer).toMatch(/connection: close/i);
    },
  );

  test.each([
    ["/nothing", "404"],
    ["/health", "405"],
  ])("is told that nothing takes a body at %s before it sends one", async (path, status) => {
    const { port } = await serving({ admission: tokens() });
    const answer = await exchangeRaw(port, head(port, path), /\r\n\r\n[\s\S]+/);
    expect(answer.slice(0, 12)).toBe(`HTTP/1.1 ${status}`);
    expect(answer).toMatch(/connection: close/i);
  });

  test("gets no 100 Continue, and an admitted one gets it", async () => {
    const { port } = await serving({ admission: tokens() });
    const expecting = "Expect: 100-continue\r\n";
    expect(await exchangeRaw(port, head(port, "/a2a", expecting), /\r\n\r\n[\s\S]+/)).toMatch(/^HTTP\/1\.1 401 /);
    const known = `${expecting}Authorization: Bearer ${TOKEN}\r\n`;
    expect(await exchangeRaw(port, head(port, "/a2a", known), /\r\n\r\n/)).toMatch(/^HTTP\/1\.1 100 /);
  });

  test.each([
    ["application/json", "/a2a", { ":status": 401 }],
    ["application/grpc", "/lf.a2a.v1.A2AService/SendMessage", { ":status": 200, "grpc-status": "16" }],
  ])("is refused before it sends a body over HTTP/2: %s", async (type, path, expected) => {
    const { url } = await serving({ admission: tokens() });
    const session = connectHttp2(url);
    closing.push(() => session.destroy());
    const stream = session.request({ ":method": "POST", ":path": path, "content-type": type, te: "trailers" });
    const headers = await new Promise((resolve, reject) => stream.on("response", resolve).on("error", reject));
    expect(headers).toMatchObject(expected);
  });

  test("keeps its connection if the unread body was short", async () => {
    const { port } = await serving({ admission: tokens() });
    const short = `POST /a2a HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nContent-Type: application/json\r\nContent-Length: 5\r\n\r\nhello`;
    const health = `GET /health HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`;
    const answers = await exchangeRaw(port, short + health, /HTTP\/1\.1 200 [\s\S]*"status":"ok"/);
    expect(answers).toMatch(/^HTTP\/1\.1 401 /);
  });
});

describe("an admission", () => {
  test("is asked once per request, also for a refusal after it", async () => {
    const entries: AuditEntry[] = [];
    const audit = { record: (entry: AuditEntry) => void entries.push(entry), close: async () => undefined };
    let asked = 0;
    const admission: Admission = () => {
      asked++;
      return ANN;
    };
    const refusing = agent({
      name: "closed",
      description: "refuses",
      handle: () => Promise.reject(new AgentError("forbidden", "not for you")),
    });
    const server = await serve(refusing, { push: false, admission, audit });
    closing.push(() => server.close());
    const response = await fetch(`${server.url}/runs`, {
      method: "POST",
      headers: JSON_TYPE,
      body: JSON.stringify({ agent_name: "closed", mode: "nothing", input: [] }),
    });
    expect(response.status).toBeGreaterThanOrEqual(400);
    const late = await fetch(`${server.url}/a2a/tasks?tenant=other`, { headers: JSON_TYPE });
    await late.text();
    expect(asked).toBe(2);
  });

  test("sees the public address, and adds headers to the response", async () => {
    const targets: string[] = [];
    const admission: Admission = (_head, { target }) => {
      targets.push(target);
      return { principal: ANN, head: { "authentication-info": "nextnonce=42" } };
    };
    const { port } = await serving({ admission, publicUrl: "https://agents.example/base" });
    const response = await fetch(`http://127.0.0.1:${port}/a2a?x=1`, { method: "POST", headers: JSON_TYPE, body: SENT });
    expect([response.status, response.headers.get("authentication-info")]).toEqual([200, "nextnonce=42"]);
    expect(targets).toEqual(["https://agents.example/base/a2a?x=1"]);
  });

  test("that needs the body decides before anything parses it", async () => {
    const digest = (text: string): string => createHash("sha256").update(text).digest("base64");
    const admission: Admission = async ({ headers }) => ({
      bodyBytes: 1_000,
      complete(body) {
        if (headers["x-digest"] === digest(Buffer.from(body).toString())) return ANN;
        throw new AgentError("unauthenticated", "the digest does not match the body");
      },
    });
    const { url } = await serving({ admission });
    const post = async (body: string, shown: string) => {
      const response = await fetch(`${url}/a2a`, { method: "POST", headers: { ...JSON_TYPE, "x-digest": shown }, body });
      return [response.status, await response.text()] as const;
    };
    expect(await post(SENT, digest(SENT))).toEqual([200, expect.stringContaining("hello")]);
    expect(await post("not JSON at all", digest(SENT))).toEqual([401, expect.stringContaining("the digest does not match")]);
    expect((await post(`${SENT}${" ".repeat(1_000)}`, digest(SENT)))[0]).toBe(413);
  });

  test("that takes its time holds a bounded number of bytes", async () => {
    let decide = (): void => undefined;
    const decided = new Promise<Principal>((resolve) => {
      decide = () => resolve(ANN);
    });
    const { url } = await serving({ admission: () => decided, limits: { drainMs: 500, unadmittedBytes: 1.5 * 64 * 1024 } });
    const body = SENT.replace("hello", "h".repeat(100_000));
    const send = () => fetch(`${url}/a2a`, { method: "POST", headers: JSON_TYPE, body });
    const both = [send(), send()];
    const first = await Promise.race(both);
    expect([first.status, first.headers.get("retry-after")]).toEqual([503, "1"]);
    decide();
    const statuses = (await Promise.all(both)).map(({ status }) => status);
    expect(statuses.sort()).toEqual([200, 503]);
  });
});
