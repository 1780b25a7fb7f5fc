import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { agent, type Server, serve } from "../src/index.js";
import { bearerTokens } from "../src/public/auth.js";
import { ALICE, BOB } from "./peers/koine.js";
import { ACP_PLAIN, ACP_REST, resumeBody, runBody } from "./wires/acp.js";
import { AGORA, agoraBody, postAgora } from "./wires/agora.js";
import { ask, at, JSON_RPC_0_3, JSON_RPC_1_0, REST_0_3, REST_1_0, type Sent, type Tree, type Wire } from "./wires/wire.js";

/** A key starts one piece of work, over any wire and for any number of requests. */

let ran: string[] = [];
const worker = agent({
  name: "conform",
  description: "counts how often it works",
  async *handle(message, task) {
    ran.push(message.text);
    yield task.working("busy");
    if (message.text === "ask" && task.turn === 1) return task.ask("which?");
    return `done: ${message.text}`;
  },
});

let server: Server;
beforeAll(async () => {
  const tokens = new Map([
    ["alice", ALICE],
    ["bob", BOB],
  ]);
  server = await serve(worker, { admission: bearerTokens(tokens) });
});
beforeEach(() => {
  ran = [];
});
afterAll(() => server?.close());

const send = (sent: Sent, key: string | undefined, token = ALICE) =>
  ask(server.url, sent, { authorization: `Bearer ${token}`, ...(key === undefined ? {} : { "idempotency-key": key }) });

interface KeyWire {
  readonly name: string;
  readonly wire: Wire;
  readonly conflict: unknown;
  make(text: string): Sent;
}

const agoraSend = (text: string, metadata: Tree = {}): Sent =>
  postAgora("/agora", agoraBody(text, { multiround: true, metadata: { koine: 1, ...metadata } }));
const sending = (wire: Wire) => (text: string) => wire.send(wire.params(text));
const WIRES: readonly KeyWire[] = [
  { wire: JSON_RPC_1_0, conflict: -32602, make: sending(JSON_RPC_1_0) },
  { wire: REST_1_0, conflict: 409, make: sending(REST_1_0) },
  { wire: JSON_RPC_0_3, conflict: -32602, make: sending(JSON_RPC_0_3) },
  { wire: REST_0_3, conflict: 409, make: sending(REST_0_3) },
  { wire: ACP_REST, conflict: "409 invalid_input", make: sending(ACP_REST) },
  { wire: ACP_PLAIN, conflict: expect.stringMatching(/^409 E_/), make: sending(ACP_PLAIN) },
  { wire: AGORA, conflict: 409, make: (text: string) => agoraSend(text) },
].map((each) => ({ ...each, name: each.wire.name }));

describe.each(WIRES)("a key sent over $name", (first) => {
  test.each(WIRES)("starts nothing again over $name, and with another text is a conflict", async (second) => {
    const key = crypto.randomUUID();
    const id = first.wire.taskId((await send(first.make("once"), key)).body);
    const repeat = await send(second.make("once"), key);
    expect([repeat.status, second.wire.taskId(repeat.body)]).toEqual([200, id]);
    expect(JSON.stringify(repeat.body)).toContain("done: once");
    const other = await send(second.make("twice"), key);
    expect(second.wire.refused(other.status, other.body).code).toEqual(second.conflict);
    expect(ran).toEqual(["once"]);
  });
});

test("a key sent over all wires at once starts one piece of work", async () => {
  const key = crypto.randomUUID();
  const all = Array.from({ length: 4 }, () => WIRES).flat();
  const ids = await Promise.all(all.map(async ({ wire, make }) => wire.taskId((await send(make("once"), key)).body)));
  expect(new Set(ids).size).toBe(1);
  expect(ran).toEqual(["once"]);
});

test.each(WIRES)("the same key of another caller is separate over $name", async ({ wire, make }) => {
  const key = crypto.randomUUID();
  const ids = [];
  for (const token of [ALICE, BOB]) ids.push(wire.taskId((await send(make("once"), key, token)).body));
  expect(new Set(ids).size).toBe(2);
  expect(ran).toEqual(["once", "once"]);
});

describe("the key in the message itself", () => {
  const plain = (key: string): Sent => ACP_PLAIN.send({ payload: { text: "once" }, metadata: { idempotency_key: key } });

  test("is the same as the one in the header, and two that differ are refused", async () => {
    const key = crypto.randomUUID();
    const id = ACP_REST.taskId((await send(ACP_REST.send(runBody("once")), key)).body);
    expect(ACP_PLAIN.taskId((await send(plain(key), undefined)).body)).toBe(id);
    expect(AGORA.taskId((await send(agoraSend("once", { idempotency_key: key }), undefined)).body)).toBe(id);
    const seed = postAgora("/agora", { message: "once", idempotency_key: key, multiround: true, metadata: { koine: 1 } });
    expect(AGORA.taskId((await send(seed, undefined)).body)).toBe(id);
    const inPlain = await send(plain("another"), key);
    expect(ACP_PLAIN.refused(inPlain.status, inPlain.body).message).toContain("differ");
    const inAgora = await send(agoraSend("once", { idempotency_key: "another" }), key);
    expect(AGORA.refused(inAgora.status, inAgora.body).message).toContain("differ");
    expect(ran).toEqual(["once"]);
  });

  test("is not derived from members that two messages may share", async () => {
    for (const text of ["one", "two"]) {
      await send(ACP_PLAIN.send({ id: "p-1", correlation_id: "c-1", payload: { text } }), undefined);
      await send(agoraSend(text, { request_id: "r-1" }), undefined);
    }
    expect(ran).toEqual(["one", "one", "two", "two"]);
  });
});

test("a stream and an accepted run of one key are the same run", async () => {
  const key = crypto.randomUUID();
  const accepted = await send(ACP_REST.send(runBody("once", { mode: "async" })), key);
  const id = ACP_REST.taskId(accepted.body);
  expect(accepted.status).toBe(202);
  const { method, path, headers, body } = ACP_REST.stream(runBody("once"));
  const streamed = await fetch(server.url + path, {
    method,
    headers: { ...headers, authorization: `Bearer ${ALICE}`, "idempotency-key": key },
    body: String(body),
  });
  expect(streamed.headers.get("run-id")).toBe(id);
  expect(await streamed.text()).toContain("run.completed");
  expect(ran).toEqual(["once"]);
});

test("an answer that is sent again is processed once: with its key the response is repeated, without it the run is not awaiting", async () => {
  const id = ACP_REST.taskId((await send(ACP_REST.send(runBody("ask")), undefined)).body);
  const resume: Sent = { ...ACP_REST.send(resumeBody("42")), path: `/runs/${id}` };
  const key = crypto.randomUUID();
  for (let time = 0; time < 2; time++) {
    const { status, body } = await send(resume, key);
    expect([status, at(body, "status"), ACP_REST.taskId(body)]).toEqual([200, "completed", id]);
  }
  for (const other of [undefined, crypto.randomUUID()]) {
    const { status, body } = await send(resume, other);
    expect(ACP_REST.refused(status, body).code).toBe("403 server_error");
  }
  expect(ran).toEqual(["ask", "42"]);
});

test("a message of a conversation that is sent again with its key is processed once", async () => {
  const opened = await send(postAgora("/", agoraBody("ask", { multiround: true })), undefined);
  const path = `/conversations/${at(opened.body, "conversationId")}`;
  expect(AGORA.text(opened.body)).toBe("which?");
  for (const text of ["42", "43"]) {
    const key = crypto.randomUUID();
    for (let time = 0; time < 2; time++)
      expect(AGORA.text((await send(postAgora(path, agoraBody(text)), key)).body)).toBe(`done: ${text}`);
  }
  expect(ran).toEqual(["ask", "42", "43"]);
});
