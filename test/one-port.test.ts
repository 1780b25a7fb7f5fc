import { A2AClient, DefaultAgentCardResolver } from "a2a-js-sdk-03/client";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { agent, type Mounted, mount, type Server, serve } from "../src/index.js";
import { cardSigner, createCardCheck, newCardKey } from "../src/public/auth.js";
import { protocols } from "../src/public/protocols.js";
import { startKoine } from "./peers/koine.js";
import { ask, at, type Tree } from "./wires/wire.js";

/** One port, every protocol: which protocol answers, and documents that several protocols share. */

let server: Server;
beforeAll(async () => {
  server = await startKoine();
});
afterAll(() => server?.close());

const read = async (path: string): Promise<Tree> => (await fetch(server.url + path)).json() as Promise<Tree>;

describe("POST /", () => {
  const post = (body: string, type = "application/json") =>
    ask(server.url, { method: "POST", path: "/", headers: { "content-type": type }, body });
  const deep = "[".repeat(80) + "]".repeat(80);
  const inJsonRpc = (code: number) => ({ status: 200, body: { jsonrpc: "2.0", error: { code } } });
  const answered = { status: 200, body: { status: "success", body: "you said: hello" } };
  /** As agora-protocol 0.2.0 does, the reason is in both members. */
  const refused = (status: number, words: RegExp) => {
    const reason = expect.stringMatching(words);
    return { status, body: { status: "error", message: reason, body: reason } };
  };

  test.each<[string, string, object]>([
    ["a request of JSON-RPC", '{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":"x"}}', inJsonRpc(-32001)],
    [
      "one with members of Agora beside it",
      '{"jsonrpc":"2.0","id":1,"method":"x","protocolHash":null,"body":"hello"}',
      inJsonRpc(-32601),
    ],
    ["one without its version", '{"id":1,"method":"GetTask"}', inJsonRpc(-32600)],
    ["a list", "[]", inJsonRpc(-32600)],
    ["a list of messages of Agora", '[{"protocolHash":null,"body":"hello"}]', inJsonRpc(-32600)],
    ["no object at all", "17", inJsonRpc(-32600)],
    ["nothing", "", inJsonRpc(-32700)],
    ["no JSON", '{"protocolHash":null,', inJsonRpc(-32700)],
    ["JSON that is nested too deep", `{"protocolHash":null,"body":"hello","more":${deep}}`, inJsonRpc(-32600)],
    ["a message of Agora", '{"protocolHash":null,"protocolSources":[],"body":"hello"}', answered],
    ["one as the library's receiver takes it too", '{"body":"hello"}', answered],
    ["one in the seed's words", '{"message":"hello","request_id":"r-1"}', answered],
    ["an empty object", "{}", refused(400, /^body is missing/)],
    [
      "a document that nobody has",
      '{"protocolHash":"qrKDMTlZrVmIMjFEsLOtJDj64/0=","protocolSources":[],"body":"x"}',
      refused(400, /^Failed to download protocol$/),
    ],
  ])("%s", async (_what, body, answer) => {
    expect(await post(body)).toMatchObject(answer);
  });

  test("an Agora message that a web page could send unasked is refused in its form", async () => {
    expect(await post('{"protocolHash":null,"body":"hello"}', "text/plain")).toMatchObject(
      refused(415, /application\/json.*text\/plain/),
    );
  });

  test("belongs to Agora if no other protocol is served", async () => {
    const alone = await startKoine({ protocols: protocols.filter(({ id }) => id === "agora") });
    try {
      for (const [body, reason] of [
        ["", /empty/],
        ["[]", /must be an object/],
        ["{", /not JSON/],
        ['{"jsonrpc":"2.0","id":1,"method":"x"}', /^body is missing/],
      ] as const) {
        const answer = await ask(alone.url, { method: "POST", path: "/", headers: { "content-type": "application/json" }, body });
        expect([body, answer]).toMatchObject([body, refused(400, reason)]);
      }
    } finally {
      await alone.close();
    }
  });
});

describe("an agent whose name is a path segment of a protocol", () => {
  test.each(["runs", "agents", "acp", "agora", "ping"])("%s is found by name over every wire", async (name) => {
    const named = await serve(agent({ name, description: "has a name", handle: () => "here" }));
    try {
      const shown = await (await fetch(`${named.url}/agents/${name}`)).json();
      expect(shown).toMatchObject({ name, description: "has a name" });
      const sent = { method: "POST", headers: { "content-type": "application/json" } };
      const run = { ...sent, path: "/runs", body: JSON.stringify({ agent_name: name, input: [] }) };
      expect(await ask(named.url, run)).toMatchObject({ status: 200, body: { agent_name: name, status: "completed" } });
      const message = { ...sent, path: `/agora/${name}`, body: '{"protocolHash":null,"body":"hello"}' };
      expect(await ask(named.url, message)).toMatchObject({ status: 200, body: { status: "success", body: "here" } });
    } finally {
      await named.close();
    }
  });

  test.each(["tasks", "v1", "conversations", "protocols", "wellknown"])(
    "%s is refused at start: it is a path prefix of a protocol",
    async (name) => {
      await expect(serve(agent({ name, description: "d", handle: () => "" }))).rejects.toMatchObject({ code: "conflict" });
    },
  );
});

describe("/.well-known/agent.json", () => {
  test("is a card for the official SDK of A2A 0.3, which then gets its answer", async () => {
    const card = await new DefaultAgentCardResolver().resolve(server.url, "/.well-known/agent.json");
    expect(card).toMatchObject({ name: "conform", url: `${server.url}/a2a`, capabilities: { streaming: true } });
    const client = await A2AClient.fromCardUrl(`${server.url}/.well-known/agent.json`);
    const parts = [{ kind: "text" as const, text: "hello" }];
    const answer = await client.sendMessage({ message: { kind: "message", messageId: "m-1", role: "user", parts } });
    expect(at(answer, "result", "parts", 0, "text")).toBe("you said: hello");
  });

  test("gives readers of the plain ACP document every endpoint", async () => {
    const { agent_id, endpoints, features } = await read("/.well-known/agent.json");
    expect([agent_id, features]).toEqual(["conform", { streaming: true, progress_tracking: true, async_generator: true }]);
    const get = async (name: string) =>
      ask(String(at(endpoints, name)), { method: "GET", path: "", headers: {}, body: undefined });
    expect(await get("capabilities")).toMatchObject({ status: 200, body: { agent_id: "conform", capabilities: ["conform"] } });
    expect(await get("status")).toMatchObject({ status: 200, body: { agent_id: "conform", status: "healthy" } });
    expect(await get("health")).toMatchObject({ status: 200 });
    expect(await get("agents")).toMatchObject({ status: 200, body: { agents: [{ name: "conform" }] } });
    const message = await ask(String(at(endpoints, "message")), {
      method: "POST",
      path: "",
      headers: { "content-type": "application/json" },
      body: '{"id":"m-1","type":"request","sender":"s","receiver":"conform","payload":{"text":"hello"}}',
    });
    expect(message).toMatchObject({ status: 200, body: { correlation_id: "m-1", results: [{ content: "you said: hello" }] } });
  });

  test("describes the agent to readers of the plain Agora document", async () => {
    expect(await read("/.well-known/agent.json")).toMatchObject({
      name: "conform",
      description: "does what a test commands",
      version: "1.0.0",
    });
  });

  test.each([["acp"], ["agora"], ["acp", "agora"]])("exists without A2A too: %s %s", async (...ids) => {
    const some = await startKoine({ protocols: protocols.filter(({ id }) => ids.includes(id)) });
    try {
      const document = await (await fetch(`${some.url}/.well-known/agent.json`)).json();
      expect(document).toMatchObject({ name: "conform", description: "does what a test commands" });
      expect(document).not.toHaveProperty("capabilities");
    } finally {
      await some.close();
    }
  });

  test("stays exactly as signed: no other member is added, and the other endpoints still answer", async () => {
    const key = newCardKey("EdDSA", "house-1");
    const signed: Mounted = mount(agent({ name: "clerk", description: "signs", handle: () => "yes" }), {
      cardKeys: [cardSigner({ key: key.privateJwk })],
      publicUrl: "https://clerk.example",
    });
    try {
      const get = (path: string) => signed.fetch(new Request(`https://clerk.example${path}`));
      const [older, newer] = [await get("/.well-known/agent.json"), await get("/.well-known/agent-card.json")];
      const bytes = new Uint8Array(await older.arrayBuffer());
      const check = createCardCheck({ keys: [{ name: "house", key: key.publicJwk }], require: true });
      expect(await check(bytes)).toEqual({ result: "verified", by: "house" });
      expect(JSON.parse(Buffer.from(bytes).toString())).toEqual(await newer.json());
      for (const path of ["/acp/status", "/agents/clerk", "/.well-known/agora"])
        expect([path, (await get(path)).status]).toEqual([path, 200]);
    } finally {
      await signed.close();
    }
  });
});

describe("/health", () => {
  test.each([{}, { accept: "text/plain" }, { accept: "application/json" }])(
    "is 200 with the status only, asked with %o",
    async (headers) => {
      const response = await fetch(`${server.url}/health`, { headers: { ...headers } });
      expect([response.status, await response.json()]).toEqual([200, { status: "ok" }]);
    },
  );
});
