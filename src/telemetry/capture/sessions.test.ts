import { describe, expect, test } from "vitest";
import { type SessionPair, sessionPair, UPGRADE_TRACE } from "../../../test/helpers/session-pair.js";
import {
  AgentError,
  type AgentEvent,
  ANONYMOUS,
  type Call,
  CancelSource,
  type Handler,
  NO_CONTEXT,
  type Operation,
  startCall,
  textPart,
} from "../../envelope/index.js";
import { stack } from "../../policies/index.js";
import { createHost } from "../../protocols/host.js";
import type { HttpRequest, SessionMessage } from "../../transport/exchange.js";
import { makeRequest } from "../../transport/request.js";
import { noTelemetry, type Telemetry } from "../telemetry.js";
import type { CapturedMessage, CaptureLimits } from "./captured-message.js";
import { createInspector, type Inspector } from "./inspector.js";

const VIA = { protocol: "toy", version: "1", binding: "WS" } as const;
const EDGE = { srcAgent: "me", dstId: "words", protocol: "toy" };
const LOSS = { protocol: "toy", path: "message.parts[0]", valueKind: "url", reason: "text only" };

function newInspector(limits: Partial<CaptureLimits> = {}): Inspector {
  let ids = 0;
  return createInspector({ limits, ids: { newId: () => `id-${++ids}` }, clock: { now: () => 1_000 } });
}

function send(text: string): Operation {
  const envelope = { id: text, ts: 1, src: "a", dst: "b", intent: "", role: "user", content: [textPart(text)] } as const;
  return { kind: "send", envelope: { ...envelope, context: NO_CONTEXT, meta: {} }, delivery: "answer", task: "auto" };
}

const done: AgentEvent = { kind: "done" };

/** The only captured message with this text. */
function captured({ log }: Inspector, text: string): CapturedMessage {
  const [found, ...others] = log.list({ text }, 10).map(({ id }) => log.get(id));
  if (found === undefined || others.length > 0) throw new Error(`${others.length + 1} messages with the text ${text}`);
  return found;
}

interface Served extends SessionPair {
  readonly inspector: Inspector;
  /** The next message as a call. */
  begin(): Promise<Call>;
  /** A call from a request or a message. */
  beginFrom(from: HttpRequest | SessionMessage): Call;
  /** The handler of the host. */
  readonly handle: Handler;
}

interface ServedOptions {
  readonly limits?: Partial<CaptureLimits>;
  readonly inner?: Telemetry;
  readonly agent?: Handler;
}

/** A host whose sessions are captured. The test sends the answers. */
async function served(options: ServedOptions = {}): Promise<Served> {
  const { limits, inner = noTelemetry, agent = () => Promise.resolve(done) } = options;
  const inspector = newInspector(limits);
  const telemetry = inspector.telemetry(inner);
  const handle = stack([telemetry.server()])(agent);
  const host = createHost({
    handler: handle,
    cards: [],
    ids: { newId: () => "id", now: () => 1_000 },
    onLoss: (loss, call) => telemetry.lossReported(loss, call),
    callStarted: (from, call) => telemetry.callStarted(from, call),
  });
  const pair = await sessionPair({ accepted: (session) => telemetry.session(session, "toy") });
  const beginFrom = (from: HttpRequest | SessionMessage): Call =>
    host.begin(from, { caller: ANONYMOUS, agent: "words", via: VIA });
  return {
    ...pair,
    inspector,
    handle,
    beginFrom,
    async begin() {
      return beginFrom({ session: pair.server, frame: await pair.atServer(), hops: 0, cancel: new CancelSource() });
    },
  };
}

describe("calls in a session of a server", () => {
  test("each have their own messages, however these are interleaved", async () => {
    const { client, server, inspector, begin, handle } = await served();
    await client.send('{"id":1,"say":"one"}');
    await client.send('{"id":2,"say":"two"}');
    const [first, second] = [await begin(), await begin()];
    await server.send('{"hello":"of no call"}');
    await Promise.all([handle(send("one"), first), handle(send("two"), second)]);
    await server.send('{"id":2,"event":"a"}', second);
    await server.send('{"id":1,"end":"ü"}', first);
    await server.send('{"id":2,"end":"b"}', second);
    expect(captured(inspector, "one")).toMatchObject({
      direction: "in",
      agent: "words",
      caller: "anonymous",
      via: VIA,
      status: "ok",
      // Values of the query may be keys.
      request: { head: "WS /toy?key=…&n=1", headers: {}, body: '{"id":1,"say":"one"}', bytes: 20, cut: false },
      response: { head: "message", headers: {}, body: '{"id":1,"end":"ü"}', bytes: 19, cut: false },
    });
    expect(captured(inspector, "two")).toMatchObject({
      request: { body: '{"id":2,"say":"two"}', bytes: 20 },
      response: { body: '{"id":2,"event":"a"}\n{"id":2,"end":"b"}', bytes: 20 + 18 },
    });
  });

  test("show a message as it is sent, also before the call has ended", async () => {
    const { client, server, inspector, begin, handle } = await served({ agent: () => new Promise(() => undefined) });
    await client.send("?");
    const call = await begin();
    void handle(send("running"), call);
    expect(captured(inspector, "running")).toMatchObject({ status: "open", request: { body: "?" }, response: undefined });
    await server.send("1", call);
    expect(captured(inspector, "running")).toMatchObject({ status: "open", response: { body: "1" } });
    await server.send("2", call);
    expect(captured(inspector, "running")).toMatchObject({ status: "open", response: { body: "1\n2" } });
  });

  test("keep what was sent of a stream within the limit of a body", async () => {
    const { client, server, inspector, begin, handle } = await served({ limits: { bodyBytes: 8 } });
    await client.send("0123456789");
    const call = await begin();
    await handle(send("long"), call);
    for (let index = 0; index < 1_000; index++) await server.send("abc", call);
    expect(captured(inspector, "long")).toMatchObject({
      request: { body: "01234567", bytes: 10, cut: true },
      response: { body: "abc\nabc", bytes: 3_000, cut: true },
    });
  });

  test("hide secrets in each message, and keep only the size of binary ones", async () => {
    const { client, server, inspector, begin, handle } = await served();
    await client.send('{"say":"x","auth":{"api_key":"abc"}}');
    const call = await begin();
    await handle(send("secret"), call);
    await server.send('{"token":"def"}', call);
    await server.send(new Uint8Array(5), call);
    await server.send('{"n":1}', call);
    const { request, response } = captured(inspector, "secret");
    expect(request?.body).toBe('{"say":"x","auth":{"api_key":"…"}}');
    expect(response).toMatchObject({ body: '{"token":"…"}\n{"n":1}', encoding: "utf8", bytes: 15 + 5 + 7, cut: true });
  });

  test("have the further messages that belong to them", async () => {
    const { client, server, inspector, atServer, begin, handle } = await served();
    await client.send("first");
    await client.send("more");
    const call = await begin();
    await handle(send("parts"), call);
    server.assign(await atServer(), call);
    expect(captured(inspector, "parts").request).toMatchObject({ body: "first\nmore", bytes: 9 });
  });

  test("share one message where it is a batch, and answer it each for itself", async () => {
    const { server, client, inspector, atServer, beginFrom, handle } = await served();
    await client.send("[1,2]");
    const frame = await atServer();
    const calls = ["uno", "due"].map(() => beginFrom({ session: server, frame, hops: 0, cancel: new CancelSource() }));
    for (const [index, text] of ["uno", "due"].entries()) {
      await handle(send(text), calls[index] ?? startCall());
      await server.send(text, calls[index]);
    }
    for (const text of ["uno", "due"])
      expect(captured(inspector, text)).toMatchObject({ request: { body: "[1,2]" }, response: { body: text } });
  });

  test("have their losses, also those that a decoder reports before the call is captured", async () => {
    const { client, inspector, begin, handle } = await served();
    await client.send("1");
    await client.send("2");
    const [first, second] = [await begin(), await begin()];
    first.reportLoss(LOSS);
    await handle(send("lossy"), first);
    await handle(send("whole"), second);
    first.reportLoss({ ...LOSS, path: "task.history" });
    expect(captured(inspector, "lossy").losses.map(({ path }) => path)).toEqual(["message.parts[0]", "task.history"]);
    expect(captured(inspector, "whole").losses).toEqual([]);
  });

  test("do not continue the trace of the upgrade request", async () => {
    const { client, server, inspector, begin, handle } = await served();
    expect(server.request.headers["traceparent"]).toBe(UPGRADE_TRACE);
    await client.send("?");
    await handle(send("traced"), await begin());
    expect(captured(inspector, "traced").parentSpan).toBeUndefined();
    expect(UPGRADE_TRACE).not.toContain(captured(inspector, "traced").traceId);
  });

  test("are not failed by the end of the session", async () => {
    const { client, server, inspector, begin, handle } = await served();
    await client.send("?");
    const call = await begin();
    await handle(send("ended"), call);
    await server.send("answer", call);
    client.close(1011, "");
    await server.closed;
    expect(captured(inspector, "ended")).toMatchObject({ status: "ok", error: undefined, response: { body: "answer" } });
  });

  test("are counted by the telemetry inside", async () => {
    const seen: string[] = [];
    const inner: Telemetry = {
      ...noTelemetry,
      session: (_session, protocol) => void seen.push(protocol),
      callStarted: (_from, { agent }) => void seen.push(agent),
    };
    const { client, begin } = await served({ inner });
    await client.send("?");
    await begin();
    expect(seen).toEqual(["toy", "words"]);
  });
});

test("losses of a decoder are captured for requests too", async () => {
  const { inspector, beginFrom, handle } = await served();
  const call = beginFrom(makeRequest({ method: "POST", url: "http://server.test/toy", body: "{}" }));
  call.reportLoss(LOSS);
  await handle(send("by request"), call);
  expect(captured(inspector, "by request").losses).toEqual([LOSS]);
});

interface Connected extends SessionPair {
  readonly inspector: Inspector;
  /** The calls of the protocol client, by the text of their message. */
  readonly calls: Map<string, Call>;
  readonly handle: Handler;
}

/** A client whose calls are captured. It sends each as one message; the test receives the answers. */
async function connected(limits: Partial<CaptureLimits> = {}): Promise<Connected> {
  const inspector = newInspector(limits);
  const telemetry = inspector.telemetry(noTelemetry);
  const pair = await sessionPair({ wrap: (link) => telemetry.link(link, EDGE) });
  const calls = new Map<string, Call>();
  const client: Handler = async (operation, call) => {
    const text = operation.kind === "send" ? operation.envelope.id : "";
    calls.set(text, call);
    await null; // a protocol client may wait before it writes
    await pair.client.send(`{"say":"${text}","token":"abc"}`, call);
    return done;
  };
  return { ...pair, inspector, calls, handle: stack([telemetry.wire(EDGE, VIA)])(client) };
}

describe("calls in a session of a client", () => {
  test("each have their own messages, with secrets hidden", async () => {
    const { client, server, atClient, inspector, handle, calls } = await connected();
    await client.send("hello of no call");
    await Promise.all([handle(send("one"), startCall()), handle(send("two"), startCall())]);
    for (const [text, answer] of [
      ["two", "a"],
      ["one", "b"],
      ["two", '{"token":"def"}'],
    ] as const) {
      await server.send(answer);
      client.assign(await atClient(), calls.get(text) ?? startCall());
    }
    expect(captured(inspector, "one")).toMatchObject({
      direction: "out",
      agent: "words",
      caller: "me",
      via: VIA,
      request: { head: "WS /toy?key=…&n=1", body: '{"say":"one","token":"…"}', bytes: 27, cut: false },
      response: { head: "message", body: "b", bytes: 1 },
    });
    expect(captured(inspector, "two")).toMatchObject({
      request: { body: '{"say":"two","token":"…"}' },
      response: { body: 'a\n{"token":"…"}', bytes: 1 + 15 },
    });
  });

  test("are truncated at the limit", async () => {
    const { client, server, atClient, inspector, handle, calls } = await connected({ bodyBytes: 4 });
    await handle(send("cut"), startCall());
    await server.send("abcdef");
    client.assign(await atClient(), calls.get("cut") ?? startCall());
    expect(captured(inspector, "cut")).toMatchObject({
      request: { body: '{"sa', bytes: 27, cut: true },
      response: { body: "abcd", bytes: 6, cut: true },
    });
  });

  test("have their losses", async () => {
    const { inspector, handle, calls } = await connected();
    await Promise.all([handle(send("lossy"), startCall()), handle(send("whole"), startCall())]);
    calls.get("lossy")?.reportLoss(LOSS);
    expect(captured(inspector, "lossy").losses).toEqual([LOSS]);
    expect(captured(inspector, "whole").losses).toEqual([]);
  });

  test("keep the request that was sent first, by HTTP, and its response", async () => {
    const inspector = newInspector();
    const telemetry = inspector.telemetry(noTelemetry);
    const { client, server, atClient } = await sessionPair({ wrap: (link) => telemetry.link(link, EDGE) });
    const { exchange } = telemetry.link(
      { exchange: () => ({ status: 200, headers: {}, body: "response" }), close: async () => undefined },
      EDGE,
    );
    const handle = stack([telemetry.wire(EDGE, VIA)])(async (_operation, call) => {
      await exchange(makeRequest({ method: "POST", url: "http://server.test/rpc", body: "request", call }));
      await client.send("message", call);
      await server.send("other");
      client.assign(await atClient(), call);
      return done;
    });
    await handle(send("both"), startCall());
    expect(captured(inspector, "both")).toMatchObject({
      request: { head: "POST /rpc", body: "request" },
      response: { head: "200", body: "response" },
    });
  });

  test("are unaffected by a refused upgrade", async () => {
    const refused = new AgentError("overloaded", "too many sessions");
    const link = newInspector()
      .telemetry(noTelemetry)
      .link(
        {
          exchange: () => Promise.reject(refused),
          open: () => Promise.reject(refused),
          close: async () => undefined,
        },
        EDGE,
      );
    await expect(link.open?.(makeRequest({ method: "GET", url: "ws://server.test/toy" }), [])).rejects.toBe(refused);
  });
});
