import { afterAll, beforeAll, expect, test } from "vitest";
import { AgentError, agent, connect, DiscoveryCache, type RemoteAgent, type Server, serve } from "../../src/index.js";
import type { CapturedMessage, Inspector } from "../../src/telemetry/capture/index.js";
import { createMetrics, createTelemetry, type Metrics } from "../../src/telemetry/index.js";
import type { Link, Session } from "../../src/transport/exchange.js";
import { poolLink } from "../../src/transport/node/index.js";
import { sessionToy } from "../session-toy/index.js";
import { newInspector } from "./served.js";

/** Calls in one WebSocket session, captured and counted at both ends. */

interface Observed {
  readonly inspector: Inspector;
  readonly metrics: Metrics;
}

const observed = (): Observed => ({ inspector: newInspector(), metrics: createMetrics() });
const telemetryOf = ({ inspector, metrics }: Observed) => inspector.telemetry(createTelemetry({ metrics }));

const [there, here] = [observed(), observed()];
/** What crossed the wire, recorded below all observers. */
const sent: string[] = [];
const received: string[] = [];
const sessions: Session[] = [];
let server: Server;
let link: Link;
let peer: RemoteAgent;

beforeAll(async () => {
  const words = agent({
    name: "words",
    description: "says two words",
    async *handle(message, task) {
      if (message.text === "fail") throw new AgentError("internal", "it fails");
      yield task.working("on it");
      yield "one ";
      yield message.text;
      return undefined;
    },
  });
  server = await serve(words, { protocols: [sessionToy], telemetry: telemetryOf(there) });
  const pool = poolLink();
  link = {
    exchange: (request) => pool.exchange(request),
    close: () => pool.close(),
    async open(request, subprotocols) {
      const session = await pool.open?.(request, subprotocols);
      if (session === undefined) throw new Error("the pool has no sessions");
      session.tap({ sent: (frame) => void sent.push(String(frame)), received: (frame) => void received.push(String(frame)) });
      sessions.push(session);
      return session;
    },
  };
  const options = { protocols: [sessionToy], link, discoveryCache: new DiscoveryCache() };
  peer = await connect(server.url, { ...options, telemetry: telemetryOf(here), id: "words", as: "me" });
});
afterAll(async () => {
  await peer?.close();
  await link?.close();
  await server?.close();
});

/** The complete message with this text. */
async function seen({ inspector: { log } }: Observed, text: string): Promise<CapturedMessage> {
  const find = (): CapturedMessage | undefined => {
    const [found] = log.list({ text }, 1);
    return found && log.get(found.id);
  };
  await expect.poll(() => find()?.status).toMatch(/ok|failed/);
  await expect.poll(() => find()?.response?.body).toMatch(/"end":|"error":/);
  return find() as CapturedMessage; // it existed a moment ago
}

/** The messages with this member: those of one call have its `id`, or name it in `cancel`. */
function linesOf(frames: readonly string[], member: "id" | "cancel", id: string): string {
  return frames.filter((frame) => JSON.parse(frame)[member] === id).join("\n");
}

test("ten streams at a time in one session: each has its own messages, as they crossed the wire, at both ends", async () => {
  const texts = Array.from({ length: 10 }, (_, index) => `word ${index}`);
  await Promise.all(
    texts.map(async (text) => {
      for await (const _event of peer.stream(text)) {
        // Only what is captured matters here.
      }
    }),
  );
  expect(sessions).toHaveLength(1);
  for (const text of texts) {
    const [came, went] = [await seen(there, text), await seen(here, text)];
    const request = sent.find((frame) => frame.includes(`"${text}"`)) ?? "";
    const { id } = JSON.parse(request);
    const answers = linesOf(received, "id", id);
    expect(answers.split("\n").length).toBeGreaterThan(3);
    // A reader that has the closing event leaves; the server reads its cancel when the call has ended.
    const cancel = linesOf(sent, "cancel", id);
    for (const [captured, body] of [
      [came, request],
      [went, cancel === "" ? request : `${request}\n${cancel}`],
    ] as const) {
      expect(captured.request).toMatchObject({ head: "WS /session-toy?agent=…", headers: {}, body, cut: false });
      expect(captured.response).toMatchObject({ head: "message", body: answers, cut: false });
      expect(captured).toMatchObject({
        status: "ok",
        operation: "send",
        envelope: { content: { text } },
        answer: { content: { text: `one ${text}` } },
      });
    }
    // One trace over the wire: the inbound call is a child of the outbound one.
    expect([came.traceId, came.parentSpan]).toEqual([went.traceId, went.span]);
  }
});

test("a call that fails has the message that says so", async () => {
  await expect(peer.ask("fail")).rejects.toMatchObject({ code: "internal" });
  const [came, went] = [await seen(there, "fail"), await seen(here, "fail")];
  for (const captured of [came, went]) {
    expect(captured).toMatchObject({ status: "failed", error: { code: "internal" } });
    expect(captured.response?.body).toBe(linesOf(received, "id", JSON.parse(captured.request?.body ?? "").id));
  }
});

test("both ends count the bytes of the messages, and the session", async () => {
  // Cancels belong to no call of the server.
  const messages = [...sent.filter((frame) => !frame.startsWith('{"cancel"')), ...received];
  const bytes = messages.reduce((sum, frame) => sum + Buffer.byteLength(frame), 0);
  const values = ({ metrics }: Observed, name: string) =>
    metrics
      .families()
      .find((family) => family.name === name)
      ?.samples.map(({ edge: { srcAgent, dstId, protocol }, ...sample }) => [
        srcAgent,
        dstId,
        protocol,
        "value" in sample ? sample.value : undefined,
      ]);
  expect(values(there, "MSG_BYTES")).toEqual([["anonymous", "words", "session-toy", bytes]]);
  expect(values(there, "SESSIONS_OPEN")).toEqual([["anonymous", "other", "session-toy", 1]]);
  expect(values(here, "SESSIONS_OPEN")).toEqual([["me", "words", "session-toy", 1]]);
  await peer.close();
  await expect.poll(() => values(there, "SESSIONS_OPEN")).toEqual([["anonymous", "other", "session-toy", 0]]);
  expect(values(here, "SESSIONS_OPEN")).toEqual([["me", "words", "session-toy", 0]]);
  expect(values(there, "SESSIONS_ENDED")).toEqual([["anonymous", "other", "session-toy", 1]]);
  expect(values(there, "SESSIONS_FAILED")).toEqual([["anonymous", "other", "session-toy", 0]]);
});
