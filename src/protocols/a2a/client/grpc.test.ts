import { describe, expect, test } from "vitest";
import {
  AgentError,
  type AgentEvent,
  type Card,
  type Operation,
  type ReadyIterator,
  startCall,
  TAKE_READY,
} from "../../../envelope/index.js";
import type { Chunk, HttpRequest, HttpResponse } from "../../../transport/exchange.js";
import { DEFAULT_LIMITS } from "../../../transport/limits.js";
import { createClientContext } from "../../client-context.js";
import type { IdSource, Peer } from "../../protocol.js";
import { offeredExtensions } from "../card/card-1.0.js";
import { connect } from "../client.js";
import { encodeFrame } from "../grpc/framing.js";
import { SCHEMA_1_0 } from "../grpc/schema-1.0.js";
import { writeStatus } from "../grpc/status.js";
import { RESUME_URI } from "../koine-extensions.js";

const capabilities = { streaming: true, push: false, extended: false, idempotentSend: false, resume: true, extensions: [] };
const card: Card = {
  name: "peer",
  description: "",
  version: "1",
  skills: [],
  inputModes: [],
  outputModes: [],
  capabilities,
  security: { schemes: {}, anyOf: [] },
  interfaces: [],
};
const ids: IdSource = { now: () => 1_000, newId: () => "id" };
const GRPC = { "content-type": "application/grpc" };
const OK = { "grpc-status": "0" };
const get: Operation = { kind: "task.get", taskId: "t" };
const watch: Operation = { kind: "task.subscribe", taskId: "t", follow: true };

const task = { id: "t", contextId: "c", status: { state: "TASK_STATE_WORKING" } };
const done = { taskId: "t", contextId: "c", status: { state: "TASK_STATE_COMPLETED" } };
const frame = encodeFrame(SCHEMA_1_0.Task, task);
const item = (value: object): Uint8Array => encodeFrame(SCHEMA_1_0.StreamResponse, value as { [name: string]: never }); // literals of this file

/** A peer with a fixed response, and the requests it received. */
function peer(answer: Partial<HttpResponse> & { readonly sends?: readonly Chunk[] }, version = "1.0") {
  const requests: HttpRequest[] = [];
  let letGo = false;
  async function* chunks(): AsyncGenerator<Chunk, void, void> {
    try {
      for (const chunk of answer.sends ?? []) yield chunk;
    } finally {
      letGo = true;
    }
  }
  const exchange = (request: HttpRequest): HttpResponse => {
    requests.push(request);
    return { status: 200, headers: GRPC, body: chunks(), ...answer };
  };
  const iface: Peer = { url: "http://peer:1", version, binding: "GRPC", card };
  const link = { exchange, close: async () => undefined };
  const { handler } = connect({ ...createClientContext({ link, ids }), peer: iface });
  return { handler, asked: requests, isLetGo: () => letGo };
}

async function outcome(answer: Parameters<typeof peer>[0], operation: Operation = get): Promise<string | AgentEvent[]> {
  const reply = peer(answer).handler(operation, startCall());
  try {
    if (reply instanceof Promise) return [await reply];
    const events: AgentEvent[] = [];
    for await (const event of reply as AsyncIterable<AgentEvent>) events.push(event); // promises are handled above
    return events;
  } catch (thrown) {
    const error = AgentError.from(thrown);
    return `${error.code}: ${error.message}`;
  }
}

describe("requests", () => {
  test("by 1.0", async () => {
    const { handler, asked: requests } = peer({ sends: [frame], trailers: () => OK });
    await handler(get, startCall({ deadline: 3_500, parameters: { traceparent: "00-a-b-01" } }));
    expect(requests[0]).toMatchObject({ method: "POST", target: "http://peer:1/lf.a2a.v1.A2AService/GetTask" });
    expect(requests[0]?.headers).toEqual({
      "a2a-version": "1.0",
      "content-type": "application/grpc+proto",
      "grpc-accept-encoding": "identity",
      "grpc-timeout": "2500m",
      te: "trailers",
      traceparent: "00-a-b-01",
    });
    // 0, four bytes of length, field 2, three bytes.
    expect([...(requests[0]?.body ?? [])]).toEqual([0, 0, 0, 0, 3, 0x12, 1, 0x74]);
  });

  test("of 0.3, which names a task as a resource", async () => {
    const { handler, asked: requests } = peer({ sends: [frame], trailers: () => OK }, "0.3");
    await handler({ kind: "task.cancel", taskId: "t" }, startCall());
    expect(requests[0]?.target).toBe("http://peer:1/a2a.v1.A2AService/CancelTask");
    expect(requests[0]?.headers["a2a-version"]).toBeUndefined();
    expect(Buffer.from(requests[0]?.body ?? []).toString("latin1")).toBe("\0\0\0\0\x09\x0a\x07tasks/t");
  });

  test("a stream requests cursors, by the name on the card", async () => {
    const { handler, asked: requests } = peer({ sends: [item({ statusUpdate: done })], trailers: () => OK });
    const events = handler({ ...watch, after: "1.x" as never }, startCall()) as AsyncIterable<AgentEvent>; // it streams
    await expect(events[Symbol.asyncIterator]().next()).resolves.toMatchObject({ value: { kind: "status" } });
    expect(requests[0]?.headers).toMatchObject({ "a2a-extensions": "urn:koine:resume:1", "last-event-id": "1.x" });
    expect(offeredExtensions({ ...capabilities, idempotentSend: false }).map(({ uri }) => uri)).toEqual([RESUME_URI]);
  });
});

describe("responses", () => {
  test("in one piece, and byte by byte", async () => {
    const whole = await outcome({ body: frame, trailers: () => OK });
    expect(whole).toMatchObject([{ kind: "task", task: { id: "t" } }]);
    expect(await outcome({ sends: [...frame].map((byte) => new Uint8Array([byte])), trailers: () => OK })).toEqual(whole);
  });

  test("a stream with cursors", async () => {
    const placed = { ...task, metadata: { [RESUME_URI]: { cursor: "1.x" }, own: 1 } };
    const sends = [new Uint8Array([...item({ task: placed }), ...item({ statusUpdate: done })])];
    const [first, second] = await outcome({ sends, trailers: () => OK }, watch);
    expect(first).toMatchObject({ kind: "task", cursor: "1.x" });
    expect(first).toHaveProperty("task.metadata", { own: 1 });
    expect(second).toMatchObject({ kind: "status", status: { state: "completed" } });
  });

  test.each<[string, Parameters<typeof peer>[0], string]>([
    [
      "a status and no words",
      { headers: { ...GRPC, "grpc-status": "14" } },
      "unavailable: the peer answered with gRPC status UNAVAILABLE",
    ],
    [
      "a status in the trailers",
      { trailers: () => ({ "grpc-status": "16", "grpc-message": "who%20is it?" }) },
      "unauthenticated: who is it?",
    ],
    ["an unknown status", { headers: { ...GRPC, "grpc-status": "99" } }, "internal: the peer answered with gRPC status UNKNOWN"],
    [
      "a task that is not there",
      { headers: { ...GRPC, "grpc-status": "5" } },
      "task_not_found: the peer answered with gRPC status NOT_FOUND",
    ],
    [
      "the class in the words",
      { headers: { ...GRPC, "grpc-status": "12", "grpc-message": "TaskNotCancelableError: too late" } },
      "not_cancelable: too late",
    ],
    [
      "details that are none",
      { headers: { ...GRPC, "grpc-status": "9", "grpc-status-details-bin": "!!" } },
      "unsupported: the peer answered with gRPC status FAILED_PRECONDITION",
    ],
    ["no status", { sends: [frame] }, "interrupted: the answer ended without a gRPC status"],
    [
      "half a message",
      { sends: [frame.subarray(0, 9)], trailers: () => OK },
      "bad_peer: HTTP 200: the response ends inside a message",
    ],
    ["no message", { trailers: () => OK }, "bad_peer: HTTP 200: the call succeeded without a response message"],
    ["two messages", { sends: [frame, frame], trailers: () => OK }, "bad_peer: HTTP 200: the response has more than one message"],
    [
      "a compressed message",
      { sends: [new Uint8Array([1, 0, 0, 0, 0])], trailers: () => OK },
      "bad_peer: a message is compressed, which was not requested",
    ],
    [
      "a giant one",
      { sends: [new Uint8Array([0, 255, 255, 255, 255])] },
      `too_large: the body is longer than ${DEFAULT_LIMITS.bodyBytes} bytes`,
    ],
    [
      "something else than protobuf",
      { sends: [new Uint8Array([0, 0, 0, 0, 2, 0x12, 7])], trailers: () => OK },
      "bad_peer: Task is not well-formed protobuf",
    ],
    [
      "a page",
      { headers: { "content-type": "text/html" }, body: "<h1>hi</h1>" },
      "bad_peer: HTTP 200: the answer is not gRPC (text/html)",
    ],
    ["no such path", { status: 404, headers: {} }, "unsupported: expected a gRPC response, got HTTP 404"],
    ["a proxy without its server", { status: 503, headers: {} }, "unavailable: expected a gRPC response, got HTTP 503"],
    ["a door that wants credentials", { status: 401, headers: {} }, "unauthenticated: expected a gRPC response, got HTTP 401"],
    ["a body that is too large", { status: 413, headers: {} }, "too_large: the peer answered with HTTP status 413"],
    ["a redirect", { status: 302, headers: {} }, "bad_peer: HTTP 302: redirects are not followed"],
  ])("%s", async (_what, answer, expected) => {
    expect(await outcome(answer)).toBe(expected);
  });

  test("a Koine error with all its facts", async () => {
    const info = {
      "@type": "type.googleapis.com/google.rpc.ErrorInfo",
      reason: "X",
      domain: "koine",
      metadata: { koineCode: "lost_place", a: "b" },
    };
    const retry = { "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: { seconds: 2, nanos: 500_000_000 } };
    const headers = { ...GRPC, ...writeStatus("DATA_LOSS", "gone", [info, retry]) };
    const failed = peer({ headers }).handler(get, startCall());
    await expect(failed).rejects.toMatchObject({
      code: "lost_place",
      message: "gone",
      facts: { detail: { a: "b" }, retryAfterMs: 2_500 },
    });
  });

  test("events of one piece are there without waiting, with their cursors, and so is what is wrong with one", async () => {
    const placed = { ...done, status: { state: "TASK_STATE_WORKING" }, metadata: { [RESUME_URI]: { cursor: "2.x" } } };
    const broken = new Uint8Array([0, 0, 0, 0, 2, 0x12, 7]);
    const sends = [new Uint8Array([...item({ task }), ...item({ statusUpdate: placed }), ...broken])];
    const { handler, isLetGo } = peer({ sends, trailers: () => OK });
    const events: ReadyIterator<AgentEvent> = (handler(watch, startCall()) as AsyncIterable<AgentEvent>)[Symbol.asyncIterator](); // it streams
    expect(events[TAKE_READY]?.()).toBeUndefined();
    await events.next();
    expect(events[TAKE_READY]?.()).toMatchObject({ kind: "status", cursor: "2.x" });
    expect(() => events[TAKE_READY]?.()).toThrow("not well-formed protobuf");
    await expect(events.next()).resolves.toMatchObject({ done: true });
    expect(isLetGo()).toBe(true);
  });

  test("a reader that stops closes the response", async () => {
    const { handler, isLetGo } = peer({ sends: [item({ task }), item({ task })], trailers: () => OK });
    const events = (handler(watch, startCall()) as AsyncIterable<AgentEvent>)[Symbol.asyncIterator](); // it streams
    await events.next();
    await events.return?.();
    expect(isLetGo()).toBe(true);
  });
});

describe("a reader that leaves", () => {
  test("while the stream is being opened closes it as soon as it is open, and is notified of the end", async () => {
    let answer = (_: HttpResponse): void => undefined;
    const opening = new Promise<HttpResponse>((resolve) => {
      answer = resolve;
    });
    let letGo = false;
    const body: AsyncIterableIterator<Chunk> = {
      [Symbol.asyncIterator]: () => body,
      next: () => new Promise(() => undefined),
      async return() {
        letGo = true;
        return { done: true, value: undefined };
      },
    };
    const iface: Peer = { url: "http://peer:1", version: "1.0", binding: "GRPC", card };
    const link = { exchange: () => opening, close: async () => undefined };
    const { handler } = connect({ ...createClientContext({ link, ids }), peer: iface });
    const events = (handler(watch, startCall()) as AsyncIterable<AgentEvent>)[Symbol.asyncIterator](); // a subscription is a stream
    const next = events.next();
    await events.return?.();
    answer({ status: 200, headers: GRPC, body });
    expect(await next).toEqual({ done: true, value: undefined });
    expect(letGo).toBe(true);
  });
});
