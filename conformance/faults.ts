import type { Json, JsonObject } from "../src/envelope/index.js";
import { cardWith, type Fault, type Hit, JSON_TYPE, REPLY, rpc } from "./misbehaving-server.js";

const LARGE_BYTES = 20 * 1024 * 1024;
const DEEP = `${"[".repeat(20_000)}${"]".repeat(20_000)}`;
const DRIP_MS = 20;

interface Reply {
  readonly body: string | Buffer;
  readonly status?: number;
  readonly headers?: { readonly [name: string]: string };
}

const whole = (name: string, what: string, reply: (hit: Hit) => Reply | string | Buffer): Fault => ({
  name,
  what,
  at: "send",
  answer(hit) {
    const made = reply(hit);
    const { body, status = 200, headers = JSON_TYPE } = typeof made === "string" || Buffer.isBuffer(made) ? { body: made } : made;
    hit.response.writeHead(status, headers).end(body);
  },
});

/** Writes until the socket is closed. */
function drip({ socket }: Hit, first: string, each: string): void {
  socket.write(first);
  const timer = setInterval(() => socket.write(each), DRIP_MS);
  socket.on("close", () => clearInterval(timer));
}

const SEND_FAULTS: readonly Fault[] = [
  whole("wrong-id", "answers with another request's id", () => rpc("somebody-else", { result: REPLY })),
  whole("negative-id", "answers with a negative number as id", () => rpc(-1, { result: REPLY })),
  whole("result-and-error", "answers with a result and an error at once", ({ id }) =>
    rpc(id, { result: REPLY, error: { code: -32603, message: "both" } }),
  ),
  whole("neither", "answers with neither result nor error", ({ id }) => rpc(id, {})),
  whole("two-payloads", "answers with a task and a message in one result", ({ id }) =>
    rpc(id, { result: { ...REPLY, task: { id: "t-1", status: { state: "TASK_STATE_COMPLETED" } } } }),
  ),
  whole("no-payload", "answers with a result that holds nothing known", ({ id }) => rpc(id, { result: { surprise: {} } })),
  whole("html", "answers with a web page", () => ({
    body: "<!doctype html><h1>It works</h1>",
    headers: { "content-type": "text/html" },
  })),
  whole("html-as-json", "answers with a web page labelled as JSON", () => "<!doctype html>"),
  whole("plain-text", "answers correctly, labelled as plain text", ({ id }) => ({
    body: rpc(id, { result: REPLY }),
    headers: { "content-type": "text/plain" },
  })),
  whole("empty", "answers 200 with no body", () => ""),
  whole("truncated", "answers with half a JSON value", ({ id }) => rpc(id, { result: REPLY }).slice(0, 40)),
  whole("deep", "answers with JSON 20,000 levels deep", ({ id }) =>
    rpc(id, { result: REPLY }).replace('"contextId"', `"metadata":{"x":${DEEP}},"contextId"`),
  ),
  whole("invalid-utf8", "answers with bytes that are not UTF-8", ({ id }) => {
    const [before = "", after = ""] = rpc(id, { result: REPLY }).split("pong");
    return Buffer.concat([Buffer.from(before), Buffer.from([0xc3, 0x28]), Buffer.from(after)]);
  }),
  whole("huge", "answers with 20 MB", ({ id }) => rpc(id, { result: REPLY }).replace("pong", "x".repeat(LARGE_BYTES))),
  whole("proto-keys", "answers with metadata keys that would reach a prototype", ({ id }) =>
    rpc(id, { result: REPLY }).replace(
      '"contextId"',
      '"metadata":{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}},"contextId"',
    ),
  ),
  whole("unknown-code", "refuses with an undefined error code", ({ id }) =>
    rpc(id, { error: { code: -1, message: "who knows" } }),
  ),
  whole("error-without-code", "refuses with an error that is a string", ({ id }) => rpc(id, { error: "no" })),
  whole("overloaded", "answers 503 with Retry-After", () => ({ body: "", status: 503, headers: { "retry-after": "1" } })),
  whole("unauthenticated", "answers 401", () => ({ body: "", status: 401, headers: { "www-authenticate": "Bearer" } })),
  {
    name: "redirect",
    what: "redirects the call to another address",
    at: "send",
    answer: ({ response, url }) => void response.writeHead(307, { location: `${url}/canary` }).end(),
  },
  {
    name: "redirect-private",
    what: "redirects the call to the link-local metadata address",
    at: "send",
    answer: ({ response }) => void response.writeHead(307, { location: "http://169.254.169.254/latest/meta-data" }).end(),
  },
  {
    name: "reset",
    what: "resets the connection before it answers",
    at: "send",
    answer: ({ socket }) => void socket.resetAndDestroy(),
  },
  {
    name: "reset-after-headers",
    what: "sends headers and resets the connection",
    at: "send",
    answer: ({ socket }) =>
      void socket.write("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 500\r\n\r\n{", () =>
        socket.resetAndDestroy(),
      ),
  },
  {
    name: "short-body",
    what: "announces more bytes than it sends",
    at: "send",
    answer: ({ socket }) => void socket.end("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 500\r\n\r\n{}"),
  },
  {
    name: "endless-header",
    what: "sends a header that never ends",
    at: "send",
    answer: (hit) => drip(hit, "HTTP/1.1 200 OK\r\nx-endless: ", "a".repeat(512)),
  },
  {
    name: "slow-drip",
    what: "sends its body a byte at a time, without end",
    at: "send",
    answer: (hit) => drip(hit, "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 900000\r\n\r\n", " "),
  },
  { name: "silent", what: "never answers", at: "send", answer: () => undefined },
];

const WORKING = { task: { id: "t-1", contextId: "c-1", status: { state: "TASK_STATE_WORKING" } } };
const status = (state: string, taskId = "t-1"): JsonObject => ({ statusUpdate: { taskId, contextId: "c-1", status: { state } } });
const COMPLETED = status("TASK_STATE_COMPLETED");
const event = (id: unknown, result: Json): string => `data: ${rpc(id, { result })}\n\n`;

const streamed = (name: string, what: string, answer: (hit: Hit, write: (result: Json) => void) => void): Fault => ({
  name,
  what,
  at: "stream",
  answer(hit) {
    hit.response.writeHead(200, { "content-type": "text/event-stream" });
    answer(hit, (result) => void hit.response.write(event(hit.id, result)));
  },
});

const STREAM_FAULTS: readonly Fault[] = [
  streamed("stream-cut-mid-event", "cuts the stream inside an event", ({ response, id }, write) => {
    write(WORKING);
    response.write(event(id, COMPLETED).slice(0, 50), () => response.socket?.destroy());
  }),
  streamed("stream-ends-mid-event", "ends the stream well inside an event", ({ response, id }, write) => {
    write(WORKING);
    response.end(event(id, COMPLETED).trimEnd());
  }),
  streamed("stream-no-terminal", "ends the stream before the task has ended", ({ response }, write) => {
    write(WORKING);
    response.end();
  }),
  streamed("stream-empty", "opens a stream and ends it", ({ response }) => void response.end()),
  streamed("stream-unknown-kind", "sends an event of a kind nobody knows", ({ response }, write) => {
    for (const each of [WORKING, { surprise: {} }, COMPLETED]) write(each);
    response.end();
  }),
  streamed("stream-status-first", "sends a status before the task", ({ response }, write) => {
    for (const each of [status("TASK_STATE_WORKING"), COMPLETED]) write(each);
    response.end();
  }),
  streamed("stream-other-task", "sends the end of another task", ({ response }, write) => {
    for (const each of [WORKING, status("TASK_STATE_COMPLETED", "t-2")]) write(each);
    response.end();
  }),
  streamed("stream-oversized-event", "sends an event of 20 MB", ({ response }, write) => {
    write(WORKING);
    write({
      artifactUpdate: {
        taskId: "t-1",
        contextId: "c-1",
        artifact: { artifactId: "a", parts: [{ text: "x".repeat(LARGE_BYTES) }] },
      },
    });
    write(COMPLETED);
    response.end();
  }),
  streamed("stream-duplicate-final", "says twice that the task has ended", ({ response }, write) => {
    for (const each of [WORKING, COMPLETED, COMPLETED]) write(each);
    response.end();
  }),
  streamed("stream-stays-open", "says that the task has ended and keeps the stream open", (_hit, write) => {
    for (const each of [WORKING, COMPLETED]) write(each);
  }),
  streamed("stream-garbage", "sends a stream of what is no JSON", ({ response }) => void response.end("data: <html>\n\n")),
  streamed(
    "stream-wrong-id",
    "streams with another request's id",
    ({ response }) => void response.end(event("other", WORKING) + event("other", COMPLETED)),
  ),
  streamed("stream-error", "ends the stream with an error", ({ response, id }, write) => {
    write(WORKING);
    response.end(`data: ${rpc(id, { error: { code: -32603, message: "broke down" } })}\n\n`);
  }),
  streamed("stream-reset", "resets the connection after the first event", ({ socket, response, id }) => {
    response.write(event(id, WORKING), () => socket.resetAndDestroy());
  }),
  streamed("stream-silent", "opens a stream and sends nothing", ({ response }) => void response.flushHeaders()),
];

const GOOD = { protocolBinding: "JSONRPC", protocolVersion: "1.0" };
const card = (name: string, what: string, body: (url: string) => string): Fault => ({
  name,
  what,
  at: "card",
  answer: ({ response, url }) => void response.writeHead(200, JSON_TYPE).end(body(url)),
});

const CARD_FAULTS: readonly Fault[] = [
  card("card-html", "serves a web page as card", () => "<!doctype html>"),
  card("card-truncated", "serves half a card", (url) => cardWith([{ url, ...GOOD }]).slice(0, 60)),
  card("card-huge", "serves a card of 20 MB", (url) =>
    cardWith([{ url: `${url}/rpc`, ...GOOD }]).replace("misbehaving", "x".repeat(LARGE_BYTES)),
  ),
  card("card-deep", "serves a card 20,000 levels deep", (url) =>
    cardWith([{ url: `${url}/rpc`, ...GOOD }]).replace('"skills":', `"x":${DEEP},"skills":`),
  ),
  card("card-closed-port", "lists a closed port first", (url) =>
    cardWith([
      { url: "http://127.0.0.1:1/rpc", ...GOOD },
      { url: `${url}/rpc`, ...GOOD },
    ]),
  ),
  card("card-unknown-bindings", "lists unknown bindings first", (url) =>
    cardWith([
      { url: "carrier-pigeon:1", protocolBinding: "https://bindings.example/pigeon", protocolVersion: "1.0" },
      { url: "127.0.0.1:1", protocolBinding: "GRPC", protocolVersion: "1.0" },
      { url: `${url}/rpc`, ...GOOD },
    ]),
  ),
  card("card-wrong-version", "declares 0.3 at an address that serves 1.0", (url) =>
    cardWith([{ url: `${url}/rpc`, ...GOOD, protocolVersion: "0.3" }]),
  ),
  card("card-relative", "lists an address that is not absolute", () => cardWith([{ url: "/rpc", ...GOOD }])),
  {
    name: "card-drip",
    what: "sends its card a byte at a time, without end",
    at: "card",
    answer: (hit) => drip(hit, "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 900000\r\n\r\n", " "),
  },
];

/** Every fault, by name. */
export const faults: readonly Fault[] = [...SEND_FAULTS, ...STREAM_FAULTS, ...CARD_FAULTS];
