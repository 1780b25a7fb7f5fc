import { createServer, request as send } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import { agent, mount, type ServeOptions, serve } from "../src/index.js";
import { type AuditEntry, type AuditSink, bearerTokens } from "../src/public/auth.js";

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** A service on this machine that callers outside must not reach. It counts its requests. */
async function internalService(): Promise<{ readonly url: string; readonly hits: string[] }> {
  const hits: string[] = [];
  const server = createServer((req, res) => {
    hits.push(req.url ?? "");
    res.end("internal");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closing.push(() => server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/secret`, hits };
}

/** An agent that fetches the links of its messages, as one that reads attachments does. */
const reader = agent({
  name: "reader",
  description: "reads links",
  async handle(message, task) {
    try {
      for (const part of message.content) await task.fetch(part);
      return "read";
    } catch (thrown) {
      return `refused: ${(thrown as Error).message}`;
    }
  },
});

async function serving(options: ServeOptions) {
  const server = await serve(reader, options);
  closing.push(() => server.close());
  return `http://127.0.0.1:${server.port}`;
}

/** Any header can be sent, `host` included. */
function post(url: string, body: object, headers: { readonly [name: string]: string } = {}): Promise<string> {
  return new Promise((resolve, reject) => {
    const sent = send(url, { method: "POST", headers: { "content-type": "application/json", ...headers } }, (response) => {
      let text = "";
      response.on("data", (chunk) => (text += String(chunk))).on("end", () => resolve(`${response.statusCode} ${text}`));
    });
    sent.on("error", reject).end(JSON.stringify(body));
  });
}

const message = (url: string) => ({
  jsonrpc: "2.0",
  id: 1,
  method: "SendMessage",
  params: { message: { messageId: "m", role: "ROLE_USER", parts: [{ url }] } },
});
const A2A = { "a2a-version": "1.0" };

describe("links in messages", () => {
  test("from callers of this machine may lead to this machine", async () => {
    const { url, hits } = await internalService();
    expect(await post(`${await serving({})}/a2a`, message(url), A2A)).toContain("read");
    expect(hits).toEqual(["/secret"]);
  });

  test.each([
    ["publicUrl", { publicUrl: "https://agents.example", openToEverybody: true }, {}],
    ["names", { names: ["agents.example"] }, {}],
    ["a forwarded request", {}, { "x-forwarded-for": "203.0.113.7" }],
  ] as const)("never lead to this machine with %s", async (_name, options, headers) => {
    const { url, hits } = await internalService();
    const server = await serving(options);
    expect(await post(`${server}/a2a`, message(url), { ...A2A, ...headers })).toContain("refused");
    expect(hits).toEqual([]);
    // Once a proxy is known to be in front, requests without its header get no more than those with it.
    expect(await post(`${server}/a2a`, message(url), A2A)).toContain("refused");
    expect(hits).toEqual([]);
  });

  test("a public address that is this machine's own keeps it local", async () => {
    const { url, hits } = await internalService();
    const server = await serving({ publicUrl: "http://localhost:9", names: ["localhost"] });
    expect(await post(`${server}/a2a`, message(url), A2A)).toContain("read");
    expect(hits).toEqual(["/secret"]);
  });

  test("in protocolSources are not fetched if nothing could use the document", async () => {
    const { url, hits } = await internalService();
    const server = await serving({});
    const body = { protocolHash: "L9xl1shodRYEKdIIT3ydYkazG8M=", protocolSources: [url], body: "{}" };
    expect(await post(`${server}/agora`, body)).toMatch(/^422 .*not suitable/);
    expect(hits).toEqual([]);
  });
});

describe("the audit log", () => {
  test("has the caller's address as the trusted proxy states it", async () => {
    const entries: AuditEntry[] = [];
    const audit: AuditSink = { record: (entry) => void entries.push(entry), close: async () => undefined };
    const admission = bearerTokens(new Map([["ann", "0123456789abcdef"]]));
    const forwarded = { ...A2A, "x-forwarded-for": "192.0.2.66, 203.0.113.7" };
    const trusting = await serving({ admission, audit, trustedProxies: { addresses: ["127.0.0.1"] } });
    await post(`${trusting}/a2a`, message("https://x.example"), forwarded);
    const other = await serving({ admission, audit, trustedProxies: { addresses: ["10.0.0.0/8"] } });
    await post(`${other}/a2a`, message("https://x.example"), forwarded);
    expect(entries.map(({ event, remote }) => [event, remote])).toEqual([
      ["refused", "203.0.113.7"],
      ["refused", "127.0.0.1"],
    ]);
  });

  test("has it in a mounted agent too; PROXY protocol is refused there", async () => {
    const entries: AuditEntry[] = [];
    const audit: AuditSink = { record: (entry) => void entries.push(entry), close: async () => undefined };
    const admission = bearerTokens(new Map([["ann", "0123456789abcdef"]]));
    const mounted = mount(reader, { admission, audit, trustedProxies: { addresses: ["127.0.0.1"], by: "forwarded" } });
    const server = createServer(mounted.listener);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    closing.push(() => Promise.all([server.close(), mounted.close()]));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/a2a`;
    await post(url, message("https://x.example"), { ...A2A, forwarded: "for=203.0.113.7" });
    expect(entries.map(({ event, remote }) => [event, remote])).toEqual([["refused", "203.0.113.7"]]);
    expect(() => mount(reader, { trustedProxies: { addresses: ["127.0.0.1"], by: "proxy-protocol" } })).toThrow("PROXY protocol");
  });
});

describe("a public address without authentication", () => {
  test("needs the consent of an open bind", async () => {
    await expect(serve(reader, { publicUrl: "https://agents.example" })).rejects.toMatchObject({
      code: "forbidden",
      message: expect.stringContaining("https://agents.example"),
    });
    await serving({ publicUrl: "https://agents.example", openToEverybody: true });
    await serving({ publicUrl: "http://127.0.0.1:9" });
    await expect(serve(reader, { trustedProxies: { addresses: ["127.0.0.1"] } })).rejects.toMatchObject({ code: "forbidden" });
  });
});
