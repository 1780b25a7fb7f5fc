import { describe, expect, test } from "vitest";
import { type SessionPair, sessionPair, UPGRADE_TRACE } from "../../test/helpers/session-pair.js";
import {
  AgentError,
  ANONYMOUS,
  type Call,
  type Handler,
  NO_CONTEXT,
  type Operation,
  ownerOf,
  type Principal,
  startCall,
} from "../envelope/index.js";
import { stack } from "../policies/index.js";
import type { Link } from "../transport/exchange.js";
import { makeRequest } from "../transport/request.js";
import type { Hooks } from "./hooks.js";
import { createMetrics, type Metrics } from "./metrics.js";
import { createTelemetry } from "./telemetry.js";

const EDGE = { srcAgent: "planner", dstId: "translator", protocol: "toy" };
const VIA = { protocol: "toy", version: "1", binding: "WS" } as const;
const ANN: Principal = { id: "ann", scheme: "bearer", scopes: [], owner: ownerOf("bearer", "ann") };
const TRACE = "0af7651916cd43dd8448eb211c80319c";

const callOf = (agent: string, caller: Principal = ANONYMOUS): Call => startCall({ agent, caller, via: VIA });

function send(text: string, retryCount: number): Operation {
  const envelope = { id: "m", ts: 1, src: "a", dst: "b", intent: "", role: "user", content: [{ kind: "text", text }] } as const;
  return { kind: "send", envelope: { ...envelope, context: NO_CONTEXT, meta: { retryCount } }, delivery: "answer", task: "auto" };
}

/** The values of one metric, by `src_agent dst_id protocol`. */
function valuesOf(metrics: Metrics, name: string): { [labels: string]: number | undefined } {
  const samples = metrics.families().find((family) => family.name === name)?.samples ?? [];
  return Object.fromEntries(
    samples.map(({ edge: { srcAgent, dstId, protocol }, ...sample }) => [
      `${srcAgent} ${dstId} ${protocol}`,
      "value" in sample ? sample.value : undefined,
    ]),
  );
}

/** A server whose sessions are counted. */
async function served(caller?: Principal): Promise<SessionPair & { readonly metrics: Metrics }> {
  const metrics = createMetrics();
  const telemetry = createTelemetry({ metrics, serves: (agent) => agent !== "stranger" });
  const options = { accepted: (session: SessionPair["server"]) => telemetry.session?.(session, "toy") };
  const pair = await sessionPair(caller === undefined ? options : { ...options, caller });
  return { ...pair, metrics };
}

describe("sessions of a server", () => {
  test("bytes of interleaved messages count with the labels of their own calls", async () => {
    const { client, server, atServer, metrics } = await served();
    await client.send("é34"); // four bytes
    await client.send("12345");
    const [first, second] = [callOf("one"), callOf("two", ANN)];
    server.assign(await atServer(), first);
    server.assign(await atServer(), second);
    await server.send("123456", second);
    await server.send("1", first);
    await server.send("1234567", second);
    expect(valuesOf(metrics, "MSG_BYTES")).toEqual({ "anonymous one toy": 4 + 1, "ann two toy": 5 + 6 + 7 });
  });

  test("a binary message counts with its length", async () => {
    const { server, metrics } = await served();
    server.assign(new Uint8Array(9), callOf("one"));
    await server.send(new Uint8Array(3), callOf("one"));
    expect(valuesOf(metrics, "MSG_BYTES")).toEqual({ "anonymous one toy": 9 + 3 });
  });

  test("a call derived by a layer has the labels of its call; an agent that is not served is other", async () => {
    const { server, metrics } = await served();
    await server.send("12", callOf("one").derive({ hops: 1 }));
    await server.send("123", callOf("stranger"));
    expect(valuesOf(metrics, "MSG_BYTES")).toEqual({ "anonymous one toy": 2, "anonymous other toy": 3 });
  });

  test("messages that belong to no call are not counted", async () => {
    const { client, server, atServer, atClient, metrics } = await served();
    await client.send("hello");
    await atServer();
    await server.send("welcome");
    expect(await atClient()).toBe("welcome");
    expect(valuesOf(metrics, "MSG_BYTES")).toEqual({});
  });

  test("a message that became two calls counts once, an equal message after it again", async () => {
    const { client, server, atServer, metrics } = await served();
    await client.send("12345");
    const batch = await atServer();
    server.assign(batch, callOf("one"));
    server.assign(batch, callOf("two"));
    expect(valuesOf(metrics, "MSG_BYTES")).toEqual({ "anonymous one toy": 5 });
    await client.send("12345");
    server.assign(await atServer(), callOf("two"));
    expect(valuesOf(metrics, "MSG_BYTES")).toEqual({ "anonymous one toy": 5, "anonymous two toy": 5 });
  });

  test("a session is open until it ends; it failed unless it was closed normally", async () => {
    for (const [code, failures] of [
      [1000, 0],
      [1001, 0],
      [1002, 1],
      [1011, 1],
      [4000, 1],
    ] as const) {
      const { client, server, metrics } = await served(ANN);
      expect(valuesOf(metrics, "SESSIONS_OPEN")).toEqual({ "ann other toy": 1 });
      client.close(code, "");
      await server.closed;
      expect([code, valuesOf(metrics, "SESSIONS_OPEN")]).toEqual([code, { "ann other toy": 0 }]);
      expect([code, valuesOf(metrics, "SESSIONS_ENDED")]).toEqual([code, { "ann other toy": 1 }]);
      expect([code, valuesOf(metrics, "SESSIONS_FAILED")]).toEqual([code, { "ann other toy": failures }]);
    }
  });

  test("a caller that is not authenticated yet, or everyone, has a label too", async () => {
    expect(valuesOf((await served()).metrics, "SESSIONS_OPEN")).toEqual({ "other other toy": 1 });
    expect(valuesOf((await served(ANONYMOUS)).metrics, "SESSIONS_OPEN")).toEqual({ "anonymous other toy": 1 });
  });
});

/** A client that sends its operations as messages of one session, observed as `connect` does. */
async function connected(hooks?: Hooks): Promise<SessionPair & { readonly metrics: Metrics; readonly handler: Handler }> {
  const metrics = createMetrics();
  const telemetry = createTelemetry({ metrics, hooks, now: () => 0 });
  const pair = await sessionPair({ wrap: (link) => telemetry.link(link, EDGE) });
  const handler: Handler = async (_operation, call) => {
    await null; // a protocol client may wait before it writes
    await pair.client.send("0123456789", call);
    return { kind: "done" };
  };
  return { ...pair, metrics, handler: stack([telemetry.client(EDGE), telemetry.wire(EDGE)])(handler) };
}

describe("sessions of a client", () => {
  test("all messages are traffic of the edge, also those of no call", async () => {
    const { client, server, atClient, metrics } = await connected();
    await client.send("hello");
    await server.send("é");
    await atClient();
    expect(valuesOf(metrics, "MSG_BYTES")).toEqual({ "planner translator toy": 5 + 2 });
  });

  test("what is around the content of a message is overhead", async () => {
    const { handler, metrics } = await connected();
    await Promise.all([handler(send("hi", 0), startCall()), handler(send("hi", 1), startCall())]);
    expect(valuesOf(metrics, "MSG_BYTES")).toEqual({ "planner translator toy": 20 });
    expect(valuesOf(metrics, "MSG_BYTES_RETRY_OVERHEAD")).toEqual({ "planner translator toy": 16 });
  });

  test("received messages of a call belong to it, and those of no call are overhead", async () => {
    const { client, server, atClient, metrics } = await connected();
    await server.send("hello");
    await atClient();
    server.close(1000, "");
    await client.closed;
    expect(valuesOf(metrics, "MSG_BYTES_RETRY_OVERHEAD")).toEqual({ "planner translator toy": 5 });
  });

  test("a session is open until it ends", async () => {
    const { client, server, metrics } = await connected();
    expect(valuesOf(metrics, "SESSIONS_OPEN")).toEqual({ "planner translator toy": 1 });
    server.close(1011, "");
    await client.closed;
    expect(valuesOf(metrics, "SESSIONS_OPEN")).toEqual({ "planner translator toy": 0 });
    expect(valuesOf(metrics, "SESSIONS_FAILED")).toEqual({ "planner translator toy": 1 });
  });

  test("hooks see the upgrade as a request, and the payload of each message with its operation and trace", async () => {
    const notes: [string, object][] = [];
    const noting = (name: string) => (note: object) => void notes.push([name, note]);
    const { client, handler } = await connected({
      afterEncode: noting("afterEncode"),
      beforeTransport: noting("beforeTransport"),
      afterTransport: noting("afterTransport"),
    });
    const traceId = UPGRADE_TRACE.slice(3, 35);
    const trip = { edge: EDGE, traceId, method: "GET", target: "ws://server.test/toy", bytes: 0 };
    expect(notes.splice(0)).toEqual([
      ["afterEncode", { edge: EDGE, traceId, operation: undefined, payload: new Uint8Array(0) }],
      ["beforeTransport", trip],
      ["afterTransport", { ...trip, status: 101, receivedBytes: 0, elapsedMs: 0, error: undefined }],
    ]);
    const operation = send("hi", 0);
    await handler(operation, startCall({ parameters: { traceparent: `00-${TRACE}-00f067aa0ba902b7-01` } }));
    await client.send("hello");
    expect(notes).toEqual([
      ["afterEncode", { edge: EDGE, traceId: TRACE, operation, payload: new TextEncoder().encode("0123456789") }],
      ["afterEncode", { edge: EDGE, traceId: undefined, operation: undefined, payload: new TextEncoder().encode("hello") }],
    ]);
  });

  test("a refused upgrade is a failed request and no session", async () => {
    const failures: unknown[] = [];
    const metrics = createMetrics();
    const refused = new AgentError("overloaded", "too many sessions");
    const link: Link = {
      exchange: () => Promise.reject(refused),
      open: () => Promise.reject(refused),
      close: async () => undefined,
    };
    const hooks: Hooks = { afterTransport: ({ status, error }) => void failures.push([status, error]) };
    const observed = createTelemetry({ metrics, hooks }).link(link, EDGE);
    await expect(observed.open?.(makeRequest({ method: "GET", url: "ws://server.test/toy" }), [])).rejects.toBe(refused);
    expect(failures).toEqual([[undefined, refused]]);
    expect(valuesOf(metrics, "SESSIONS_OPEN")).toEqual({});
  });

  test("a link without sessions has none when it is observed", () => {
    const link: Link = { exchange: () => ({ status: 200, headers: {}, body: undefined }), close: async () => undefined };
    expect(createTelemetry({ metrics: createMetrics() }).link(link, EDGE).open).toBeUndefined();
  });
});
