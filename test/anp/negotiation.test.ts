import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import { agent, type ConnectOptions, connect, DiscoveryCache, type Loss, serve } from "../../src/index.js";
import { anp } from "../../src/protocols/anp/index.js";
import type { HttpRequest, Link } from "../../src/transport/exchange.js";
import { openSession } from "../../src/transport/links.js";
import { poolLink } from "../../src/transport/node/index.js";
import { boundIdentity, freePort, LOOPBACK } from "./directory.js";

/** `protocol_hint` asks for negotiation before the first message: which requests leave, in which order, and what a refusal means. */

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** A link that notes the methods of JSON-RPC, and sessions. */
function noting(methods: string[]): Link {
  const link = poolLink();
  return {
    exchange(request: HttpRequest) {
      if (request.method === "POST")
        methods.push((JSON.parse(Buffer.from(request.body).toString()) as { method: string }).method);
      return link.exchange(request);
    },
    open(...args) {
      methods.push("session");
      return openSession(link, ...args);
    },
    close: () => link.close(),
  };
}

async function called(url: string, options: ConnectOptions) {
  const methods: string[] = [];
  const link = noting(methods);
  const peer = await connect(url, {
    protocols: [anp],
    discoveryCache: new DiscoveryCache(),
    settings: LOOPBACK,
    link,
    ...options,
  });
  closing.push(() => peer.close());
  closing.push(() => link.close());
  methods.length = 0; // of discovery
  return { peer, methods };
}

async function served(): Promise<string> {
  const port = await freePort();
  const identity = boundIdentity(port, "desk");
  const desk = agent({ name: "desk", description: "d", handle: ({ text }) => `you said: ${text}` });
  const server = await serve(desk, { protocols: [anp], port, identity, settings: LOOPBACK });
  closing.push(() => server.close());
  return server.url.replace("127.0.0.1", "localhost");
}

describe("a message with a protocol_hint", () => {
  test("is negotiated before the first one, and once for those that are sent in the same way", async () => {
    const { peer, methods } = await called(await served(), { pin: "anp@1.2/JSONRPC" });
    expect(await peer.ask("plain")).toBe("you said: plain");
    expect(await peer.ask("one", { hint: "anp" })).toBe("you said: one");
    expect(await peer.ask("two", { hint: "anp@1.2" })).toBe("you said: two");
    expect(methods).toEqual(["koine.send", "anp.negotiate", "koine.send", "koine.send"]);
    const events = [];
    for await (const event of peer.stream("three", { hint: "anp" })) events.push(event);
    expect(events.length).toBeGreaterThan(0);
    expect(methods.slice(4)).toEqual(["anp.negotiate", "koine.send"]);
  });

  test("is negotiated before the session is opened in which it is sent", async () => {
    const { peer, methods } = await called(await served(), {});
    expect([peer.binding, await peer.ask("sealed", { hint: "anp" })]).toEqual(["WS", "you said: sealed"]);
    expect(methods.slice(0, 2)).toEqual(["anp.negotiate", "session"]);
  });
});

describe("a peer of another implementation", () => {
  type Answer = (method: string, body: unknown) => object;
  async function peerWith(negotiate: Answer): Promise<{ url: string; methods: string[] }> {
    const methods: string[] = [];
    const server = createServer(async (request, response) => {
      let text = "";
      for await (const chunk of request) text += chunk;
      const at = `http://${request.headers.host}`;
      response.setHeader("content-type", "application/json");
      if (request.url === "/anp/ad.json")
        return response.end(
          JSON.stringify({
            protocolType: "ANP",
            type: "AgentDescription",
            name: "Desk",
            description: "d",
            interfaces: [{ type: "StructuredInterface", protocol: "openrpc", url: `${at}/anp/interface.json` }],
          }),
        );
      if (request.url === "/anp/interface.json")
        return response.end(
          JSON.stringify({
            openrpc: "1.3.2",
            methods: [{ name: "koine.send", params: [] }],
            servers: [{ url: `${at}/anp/rpc` }],
          }),
        );
      if (request.method !== "POST") return response.writeHead(404).end("{}");
      const { id, method, params } = JSON.parse(text) as { id: string; method: string; params: { body: unknown } };
      methods.push(method);
      const sent = { result: { kind: "message", message: { role: "agent", parts: [{ text: "done" }] } } };
      return response.end(
        JSON.stringify({ jsonrpc: "2.0", id, ...(method === "koine.send" ? sent : negotiate(method, params.body)) }),
      );
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    closing.push(async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    });
    return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, methods };
  }

  test.each([
    ["rejects", { status: "rejected", reason: "no execution mode in common" }, "negotiation_rejected"],
    ["wants to know more", { status: "needs_more_information" }, "negotiation_incomplete"],
    [
      "selects another address",
      {
        status: "accepted",
        selected: { securityProfile: "transport-protected", url: "https://elsewhere.example/rpc" },
        execution: { mode: "direct_structured_call" },
      },
      "negotiation_elsewhere",
    ],
  ])("that %s is not sent the message", async (_what, result, reason) => {
    const { url, methods } = await peerWith(() => ({ result }));
    const { peer } = await called(url, {});
    await expect(peer.ask("hello", { hint: "anp" })).rejects.toMatchObject({
      code: "unsupported",
      facts: { sent: "no", detail: { reason } },
    });
    expect(methods).toEqual(["anp.negotiate"]);
  });

  test("that selects what it was not offered breaks its protocol", async () => {
    const result = {
      status: "accepted",
      selected: { securityProfile: "transport-protected" },
      execution: { mode: "natural_language" },
    };
    const { url, methods } = await peerWith(() => ({ result }));
    const { peer } = await called(url, {});
    await expect(peer.ask("hello", { hint: "anp" })).rejects.toMatchObject({ code: "bad_peer" });
    expect(methods).toEqual(["anp.negotiate"]);
  });

  test("that does not negotiate gets the message, and the loss is reported", async () => {
    const { url, methods } = await peerWith(() => ({ error: { code: -32601, message: "no such method" } }));
    const losses: Loss[] = [];
    const { peer } = await called(url, { onLoss: (loss) => losses.push(loss) });
    expect(await peer.ask("hello", { hint: "anp" })).toBe("done");
    expect([methods, losses.map(({ path }) => path)]).toEqual([
      ["anp.negotiate", "koine.send"],
      expect.arrayContaining(["message.meta.protocolHint"]),
    ]);
  });
});
