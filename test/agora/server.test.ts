import { describe, expect, it } from "vitest";
import { dataPart } from "../../src/envelope/index.js";
import { agent } from "../../src/server/index.js";
import { TestHost, words } from "./test-host.js";

const ECHO = "---\nname: Echo\ndescription: ECHO protocol\nmultiround: false\n---\nECHO the JSON body back.\n";
const ECHO_HASH = "L9xl1shodRYEKdIIT3ydYkazG8M=";
const WORDS = "Send any text; it comes back in capitals.";
/** `printf '%s' "$WORDS" | openssl sha1 -binary | base64` */
const WORDS_HASH = "DySKuXJDbdzFmhz8ZZjjzhLEfVI=";

const skill = { description: "d", tags: ["t"] };
const helper = agent({
  name: "helper",
  description: "helps",
  handle: async ({ text }) => `you said: ${text}`,
  skills: [
    {
      ...skill,
      id: "echo",
      name: "Echo",
      inputModes: ["application/json"],
      document: ECHO,
      handle: async ({ content }) => [dataPart({ echoed: content[0]?.kind === "data" ? content[0].data : null })],
    },
    {
      ...skill,
      id: "shout",
      name: "Shout",
      inputModes: ["text/plain"],
      document: WORDS,
      handle: async ({ text }) => text.toUpperCase(),
    },
  ],
});
const other = agent({ name: "other", description: "another", handle: async ({ text }) => `other: ${text}` });

describe("natural language", () => {
  it.each([null, [], undefined])("is answered with any value of the sources: %j", async (protocolSources) => {
    const { status, json } = await new TestHost([helper]).post("/", { protocolHash: null, protocolSources, body: "hi" });
    expect([status, json]).toEqual([200, { status: "success", body: "you said: hi" }]);
  });

  it("is answered at the seed's endpoint, with the seed's members", async () => {
    const host = new TestHost([helper]);
    const flat = { message: "hi", request_id: "r-1", source: "a", target: "b", trace_id: "t", session: "s" };
    expect((await host.post("/agora", flat)).json).toEqual({ status: "success", body: "you said: hi" });
    expect((await host.post("/agora", { message: { text: "hi" }, metadata: { trace_id: "t" } })).json).toMatchObject({
      body: "you said: hi",
    });
    expect((await host.post("/agora", { message: "a", parameters: { b: 1 } })).json).toMatchObject({ body: "you said: a" });
  });

  it("goes to the agent in the path", async () => {
    const host = new TestHost([helper, other]);
    expect((await host.post("/agora/other", words("hi"))).json).toMatchObject({ body: "other: hi" });
    expect((await host.post("/agora/other/", words("hi"))).json).toMatchObject({ body: "other: hi" });
    expect((await host.post("/agora/none", words("hi"))).status).toBe(404);
  });

  it("is rejected by setting, and reported as unsupported without a model", async () => {
    const refusing = new TestHost([helper], { settings: { naturalLanguage: "refuse" } });
    expect(await refusing.post("/", words("hi"))).toMatchObject({ status: 422, json: { status: "error" } });
    const modelless = new TestHost([helper], { settings: { naturalLanguage: "model" } });
    expect((await modelless.post("/", words("hi"))).json).toEqual({
      status: "error",
      message: "no language model is configured",
      body: "no language model is configured",
    });
  });
});

describe("a registered routine", () => {
  it("is selected by the hash of its document, without any source", async () => {
    const host = new TestHost([helper]);
    const { json } = await host.post("/", { protocolHash: ECHO_HASH, protocolSources: [], body: '{"a":1}' });
    expect(json).toEqual({ status: "success", body: '{"echoed":{"a":1}}' });
    expect((await host.post("/", { protocolHash: WORDS_HASH, protocolSources: null, body: '{"a":1}' })).json).toMatchObject({
      body: '{"A":1}',
    });
  });

  it("is selected by the hash of the trimmed text, as the library's negotiator computes it", async () => {
    const host = new TestHost([helper]);
    const trimmed = "r9NgomaQ1vXFY+HXrdstTIhRQQ0="; // computed by the library, see fixtures/documents.json
    const { json } = await host.post("/", { protocolHash: trimmed, protocolSources: [], body: "[]" });
    expect(json).toEqual({ status: "success", body: '{"echoed":[]}' });
    expect((await host.get(`/protocols/${encodeURIComponent(trimmed)}`)).text).toBe(ECHO.trim());
    expect((await host.get("/.wellknown")).json).not.toHaveProperty([trimmed]);
  });

  it("receives no body that is not the JSON it requires", async () => {
    const { status, json } = await new TestHost([helper]).post("/", { protocolHash: ECHO_HASH, protocolSources: [], body: "{a" });
    expect([status, json["status"], json["body"]]).toEqual([
      400,
      "error",
      "body must be JSON text, as the protocol document requires",
    ]);
  });

  it("receives no JSON beyond the depth limit", async () => {
    const host = new TestHost([helper]);
    const nested = (levels: number) => ({ protocolHash: ECHO_HASH, body: "[".repeat(levels) + "]".repeat(levels) });
    expect((await host.post("/", nested(64))).status).toBe(200);
    for (const multiround of [false, true]) {
      const { status, json } = await host.post("/", { ...nested(65), multiround });
      expect([status, json["message"]]).toEqual([413, "body is too large: the body is nested 65 levels deep; the limit is 64"]);
    }
    expect((await host.post("/", nested(100_000))).status).toBe(413);
  });

  it("receives no JSON with more values than the limit, also inside its text body", async () => {
    const host = new TestHost([helper]);
    const { status, json } = await host.post("/", { protocolHash: ECHO_HASH, body: JSON.stringify(Array(100_001).fill(0)) });
    expect([status, json["message"]]).toEqual([
      413,
      "body is too large: the body has more than 100000 JSON values; send large data as a file",
    ]);
  });

  it("belongs to its agent: found at the root, and not below another agent", async () => {
    const host = new TestHost([other, helper]);
    const request = { protocolHash: WORDS_HASH, protocolSources: [], body: "hi" };
    expect((await host.post("/", request)).json).toMatchObject({ body: "HI" });
    expect((await host.post("/agora/helper", request)).json).toMatchObject({ body: "HI" });
    expect((await host.post("/agora/other", request)).status).toBe(400);
  });
});

describe("dialects", () => {
  const unknown = {
    protocolHash: "2jmj7l5rSw0yVb/vlWAYkK/YBwk=",
    protocolSources: ["data:text/plain;charset=utf-8,"],
    body: "x",
  };

  it.each(["python", "demo"])("%s: an error is never mistaken for an answer, and readable in all dialects", async (dialect) => {
    const host = new TestHost([helper], { settings: { dialect } });
    const message = "2jmj7l5rSw0yVb/vlWAYkK/YBwk= is not suitable for execution";
    expect(await host.post("/", unknown)).toMatchObject({ status: 422, json: { status: "error", message, body: message } });
    const elsewhere = new TestHost([helper], { settings: { dialect } });
    expect((await elsewhere.post("/", { ...unknown, protocolSources: [] })).json).toEqual({
      status: "error",
      message: "Failed to download protocol",
      body: "Failed to download protocol",
    });
  });

  it("spec: a failure has an error status, and an unsupported document is exactly rejected", async () => {
    const host = new TestHost([helper], { settings: { dialect: "spec" } });
    expect(await host.post("/", unknown)).toMatchObject({ status: 200, text: '{"status":"rejected"}' });
    expect(await host.post("/", words("x", { multiround: 1 }))).toMatchObject({
      status: 400,
      text: '{"status":"failure","body":"multiround must be true or false, not a number"}',
    });
  });

  it.each(["python", "spec", "demo"])("%s: success is the same in all dialects", async (dialect) => {
    const host = new TestHost([helper], { settings: { dialect } });
    expect((await host.post("/", words("hi"))).text).toBe('{"status":"success","body":"you said: hi"}');
  });
});

describe("bad input", () => {
  const wrong: readonly (readonly [what: string, body: unknown, status: number, says: string])[] = [
    ["no JSON", "{", 400, "the body is not JSON"],
    ["nothing", "", 400, "the body is empty"],
    ["a list", [], 400, "must be an object, not an array"],
    ["null", "null", 400, "must be an object, not null"],
    ["no body", { protocolHash: null, protocolSources: [] }, 400, "body is missing"],
    ["a body that is an object", words("x", { body: {} }), 400, "body must be a string, not an object"],
    ["a hash that is a number", words("x", { protocolHash: 7 }), 400, "protocolHash must be a string or null"],
    ["a hash that is none", words("x", { protocolHash: "../etc" }), 400, "protocolHash must be null, negotiation"],
    [
      "sources that are text",
      { protocolHash: "2jmj7l5rSw0yVb/vlWAYkK/YBwk=", protocolSources: "x", body: "x" },
      400,
      "protocolSources",
    ],
    [
      "a source that is a number",
      { protocolHash: "2jmj7l5rSw0yVb/vlWAYkK/YBwk=", protocolSources: [7], body: "x" },
      400,
      "protocolSources[0]",
    ],
    ["metadata that is text", words("x", { metadata: "x" }), 400, "metadata must be an object"],
    ["a key that is a number", words("x", { metadata: { idempotency_key: 7 } }), 400, "metadata.idempotency_key"],
    ["an envelope that is none", words("x", { metadata: { envelope: { id: 7 } } }), 400, "metadata.envelope"],
    ["a receipt without id", words("x", { metadata: { receipt: {} } }), 400, "metadata.receipt.id"],
    ["a message that is a number", { message: 7 }, 400, "message must be a string"],
    ["deep nesting", `{"body":${"[".repeat(70)}${"]".repeat(70)}}`, 413, "is nested 71 levels deep; the limit is 64"],
  ];

  it.each(wrong)("%s is rejected with an Agora error", async (_what, body, status, says) => {
    const answered = await new TestHost([helper]).post("/agora", body);
    expect(answered.status).toBe(status);
    expect(answered.json).toEqual({ status: "error", message: answered.json["body"], body: expect.stringContaining(says) });
  });

  it("is rejected with another content type, and accepted without any", async () => {
    const host = new TestHost([helper]);
    const text = JSON.stringify(words("hi"));
    expect((await host.ask("POST", "/agora", { "content-type": "text/plain" }, text)).status).toBe(415);
    expect((await host.ask("POST", "/agora", { "content-type": "application/json; charset=utf-8" }, text)).status).toBe(200);
    expect((await host.ask("POST", "/agora", {}, text)).status).toBe(200);
  });

  it("at an unknown path or with an unsupported method is reported", async () => {
    const host = new TestHost([helper]);
    expect((await host.get("/agora/nowhere/else")).json).toMatchObject({ status: "error" });
    expect((await host.ask("PUT", "/agora/conversations/x")).status).toBe(404);
    expect((await host.ask("PUT", "/agora/helper")).status).toBe(405);
    expect((await host.post("/agora/conversations/%E0%A4%A", words("x"))).status).toBe(404);
  });

  it("in settings is rejected at start", () => {
    for (const settings of [{ dialect: "klingon" }, { conversationMs: 0 }, { followSources: "no" }, { dialct: "python" }])
      expect(() => new TestHost([helper], { settings }), JSON.stringify(settings)).toThrow(/agora\./);
  });
});

describe("admission", () => {
  it("comes first, and rejects with an Agora error", async () => {
    const host = new TestHost([helper]);
    const anonymous = { "x-caller": "nobody" };
    for (const answered of [
      await host.post("/", words("hi"), anonymous),
      await host.post("/agora", "{", anonymous),
      await host.post("/conversations/x", words("hi"), anonymous),
      await host.delete("/conversations/x", anonymous),
    ]) {
      expect(answered).toMatchObject({ status: 401, json: { status: "error", message: "who is it?", body: "who is it?" } });
      expect(answered.headers["www-authenticate"]).toBe("Bearer");
    }
    expect((await host.get("/.well-known/agora", anonymous)).status).toBe(200);
  });
});

describe("discovery", () => {
  const source = `http://desk.example/protocols/${encodeURIComponent(ECHO_HASH)}`;

  it("is the Koine document, with everything a client needs", async () => {
    const { status, json, headers } = await new TestHost([helper]).get("/.well-known/agora");
    expect(status).toBe(200);
    expect(json).toMatchObject({
      koine: 1,
      name: "helper",
      description: "helps",
      url: "http://desk.example/agora",
      dialect: "python",
      limits: { documentBytes: 65_536, sources: 8, conversationMs: 300_000, conversations: 100, replyWithinMs: 30_000 },
      protocols: {
        [ECHO_HASH]: {
          sources: [source],
          name: "Echo",
          description: "ECHO protocol",
          multiround: false,
          skill: "echo",
          sha256: "xfKRzZ8MFGq0hrhwIZQhu1EFxWDowL7DtJfi9J95F+8=",
        },
        [WORDS_HASH]: { name: "Unnamed protocol", skill: "shout" },
      },
    });
    expect(headers["etag"]).toMatch(/"/);
  });

  it("also has the documents of the specification and the demonstration", async () => {
    const host = new TestHost([helper]);
    expect((await host.get("/.wellknown")).json).toMatchObject({ [ECHO_HASH]: [source] });
    expect((await host.get("/wellknown")).json).toMatchObject({ status: "success", protocols: { [ECHO_HASH]: [source] } });
    expect((await host.ask("HEAD", "/.wellknown")).text).toBe("");
  });

  it("describes one agent below its own address", async () => {
    const host = new TestHost([helper, other]);
    expect((await host.get("/agora/other/.well-known/agora")).json).toMatchObject({
      name: "other",
      url: "http://desk.example/agora/other",
      protocols: {},
    });
  });

  it("links to the exact text of each document", async () => {
    const host = new TestHost([helper]);
    const answered = await host.get(`/protocols/${encodeURIComponent(ECHO_HASH)}`);
    expect(answered).toMatchObject({ status: 200, text: ECHO, headers: { "content-type": "text/plain; charset=utf-8" } });
    expect((await host.get(`/protocols/${WORDS_HASH}`)).text).toBe(WORDS);
    const again = await host.get(`/protocols/${encodeURIComponent(ECHO_HASH)}`, {
      "if-none-match": answered.headers["etag"] ?? "",
    });
    expect(again.status).toBe(304);
    expect(await host.get("/protocols/none")).toMatchObject({ status: 404, json: { status: "error" } });
  });
});

describe("an agent", () => {
  it("cannot have a reserved name, nor a document over the limit", () => {
    const named = agent({ name: "conversations", description: "d", handle: async () => "x" });
    expect(() => new TestHost([named])).toThrow(/cannot be named "conversations"/);
    const long = agent({
      name: "long",
      description: "d",
      handle: async () => "x",
      skills: [{ ...skill, id: "s", name: "S", document: "x".repeat(70_000) }],
    });
    expect(() => new TestHost([long])).toThrow(/at most 65536/);
  });
});
