import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Server } from "../src/index.js";
import { ALICE, BOB, startGuardedKoine, startKoine } from "./peers/koine.js";
import { A2A_WIRES, ask, PLAIN, type Sent, type Tree, WIRES, type Wire } from "./wires/wire.js";

// JSON-RPC 2.0 §5.1 and A2A 1.0 §5.4; the plain error codes are Koine's own.
const INVALID = { rpc: -32602, rest: 400, plain: "E_PROTOCOL" };
const TOO_MUCH = { rpc: -32600, rest: 413, plain: "E_PROTOCOL" };

/** The code of this wire for it. */
function codeFor(wire: Wire, { rpc, rest, plain }: typeof INVALID): unknown {
  return wire === PLAIN ? plain : wire.name.endsWith("RPC") ? rpc : rest;
}

let server: Server;
beforeAll(async () => {
  server = await startKoine();
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

/** A valid send with changed parameters. */
function changed(wire: Wire, change: (message: Tree, params: Tree) => void): Sent {
  const params = wire.params("hello");
  change(params["message"] as Tree, params); // every wire's params hold a message object
  return wire.send(params);
}

interface FieldCase {
  readonly what: string;
  change(message: Tree, params: Tree, wire: Wire): void;
  /** `*` stands for the member that holds the parts. */
  readonly field: string;
  readonly code?: typeof INVALID;
  readonly not?: readonly string[];
}

const part = (value: unknown) => (message: Tree, _params: Tree, wire: Wire) => {
  message[wire.parts] = [value];
};
const configured = (value: unknown) => (_message: Tree, params: Tree) => {
  params["configuration"] = value;
};
const member = (name: string, value: unknown) => (message: Tree) => {
  message[name] = value;
};

const FIELDS: readonly FieldCase[] = [
  { what: "no message", change: (_message, params) => delete params["message"], field: "message" },
  {
    what: "a message that is text",
    change: (_message, params) => {
      params["message"] = "hello";
    },
    field: "message",
  },
  { what: "no messageId", change: member("messageId", undefined), field: "message.messageId" },
  { what: "a messageId that is a number", change: member("messageId", 1), field: "message.messageId" },
  { what: "an empty messageId", change: member("messageId", ""), field: "message.messageId" },
  { what: "no role", change: member("role", undefined), field: "message.role" },
  { what: "an unknown role", change: member("role", "ROLE_PIRATE"), field: "message.role" },
  { what: "a role that is an object", change: member("role", {}), field: "message.role" },
  { what: "no parts", change: (message, _params, { parts }) => delete message[parts], field: "message.*" },
  {
    what: "parts that are text",
    change: (message, _params, { parts }) => {
      message[parts] = "hello";
    },
    field: "message.*",
  },
  {
    what: "empty parts",
    change: (message, _params, { parts }) => {
      message[parts] = [];
    },
    field: "message.*",
  },
  {
    what: "too many parts",
    change: (message, _params, { parts }) => {
      message[parts] = new Array(257).fill((message[parts] as unknown[])[0]); // a valid message has one part
    },
    field: "message.*",
    code: TOO_MUCH,
  },
  { what: "a part that is null", change: part(null), field: "message.*[0]" },
  { what: "a part that is text", change: part("hello"), field: "message.*[0]" },
  { what: "a part without content", change: part({ metadata: {} }), field: "message.*[0]", not: ["0.3 JSON-RPC"] },
  {
    what: "a part without a kind",
    change: part({ metadata: {} }),
    field: "message.parts[0].kind",
    not: ["1.0 JSON-RPC", "1.0 REST", "0.3 REST"],
  },
  {
    what: "a part with two contents",
    change: part({ text: "a", url: "b:" }),
    field: "message.*[0]",
    not: ["0.3 JSON-RPC", "0.3 REST"],
  },
  {
    what: "a part with two contents",
    change: part({ text: "a", data: { data: {} } }),
    field: "message.content[0]",
    not: ["1.0 JSON-RPC", "1.0 REST", "0.3 JSON-RPC"],
  },
  {
    what: "a file with two contents",
    change: part({ kind: "file", file: { bytes: "", uri: "b:" } }),
    field: "message.parts[0].file",
    not: ["1.0 JSON-RPC", "1.0 REST", "0.3 REST"],
  },
  {
    what: "a file without content",
    change: part({ kind: "file", file: {} }),
    field: "message.parts[0].file",
    not: ["1.0 JSON-RPC", "1.0 REST", "0.3 REST"],
  },
  {
    what: "a part of an unknown kind",
    change: part({ kind: "smell", smell: "b" }),
    field: "message.parts[0].kind",
    not: ["1.0 JSON-RPC", "1.0 REST", "0.3 REST"],
  },
  { what: "a text that is a number", change: part({ kind: "text", text: 5 }), field: "message.*[0].text" },
  {
    what: "bytes that are not base64",
    change: part({ raw: "%%%" }),
    field: "message.parts[0].raw",
    not: ["0.3 JSON-RPC", "0.3 REST"],
  },
  {
    what: "bytes that are not base64",
    change: part({ kind: "file", file: { bytes: "%%%" } }),
    field: "message.parts[0].file.bytes",
    not: ["1.0 JSON-RPC", "1.0 REST", "0.3 REST"],
  },
  {
    what: "bytes that are not base64",
    change: part({ file: { fileWithBytes: "%%%" } }),
    field: "message.content[0].file.fileWithBytes",
    not: ["1.0 JSON-RPC", "1.0 REST", "0.3 JSON-RPC"],
  },
  { what: "a contextId that is a number", change: member("contextId", 5), field: "message.contextId" },
  { what: "a taskId that is an object", change: member("taskId", {}), field: "message.taskId" },
  { what: "metadata that are a list", change: member("metadata", [1]), field: "message.metadata" },
  { what: "extensions that are text", change: member("extensions", "a"), field: "message.extensions" },
  { what: "an extension that is a number", change: member("extensions", [1]), field: "message.extensions[0]" },
  { what: "a configuration that is text", change: configured("fast"), field: "configuration" },
  { what: "a negative historyLength", change: configured({ historyLength: -1 }), field: "configuration.historyLength" },
  { what: "a historyLength that is text", change: configured({ historyLength: "all" }), field: "configuration.historyLength" },
  { what: "half a historyLength", change: configured({ historyLength: 1.5 }), field: "configuration.historyLength" },
  {
    what: "output modes that are text",
    change: configured({ acceptedOutputModes: "text/plain" }),
    field: "configuration.acceptedOutputModes",
  },
  {
    what: "a switch that is text",
    change: configured({ returnImmediately: "yes" }),
    field: "configuration.returnImmediately",
    not: ["0.3 JSON-RPC", "0.3 REST"],
  },
  {
    what: "a switch that is text",
    change: configured({ blocking: "yes" }),
    field: "configuration.blocking",
    not: ["1.0 JSON-RPC", "1.0 REST"],
  },
  {
    what: "request metadata that are text",
    change: (_message, params) => {
      params["metadata"] = "x";
    },
    field: "metadata",
  },
];

describe.each(A2A_WIRES)("$name: an invalid field is named", (wire) => {
  test.each(FIELDS.filter(({ not = [] }) => !not.includes(wire.name)))("$what", async ({ change, field, code = INVALID }) => {
    const refused = await refusal(
      wire,
      changed(wire, (message, params) => change(message, params, wire)),
    );
    expect(refused.code).toBe(codeFor(wire, code));
    const path = field.replace("*", wire.parts);
    expect(refused.message.startsWith(`${path} `), `"${refused.message}" should name ${path}`).toBe(true);
    await expectStillServing(wire);
  });
});

describe("plain /message: an invalid field is named", () => {
  test.each<[string, unknown, string]>([
    ["no params", { id: "p" }, "params"],
    ["params that are text", { id: "p", params: "x" }, "params"],
    ["no message", { id: "p", params: {} }, "params.message"],
    ["a message that is text", { id: "p", params: { message: "hello" } }, "params.message"],
    ["an empty message", { id: "p", params: { message: {} } }, "params.message"],
    ["a text that is a number", { id: "p", params: { message: { text: 5 } } }, "params.message.text"],
    ["a context that is text", { id: "p", params: { message: { text: "a" }, context: "c" } }, "params.context"],
    ["a ttl that is text", { id: "p", params: { message: { text: "a" }, context: { ttl_ms: "long" } } }, "params.context.ttl_ms"],
    ["half a priority", { id: "p", params: { message: { text: "a" }, context: { priority: 0.5 } } }, "params.context.priority"],
    ["tags that are text", { id: "p", params: { message: { text: "a" }, context: { tags: "t" } } }, "params.context.tags"],
    [
      "a source that is a number",
      { id: "p", params: { message: { text: "a" }, routing: { source: 1 } } },
      "params.routing.source",
    ],
    ["an id that is an object", { id: {}, params: { message: { text: "a" } } }, "id"],
    ["a body that is a list", [], "body"],
    ["a body that is null", null, "body"],
  ])("%s", async (_what, body, field) => {
    const refused = await refusal(PLAIN, { ...PLAIN.send({}), body: JSON.stringify(body) });
    expect(refused.code).toBe("E_PROTOCOL");
    expect(refused.message.startsWith(`${field} `), `"${refused.message}" should name ${field}`).toBe(true);
    await expectStillServing(PLAIN);
  });
});

describe.each(WIRES.filter(({ name }) => name.endsWith("RPC")))("$name: violations of JSON-RPC", (wire) => {
  const request = (change: Tree): Sent => {
    const sent = wire.send(wire.params("hello"));
    return { ...sent, body: JSON.stringify({ ...(JSON.parse(String(sent.body)) as Tree), ...change }) }; // an object of ours
  };
  test.each<[string, Tree, number, string]>([
    ["no version of JSON-RPC", { jsonrpc: undefined }, -32600, "jsonrpc"],
    ["another version of JSON-RPC", { jsonrpc: "1.0" }, -32600, "jsonrpc"],
    ["no method", { method: undefined }, -32600, "method"],
    ["a method that is a number", { method: 5 }, -32600, "method"],
    ["an unknown method", { method: "MakeCoffee" }, -32601, "MakeCoffee"],
    ["a method of no version", { method: "message/teleport" }, -32601, "message/teleport"],
    ["a method everything has", { method: "constructor" }, -32601, "constructor"],
    ["an id that is an object", { id: {} }, -32600, "id"],
    ["half an id", { id: 1.5 }, -32600, "id"],
    ["a notification", { id: undefined }, -32600, "id"],
    ["a notification of an unknown method", { id: undefined, method: "message/teleport" }, -32601, "message/teleport"],
    ["a notification with bad params", { id: undefined, params: {} }, -32602, "message"],
    ["params that are text", { params: "x" }, -32600, "params"],
    ["params that are a list", { params: [] }, -32602, "params"],
    ["no params", { params: undefined }, -32602, "message"],
  ])("%s", async (_what, change, code, word) => {
    const refused = await refusal(wire, request(change));
    expect([refused.code, refused.message.includes(word)], refused.message).toEqual([code, true]);
    await expectStillServing(wire);
  });

  test.each(["[]", "{}", '"x"', "null", "17"])("a body that is %s", async (body) => {
    expect((await refusal(wire, { ...wire.send({}), body })).code).toBe(-32600);
    await expectStillServing(wire);
  });

  test("a batch", async () => {
    const good = wire.send(wire.params("hello"));
    const refused = await refusal(wire, { ...good, body: `[${good.body},${good.body}]` });
    expect(refused).toEqual({ code: -32600, message: "a batch is not supported: send one request object" });
    await expectStillServing(wire);
  });
});

describe.each(WIRES.filter(({ name }) => name.endsWith("REST")))("$name: violations of HTTP", (wire) => {
  const base = wire.name === "1.0 REST" ? "/a2a" : "/a2a/v1";
  const { headers } = wire.send({});
  test.each<[string, string, number, string]>([
    ["an unknown path", "GET /tasks/t/secrets", 404, "/tasks/t/secrets"],
    ["an unknown verb", "POST /message:teleport", 404, "message:teleport"],
    ["a broken escape", "GET /tasks/%zz", 400, "percent"],
    ["a method that is not answered", "DELETE /tasks/t", 405, "DELETE"],
    ["a send by GET", "GET /message:send", 405, "GET"],
    ["a historyLength that is text", "GET /tasks/t?historyLength=all", 400, "historyLength"],
    ["a negative historyLength", "GET /tasks/t?historyLength=-1", 400, "historyLength"],
    ["a pageSize that is text", "GET /tasks?pageSize=many", 400, "pageSize"],
    ["too large a pageSize", "GET /tasks?pageSize=101", 400, "pageSize"],
    ["an unknown state", "GET /tasks?status=TASK_STATE_TIRED", 400, "status"],
    ["a time that is none", "GET /tasks?statusTimestampAfter=yesterday", 400, "statusTimestampAfter"],
    ["a switch that is none", "GET /tasks?includeArtifacts=maybe", 400, "includeArtifacts"],
    ["a parameter twice", "GET /tasks?pageSize=1&pageSize=2", 400, "pageSize"],
    ["a page token that was made up", "GET /tasks?pageToken=made-up", 400, "pageToken"],
  ])("%s", async (_what, target, status, word) => {
    const [method = "", path = ""] = target.split(" ");
    const refused = await refusal(wire, { method, path: base + path, headers, body: undefined });
    expect([refused.code, refused.message.includes(word)], refused.message).toEqual([status, true]);
    await expectStillServing(wire);
  });

  test.each(["[]", '"x"', "null", "17"])("a body that is %s", async (body) => {
    expect((await refusal(wire, { ...wire.send({}), body })).code).toBe(400);
    await expectStillServing(wire);
  });
});

describe.each(A2A_WIRES)("$name: an unknown version", (wire) => {
  // 0.3 has no error code for it, so it is an unsupported operation there.
  const code = { rpc: wire.name.startsWith("0.3") ? -32004 : -32009, rest: 400, plain: "" };
  const other = wire.name.startsWith("0.3") ? "1.0" : "0.3";
  test.each(["9.9", "banana", other])("%s", async (version) => {
    const refused = await refusal(wire, wire.send(wire.params("hello")), { "a2a-version": version });
    expect([refused.code, refused.message.includes(version)], refused.message).toEqual([codeFor(wire, code), true]);
    await expectStillServing(wire);
  });
});

describe.each(A2A_WIRES)("$name: the task of another caller", (wire) => {
  test("is not found for get, cancel and send", async () => {
    const guarded = await startGuardedKoine();
    const as = (token: string) => ({ authorization: `Bearer ${token}` });
    try {
      const mine = await ask(guarded.url, wire.send(wire.params("conform: ask")), as(ALICE));
      const id = wire.taskId(mine.body);
      const params = wire.params("42");
      (params["message"] as Tree)["taskId"] = id; // every wire's params hold a message object
      for (const sent of [wire.getTask?.(id), wire.cancelTask?.(id), wire.send(params)]) {
        const unknown = await ask(guarded.url, { ...(sent as Sent), body: sent?.body }, as(BOB)); // all but plain have all three
        const refused = wire.refused(unknown.status, unknown.body);
        expect(refused.code).toBe(codeFor(wire, { rpc: -32001, rest: 404, plain: "" }));
      }
      const still = await ask(guarded.url, wire.getTask?.(id) as Sent, as(ALICE)); // all but plain have it
      expect([still.status, JSON.stringify(still.body).includes(id)]).toEqual([200, true]);
      const anonymous = await ask(guarded.url, wire.send(params), {});
      expect(anonymous.status).toBe(401);
    } finally {
      await guarded.close();
    }
  });
});

test("plain /message: the task of another caller is not found", async () => {
  const guarded = await startGuardedKoine();
  const as = (token: string) => ({ authorization: `Bearer ${token}` });
  try {
    const mine = await ask(guarded.url, PLAIN.send({ message: { text: "conform: ask" } }), as(ALICE));
    const id = /"taskId":"([^"]+)"/.exec(JSON.stringify(mine.body))?.[1];
    const answer = PLAIN.send({ message: { text: "42" }, context: { task_id: id } });
    const refused = await ask(guarded.url, answer, as(BOB));
    expect([refused.status, PLAIN.refused(refused.status, refused.body).code]).toEqual([404, "E_PROTOCOL"]);
    expect((await ask(guarded.url, answer, as(ALICE))).status).toBe(200);
    expect((await ask(guarded.url, answer)).status).toBe(401);
  } finally {
    await guarded.close();
  }
});
