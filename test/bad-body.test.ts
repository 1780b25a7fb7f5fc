import { connect as openSocket } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createMemoryArtifacts, type Server } from "../src/index.js";
import { openProtocols } from "./helpers/open-protocols.js";
import { startKoine } from "./peers/koine.js";
import { ACP_PLAIN, ACP_REST } from "./wires/acp.js";
import { AGORA, agoraBody, agoraWire, postAgora } from "./wires/agora.js";
import { ask, at, JSON_RPC_0_3, JSON_RPC_1_0, PLAIN, REST_0_3, REST_1_0, type Sent, type Wire } from "./wires/wire.js";

/** Unreadable bodies over every wire: each refuses them in its own form, and continues to serve. */

/** Opened before anything is sent there. */
let conversation = "";
const AGORA_CONVERSATION = agoraWire("Agora conversation", () => `/conversations/${conversation}`);

/** How each wire reports the error. */
interface Codes {
  readonly unreadable: unknown;
  readonly tooMuch: unknown;
  readonly otherType: unknown;
}

// JSON-RPC 2.0 §5.1 and A2A 1.0 §5.4; the plain error codes are Koine's own; those of BeeAI ACP and Agora are in their error tables.
const RPC: Codes = { unreadable: -32700, tooMuch: -32600, otherType: -32005 };
const AGORA_CODES: Codes = { unreadable: 400, tooMuch: 413, otherType: 415 };
const WIRES: readonly { readonly wire: Wire; readonly name: string; readonly codes: Codes }[] = [
  { wire: JSON_RPC_1_0, codes: RPC },
  { wire: REST_1_0, codes: { unreadable: 400, tooMuch: 413, otherType: 400 } },
  { wire: JSON_RPC_0_3, codes: RPC },
  { wire: REST_0_3, codes: { unreadable: 400, tooMuch: 413, otherType: 415 } },
  { wire: PLAIN, codes: { unreadable: "E_DECODE", tooMuch: "E_PROTOCOL", otherType: "E_UNSUPPORTED" } },
  { wire: ACP_REST, codes: { unreadable: "422 invalid_input", tooMuch: "413 invalid_input", otherType: "422 invalid_input" } },
  { wire: ACP_PLAIN, codes: { unreadable: "422 E_DECODE", tooMuch: "413 E_PROTOCOL", otherType: "422 E_UNSUPPORTED" } },
  { wire: AGORA, codes: AGORA_CODES },
  { wire: AGORA_CONVERSATION, codes: AGORA_CODES },
].map((each) => ({ ...each, name: each.wire.name }));

const BODY_BYTES = 100_000;
const JSON_VALUES = 10_000;

let server: Server;
beforeAll(async () => {
  server = await startKoine({
    limits: { bodyBytes: BODY_BYTES, jsonValues: JSON_VALUES, requestMs: 500, headersMs: 500, keepAliveMs: 50 },
  });
  const opened = await ask(server.url, postAgora("/", agoraBody("hello", { multiround: true })));
  conversation = String(at(opened.body, "conversationId"));
});
afterAll(() => server?.close());

async function refusal(wire: Wire, sent: Sent, headers: Sent["headers"] = {}) {
  const { status, body } = await ask(server.url, sent, headers);
  return wire.refused(status, body);
}

async function expectStillServing(wire: Wire): Promise<void> {
  const { status, body } = await ask(server.url, wire.send(wire.params("hello")));
  expect([status, wire.text(body)]).toEqual([200, "you said: hello"]);
}

const good = (wire: Wire): string => String(wire.send(wire.params("hello")).body);
/** Valid JSON, deeply nested where any JSON is allowed. */
const deep = (wire: Wire): string => good(wire).replace(/\}$/, `,"more":${"[".repeat(80)}${"]".repeat(80)}}`);
/** Small, and slow to parse for its size. */
const many = (wire: Wire): string => good(wire).replace(/\}$/, `,"more":[${"{},".repeat(JSON_VALUES / 2)}{}]}`);
const badUtf8 = (wire: Wire): Uint8Array => {
  const bytes = Buffer.from(good(wire));
  bytes[bytes.indexOf("hello") + 1] = 0xff;
  return bytes;
};

interface BodyCase {
  readonly what: string;
  body(wire: Wire): string | Uint8Array;
  readonly code: keyof Codes;
  readonly says: RegExp;
}

const BODIES: readonly BodyCase[] = [
  { what: "malformed JSON", body: (wire) => good(wire).slice(0, -1), code: "unreadable", says: /JSON/ },
  { what: "an empty body", body: () => "", code: "unreadable", says: /JSON|empty/ },
  { what: "text that is not JSON", body: () => "hello", code: "unreadable", says: /JSON/ },
  { what: "invalid UTF-8", body: badUtf8, code: "unreadable", says: /UTF-8/ },
  { what: "JSON that is too deep", body: deep, code: "tooMuch", says: /deep|64/ },
  { what: "JSON of too many values", body: many, code: "tooMuch", says: /more than 10000 JSON values/ },
];

describe.each(WIRES)("$name: an unreadable body", ({ wire, codes }) => {
  test.each(BODIES)("$what", async ({ body, code, says }) => {
    const refused = await refusal(wire, { ...wire.send({}), body: body(wire) });
    expect([refused.code, says.test(refused.message)], refused.message).toEqual([codes[code], true]);
    await expectStillServing(wire);
  });

  test("a content type that is not JSON", async () => {
    const refused = await refusal(wire, wire.send(wire.params("hello")), { "content-type": "text/xml" });
    expect(refused.code).toBe(codes.otherType);
    expect(refused.message).toContain("application/json");
    await expectStillServing(wire);
  });

  test("a body that is too large", async () => {
    const { status, body } = await ask(server.url, wire.send(wire.params("x".repeat(BODY_BYTES))));
    expect(status).toBe(413);
    expect(wire.refused(status, body)).toEqual({
      code: codes.tooMuch,
      message: `the request body is longer than ${BODY_BYTES} bytes (limit bodyBytes)`,
    });
    await expectStillServing(wire);
  });

  test("a body that arrives too slowly", async () => {
    const { method, path, headers, body } = wire.send(wire.params("hello"));
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    const length = Buffer.byteLength(String(body));
    const head = `${method} ${path} HTTP/1.1\r\nhost: 127.0.0.1:${server.port}\r\ncontent-length: ${length}\r\n${lines.join("")}\r\n`;
    const answer = await rawExchange(head + String(body).slice(0, 10));
    expect(answer).toMatch(/^HTTP\/1\.1 408 /);
    expect(answer).toContain("the request did not arrive in time");
    await expectStillServing(wire);
  });

  test("the same message twice at once: each gets its own answer", async () => {
    const both = ["one", "two"].map((words) => ask(server.url, wire.send(wire.params(words))));
    expect((await Promise.all(both)).map(({ body }) => wire.text(body))).toEqual(["you said: one", "you said: two"]);
  });
});

describe.each(WIRES.filter(({ wire }) => wire.stream !== undefined))("$name: a stream", ({ wire }) => {
  test("whose reader disconnects", async () => {
    const { method, path, headers, body } = wire.stream?.(wire.params("conform: wait")) ?? wire.send({});
    const leaving = new AbortController();
    const response = await fetch(server.url + path, { method, headers, body: String(body), signal: leaving.signal });
    expect([response.status, response.headers.get("content-type")]).toEqual([200, "text/event-stream"]);
    await response.body?.getReader().read();
    leaving.abort();
    await expectStillServing(wire);
  });
});

/** The default: small beside that of other bodies, because parsing blocks the event loop. */
const JSON_BYTES = 4 * 1024 * 1024;
/** Not JSON, so that an answer about its length was given before it was parsed. */
const LONG_BODY = `{"a":"${"x".repeat(5 * 1024 * 1024)}`;

describe("JSON of five megabytes, with the default limits", () => {
  let plain: Server;
  let storing: Server;
  beforeAll(async () => {
    plain = await startKoine();
    storing = await startKoine({ artifacts: { store: createMemoryArtifacts({ now: Date.now, newId: () => "artifact" }) } });
  });
  afterAll(async () => {
    await plain?.close();
    await storing?.close();
  });
  const NAMED = `the request body is longer than ${JSON_BYTES} bytes (limit jsonBytes`;

  test.each(WIRES.filter(({ wire }) => wire !== AGORA_CONVERSATION))("$name: is refused unread", async ({ wire, codes }) => {
    const { status, body } = await ask(plain.url, { ...wire.send({}), body: LONG_BODY });
    expect([status, wire.refused(status, body)]).toEqual([413, { code: codes.tooMuch, message: `${NAMED})` }]);
  });

  test.each(WIRES.filter(({ wire }) => wire !== AGORA_CONVERSATION))(
    "$name: the refusal says how to upload, where that is possible",
    async ({ wire }) => {
      const { status, body } = await ask(storing.url, { ...wire.send({}), body: LONG_BODY });
      const { message } = wire.refused(status, body);
      expect([status, message]).toEqual([
        413,
        `${NAMED}; upload large content first, by POST /artifacts, and send its reference)`,
      ]);
    },
  );

  test.each(openProtocols.map(({ id, samples }) => ({ id, samples })))("$id: every request of it", async ({ samples }) => {
    const sent = (await samples?.("hi", { name: "conform" } as never)) ?? []; // samples use the name only
    const bases = plain.interfaces("conform");
    const statuses = await Promise.all(
      sent.map(async ({ wire, path, headers }) => {
        const url =
          bases.find(({ version, binding }) => version === wire?.version && binding === wire?.binding)?.url ?? plain.url;
        return (
          await fetch(url + path, {
            method: "POST",
            headers: { "content-type": "application/json", ...headers },
            body: LONG_BODY,
          })
        ).status;
      }),
    );
    expect(statuses).toEqual(sent.map(() => 413));
    expect(sent).not.toEqual([]);
  });

  test("without a content type, and in chunks", async () => {
    const body = new Blob([LONG_BODY]).stream();
    const sent = { method: "POST", headers: { "a2a-version": "1.0" }, body, duplex: "half" } as RequestInit; // `duplex` is not in its type
    expect((await fetch(`${plain.url}/a2a`, sent)).status).toBe(413);
  });
});

/** Sends these bytes and waits until the server closes the connection. */
function rawExchange(bytes: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = openSocket(server.port, "127.0.0.1", () => socket.write(bytes));
    let answer = "";
    socket.setEncoding("utf8").on("data", (text) => {
      answer += text;
    });
    socket.on("close", () => resolve(answer)).on("error", reject);
  });
}
