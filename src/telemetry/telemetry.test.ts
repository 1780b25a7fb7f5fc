import { describe, expect, test } from "vitest";
import { chunks, count, message, requestOf, send, streamed, whole } from "../../test/helpers/telemetry.js";
import { AgentError, type AgentEvent, CancelSource, type Handler, type Operation, startCall } from "../envelope/index.js";
import { stack } from "../policies/index.js";
import type { Chunk, Exchange, HttpRequest, HttpResponse, Link, Session } from "../transport/exchange.js";
import { memoryLink } from "../transport/memory.js";
import { makeRequest } from "../transport/request.js";
import type { Hooks } from "./hooks.js";
import { createMetrics } from "./metrics.js";
import { createTelemetry, noTelemetry, type Telemetry } from "./telemetry.js";

const EDGE = { srcAgent: "planner", dstId: "translator", protocol: "p" };
const HEADER = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

function linkTo(exchange: Exchange): Link {
  return { exchange, close: async () => undefined };
}

/** A wire of its own: a request of ten bytes; one event, or one event per chunk. */
function clientHalf(link: Link, shape: "one" | "many"): Handler {
  if (shape === "one")
    return async (_operation, call) => {
      await null; // a protocol client may wait before it writes
      await link.exchange(requestOf("0123456789", call));
      return message;
    };
  return async function* (_operation, call) {
    const { body } = await link.exchange(requestOf("0123456789", call));
    for await (const _chunk of body as AsyncIterable<Chunk>) yield message; // the exchange of the test streams
  };
}

function connected(telemetry: Telemetry, exchange: Exchange, shape: "one" | "many" = "one"): Handler {
  const half = clientHalf(telemetry.link(linkTo(exchange), EDGE), shape);
  return stack([telemetry.client(EDGE), telemetry.wire(EDGE)])(half);
}

/** Every hook writes its name down. */
function recorder(): { readonly hooks: Required<Hooks>; readonly notes: [string, object][] } {
  const notes: [string, object][] = [];
  const names = [
    "beforeEncode",
    "afterEncode",
    "beforeTransport",
    "afterTransport",
    "onDecode",
    "onStreamEvent",
    "onBackoff",
    "onRetry",
    "onError",
  ] as const;
  const hooks = Object.fromEntries(names.map((name) => [name, (note: object) => void notes.push([name, note])]));
  return { hooks: hooks as unknown as Required<Hooks>, notes }; // one function per name of the list above
}

async function drain(handler: Handler, operation: Operation, call = startCall()): Promise<number> {
  let seen = 0;
  for await (const _event of handler(operation, call) as AsyncIterable<AgentEvent>) seen++; // `connected(…, "many")` streams
  return seen;
}

describe("metrics of a client", () => {
  test("one event: bytes of both bodies once, content of both messages, one observation", async () => {
    const metrics = createMetrics();
    const handler = connected(createTelemetry({ metrics }), async () => whole("é34567"));
    await handler(send("hällo"), startCall());
    expect(count(metrics, "MSG_BYTES")).toBe(10 + 7);
    expect(count(metrics, "MSG_BYTES_PAYLOAD")).toBe(6 + 8);
    expect(count(metrics, "MSG_BYTES_RETRY_OVERHEAD")).toBe(3);
    expect(count(metrics, "REQUEST_LATENCY")).toBe(1);
    expect(count(metrics, "REQUEST_FAILURES")).toBe(0);
  });

  test("many events: every chunk and every event", async () => {
    const metrics = createMetrics();
    const exchange = (): HttpResponse => streamed(chunks("123", new Uint8Array(4)));
    expect(await drain(connected(createTelemetry({ metrics }), exchange, "many"), send("hi"))).toBe(2);
    expect(count(metrics, "MSG_BYTES")).toBe(10 + 3 + 4);
    expect(count(metrics, "MSG_BYTES_PAYLOAD")).toBe(2 + 8 + 8);
    expect(count(metrics, "REQUEST_LATENCY")).toBe(1);
  });

  test("what is around the content is overhead, also of two concurrent calls with one cancel", async () => {
    const metrics = createMetrics();
    const handler = connected(createTelemetry({ metrics }), async () => whole("12345"));
    const cancel = new CancelSource();
    await Promise.all([handler(send("hi", 1), startCall({ cancel })), handler(send("hi"), startCall({ cancel }))]);
    expect(count(metrics, "MSG_BYTES")).toBe(30);
    expect(count(metrics, "MSG_BYTES_PAYLOAD")).toBe(2 * (2 + 8));
    expect(count(metrics, "MSG_BYTES_RETRY_OVERHEAD")).toBe(10);
  });

  test("a failure is counted and timed; a call that was not sent is not traffic", async () => {
    const metrics = createMetrics();
    const telemetry = createTelemetry({ metrics });
    const refused = new AgentError("unavailable", "refused", { sent: "no" });
    const lost = new AgentError("interrupted", "lost", { sent: "maybe" });
    await expect(connected(telemetry, () => Promise.reject(refused))(send("hi"), startCall())).rejects.toBe(refused);
    expect(count(metrics, "MSG_BYTES")).toBe(0);
    await expect(connected(telemetry, () => Promise.reject(lost))(send("hi"), startCall())).rejects.toBe(lost);
    expect(count(metrics, "MSG_BYTES")).toBe(10);
    expect(count(metrics, "REQUEST_FAILURES")).toBe(2);
    expect(count(metrics, "REQUEST_LATENCY")).toBe(2);
  });

  test("a call cancelled by its caller is not counted against the peer", async () => {
    const metrics = createMetrics();
    const telemetry = createTelemetry({ metrics });
    const gaveUp = new AgentError("cancelled", "enough");
    await expect(connected(telemetry, () => Promise.reject(gaveUp))(send("hi"), startCall())).rejects.toBe(gaveUp);
    for await (const _event of connected(
      telemetry,
      () => streamed(chunks("1", "2")),
      "many",
    )(send("hi"), startCall()) as AsyncIterable<AgentEvent>)
      break;
    expect(count(metrics, "REQUEST_FAILURES")).toBe(0);
    expect(count(metrics, "REQUEST_LATENCY")).toBe(0);
  });

  test("latency is in seconds, to the end of a stream", async () => {
    const metrics = createMetrics({ latencyBounds: [1] });
    let nowMs = 5_000;
    async function* slow(): AsyncGenerator<Chunk> {
      yield "1";
      nowMs += 2_500;
      yield "2";
    }
    const telemetry = createTelemetry({ metrics, now: () => nowMs });
    await drain(
      connected(telemetry, () => streamed(slow()), "many"),
      send("hi"),
    );
    expect(metrics.families()[0]?.samples).toEqual([{ edge: EDGE, cumulative: [0, 1], sum: 2.5 }]);
  });

  test("sessions are counted message by message", async () => {
    const metrics = createMetrics();
    const accept = async (session: Session): Promise<void> => {
      for await (const frame of session.frames) await session.send(`${frame}é`);
    };
    const link = memoryLink({
      take: () => ({ status: 404, headers: {}, body: undefined }),
      upgrade: () => ({ subprotocol: undefined, headers: {}, accept, abandon: () => undefined }),
    });
    const observed = createTelemetry({ metrics }).link(link, EDGE);
    const session = await observed.open?.(makeRequest({ method: "GET", url: "ws://peer.test/p" }), []);
    await session?.send("1234");
    const reader = session?.frames[Symbol.asyncIterator]();
    expect(await reader?.next()).toEqual({ done: false, value: "1234é" });
    await observed.close();
    expect(count(metrics, "MSG_BYTES")).toBe(10); // four sent, six received
  });
});

describe("hooks of a client", () => {
  test("one event, in order, with edge and trace", async () => {
    const { hooks, notes } = recorder();
    let nowMs = 0;
    const handler = connected(createTelemetry({ hooks, now: () => nowMs++ }), async () => whole("1234567"));
    const operation = send("hi");
    await handler(operation, startCall({ parameters: { traceparent: HEADER } }));
    const all = { edge: EDGE, traceId: "4bf92f3577b34da6a3ce929d0e0e4736" };
    const trip = { ...all, method: "POST", target: "http://peer.test/p", bytes: 10 };
    expect(notes).toEqual([
      ["beforeEncode", { ...all, operation }],
      ["afterEncode", { ...all, operation, payload: new TextEncoder().encode("0123456789") }],
      ["beforeTransport", trip],
      ["afterTransport", { ...trip, status: 200, receivedBytes: 7, elapsedMs: 1, error: undefined }],
      ["onDecode", { ...all, operation, event: message }],
    ]);
  });

  test("a stream: transport ends after the last chunk, and each event is reported", async () => {
    const { hooks, notes } = recorder();
    await drain(
      connected(createTelemetry({ hooks }), () => streamed(chunks("1", "2")), "many"),
      send("hi"),
    );
    expect(notes.map(([name]) => name)).toEqual([
      "beforeEncode",
      "afterEncode",
      "beforeTransport",
      "onDecode",
      "onStreamEvent",
      "onDecode",
      "onStreamEvent",
      "afterTransport",
    ]);
    expect(notes[4]?.[1]).toMatchObject({ index: 0 });
    expect(notes[6]?.[1]).toMatchObject({ index: 1 });
    expect(notes[7]?.[1]).toMatchObject({ receivedBytes: 2 });
  });

  test("a stream that is cut ends its transport with the error, and the call with onError, once each", async () => {
    const { hooks, notes } = recorder();
    const cut = new AgentError("interrupted", "cut");
    async function* broken(): AsyncGenerator<Chunk> {
      yield "1";
      throw cut;
    }
    await expect(
      drain(
        connected(createTelemetry({ hooks }), () => streamed(broken()), "many"),
        send("hi"),
      ),
    ).rejects.toBe(cut);
    expect(notes.slice(-2)).toMatchObject([
      ["afterTransport", { status: 200, receivedBytes: 1, error: cut }],
      ["onError", { error: cut }],
    ]);
    expect(notes.filter(([name]) => name === "onError" || name === "afterTransport")).toHaveLength(2);
  });

  test("a reader that leaves ends the transport too", async () => {
    const ended = new Promise((resolve) => {
      const handler = connected(
        createTelemetry({ hooks: { afterTransport: resolve } }),
        () => streamed(chunks("1", "2")),
        "many",
      );
      const stream = (handler(send("hi"), startCall()) as AsyncIterable<AgentEvent>)[Symbol.asyncIterator](); // "many" streams
      void stream.next().then(() => stream.return?.());
    });
    expect(await ended).toMatchObject({ receivedBytes: 1, error: undefined });
  });

  test("observers that throw never break a call of either shape", async () => {
    const thrown: string[] = [];
    const fail = (): never => {
      throw new Error("observer");
    };
    const hooks: Hooks = {
      beforeEncode: fail,
      afterEncode: fail,
      beforeTransport: fail,
      afterTransport: fail,
      onDecode: fail,
      onStreamEvent: fail,
      onError: fail,
    };
    const telemetry = createTelemetry({ hooks, onHookError: (_thrown, hook) => void thrown.push(hook) });
    expect(await connected(telemetry, () => whole("1"))(send("hi"), startCall())).toBe(message);
    expect(
      await drain(
        connected(telemetry, () => streamed(chunks("1")), "many"),
        send("hi"),
      ),
    ).toBe(1);
    const refused = new AgentError("unavailable", "refused");
    await expect(connected(telemetry, () => Promise.reject(refused))(send("hi"), startCall())).rejects.toBe(refused);
    expect([...new Set(thrown)].sort()).toEqual([
      "afterEncode",
      "afterTransport",
      "beforeEncode",
      "beforeTransport",
      "onDecode",
      "onError",
      "onStreamEvent",
    ]);
  });

  test("the caller's own cancel reaches the wire", async () => {
    const { hooks } = recorder();
    const cancel = new CancelSource();
    let onWire: HttpRequest | undefined;
    const handler = connected(createTelemetry({ hooks }), (request) => {
      onWire = request;
      return whole("1");
    });
    await handler(send("hi"), startCall({ cancel }));
    expect(onWire?.cancel).toBe(cancel);
    const again = new CancelSource();
    const reason = new AgentError("cancelled", "now");
    const hanging = connected(createTelemetry({ hooks }), (request) => {
      again.cancel(reason);
      return Promise.reject(request.cancel.reason);
    });
    await expect(hanging(send("hi"), startCall({ cancel: again }))).rejects.toBe(reason);
  });
});

describe("noTelemetry", () => {
  test("wraps nothing", () => {
    const link = linkTo(() => whole(""));
    expect(noTelemetry.link(link, EDGE)).toBe(link);
    expect(noTelemetry.exchange(link.exchange)).toBe(link.exchange);
    expect([noTelemetry.client(EDGE), noTelemetry.wire(EDGE), noTelemetry.server(), noTelemetry.hooks]).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
    expect(noTelemetry.metricsText()).toBe("");
  });

  test("createTelemetry with nothing in it wraps nothing either", () => {
    const link = linkTo(() => whole(""));
    const telemetry = createTelemetry({});
    expect(telemetry.link(link, EDGE)).toBe(link);
    expect(telemetry.exchange(link.exchange)).toBe(link.exchange);
    expect([telemetry.client(EDGE), telemetry.wire(EDGE), telemetry.server()]).toEqual([undefined, undefined, undefined]);
  });
});

describe("metricsText", () => {
  test("is the text for a scraper", () => {
    const metrics = createMetrics();
    metrics.edge(EDGE).fail();
    expect(createTelemetry({ metrics }).metricsText()).toContain(
      'REQUEST_FAILURES{src_agent="planner",dst_id="translator",protocol="p"} 1\n',
    );
  });
});
