import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Agent, agent, connect, DiscoveryCache, type RemoteAgent, type Server, serve } from "../../src/index.js";
import { createTelemetry, type Hooks } from "../../src/public/telemetry.js";
import type { CapturedMessage, Inspector } from "../../src/telemetry/capture/index.js";
import { noTelemetry } from "../../src/telemetry/index.js";
import type { Link } from "../../src/transport/exchange.js";
import { poolLink } from "../../src/transport/node/index.js";
import { inspecting, newInspector } from "./served.js";

/** Every interface of a served agent, captured at both ends. */

const words: Agent = agent({
  name: "words",
  description: "says two words",
  async *handle(message, task) {
    yield task.working("on it");
    yield "one ";
    yield message.text;
    return undefined;
  },
});

let inspector: Inspector;
let server: Server;
const interfaces: string[] = [];
const open: { close(): Promise<void> }[] = [];

beforeAll(async () => {
  inspector = newInspector();
  server = await serve(words, { ...inspecting(inspector) });
  const peer = await connect(server.url, { discoveryCache: new DiscoveryCache() });
  interfaces.push(...peer.interfaces.map(({ protocol, version, binding }) => `${protocol}@${version}/${binding}`));
  await peer.close();
});
afterAll(async () => {
  await Promise.all(open.map((each) => each.close()));
  await server?.close();
});

/** The bytes on the wire, recorded by a link below the capture. */
interface Noted {
  readonly link: Link;
  readonly bodies: Uint8Array[];
}

function notingLink(): Noted {
  const link = poolLink();
  const bodies: Uint8Array[] = [];
  return {
    bodies,
    link: {
      exchange: (request) => {
        if (request.method === "POST") bodies.push(new Uint8Array(request.body));
        return link.exchange(request);
      },
      close: () => link.close(),
    },
  };
}

async function caller(pin: string, seen: Inspector, hooks?: Hooks): Promise<RemoteAgent & { readonly bodies: Uint8Array[] }> {
  const { link, bodies } = notingLink();
  const inner = hooks === undefined ? noTelemetry : createTelemetry({ hooks });
  const peer = await connect(server.url, {
    pin,
    link,
    discoveryCache: new DiscoveryCache(),
    telemetry: seen.telemetry(inner),
    id: "words",
    as: "me",
  });
  open.push({ close: () => link.close() });
  bodies.length = 0;
  return Object.assign(peer, { bodies });
}

const bytesIn = ({ request }: CapturedMessage): Uint8Array =>
  new Uint8Array(Buffer.from(request?.body ?? "", request?.encoding === "base64" ? "base64" : "utf8"));

/** The newest message with this text, once it has ended and its response is captured. */
async function seenBy(log: Inspector["log"], text: string, direction: "in" | "out"): Promise<CapturedMessage> {
  const find = (): CapturedMessage | undefined => {
    const [found] = log.list({ text, direction }, 1);
    return found && log.get(found.id);
  };
  await expect.poll(() => find()?.status).toBe("ok");
  await expect.poll(() => find()?.response?.body).not.toBe("");
  return find() as CapturedMessage; // it existed a moment ago
}

test("all registered interfaces are covered", () => {
  expect(interfaces.length).toBeGreaterThanOrEqual(8);
});

describe("every interface", () => {
  test("shows the bytes of the wire, the envelope, the events and the answer, on both sides", async () => {
    for (const pin of interfaces) {
      const text = `hello by ${pin}`;
      const out = newInspector();
      const peer = await caller(pin, out);
      expect([pin, await peer.ask(text)]).toEqual([pin, `one ${text}`]);
      const [came, went] = [await seenBy(inspector.log, text, "in"), await seenBy(out.log, text, "out")];
      const sent = peer.bodies.at(0);
      for (const [captured, src] of [
        // Agora has no authenticated sender, so its envelope carries the client's name.
        [came, pin.startsWith("agora@") ? "me" : "anonymous"],
        [went, "me"],
      ] as const) {
        expect([pin, bytesIn(captured)]).toEqual([pin, sent]);
        expect(captured).toMatchObject({
          operation: "send",
          text,
          envelope: { content: { text }, src, dst: "words" },
          answer: { content: { text: `one ${text}` }, role: "agent" },
          request: { cut: false, bytes: sent?.length },
          response: { head: "200", cut: false },
        });
        expect(captured.events.at(-1)).toMatchObject({ state: "completed", text: `one ${text}` });
        expect(captured.response?.bytes).toBeGreaterThan(0);
      }
      expect(`${came.via.protocol}@${came.via.version}/${came.via.binding}`).toBe(pin);
      expect([came.agent, went.agent, went.caller, went.via.protocol]).toEqual(["words", "words", "me", came.via.protocol]);
      // One trace over the wire: the inbound call is a child of the outbound one.
      expect([pin, came.traceId, came.parentSpan]).toEqual([pin, went.traceId, went.span]);
    }
  });

  test("shows a stream event by event", async () => {
    for (const pin of interfaces) {
      const text = `stream by ${pin}`;
      const out = newInspector();
      const peer = await caller(pin, out);
      const events: string[] = [];
      for await (const event of peer.stream(text)) events.push(event.kind);
      const [came, went] = [await seenBy(inspector.log, text, "in"), await seenBy(out.log, text, "out")];
      expect([pin, went.events.map(({ kind }) => kind)]).toEqual([pin, events]);
      expect([pin, came.response?.bytes]).toEqual([pin, went.response?.bytes]);
      expect([pin, came.answer?.["content"]]).toEqual([pin, { text: `one ${text}` }]);
    }
  });

  test("leaves other hooks intact: they still know which call a request belongs to", async () => {
    for (const pin of interfaces) {
      const events: (string | undefined)[] = [];
      const out = newInspector();
      const peer = await caller(pin, out, { afterEncode: ({ operation }) => void events.push(operation?.kind) });
      await peer.ask("hooks");
      expect([pin, bytesIn(await seenBy(out.log, "hooks", "out"))]).toEqual([pin, peer.bodies.at(0)]);
      expect([pin, events]).toEqual([pin, expect.arrayContaining(["send"])]);
    }
  });
});

test("a failure is shown with its code, and losses with their reasons", async () => {
  const out = newInspector();
  const agora = await caller("agora", out);
  for await (const _event of agora.stream("lossy")) {
    // Only what is seen beside it matters here.
  }
  expect((await seenBy(out.log, "lossy", "out")).losses).toContainEqual(
    expect.objectContaining({ path: "operation.delivery=stream", reason: "answered with one final event" }),
  );
  const peer = await caller("a2a@1.0/JSONRPC", out);
  await expect(peer.getTask("nobody")).rejects.toMatchObject({ code: "task_not_found" });
  const failed = out.log.list({ status: "failed" }, 1)[0];
  expect(failed).toMatchObject({ operation: "task.get", taskId: "nobody", error: { code: "task_not_found" } });
});

test("a call by an agent is a child of the call it answers", async () => {
  const both = newInspector();
  const writer = await connect(server.url, {
    discoveryCache: new DiscoveryCache(),
    pin: "acp",
    telemetry: both.telemetry(noTelemetry),
    id: "words",
  });
  const receptionist = await serve(
    agent({ name: "desk", description: "asks the writer", handle: (message) => writer.ask(message.text, { parent: message }) }),
    { ...inspecting(both) },
  );
  const peer = await connect(receptionist.url, { discoveryCache: new DiscoveryCache(), pin: "a2a@0.3/JSONRPC" });
  try {
    expect(await peer.ask("nested")).toBe("one nested");
    const came = await seenBy(both.log, "nested", "in");
    const made = await seenBy(both.log, "nested", "out");
    expect([made.parentSpan, made.traceId]).toEqual([came.span, came.traceId]);
    expect(both.log.trace(came.traceId).map(({ direction }) => direction)).toEqual(["in", "out"]);
  } finally {
    await Promise.all([peer.close(), writer.close(), receptionist.close()]);
  }
});

test("a large body is truncated at the limit, and the call is unaffected", async () => {
  const small = newInspector({ bodyBytes: 1_000 });
  const cutting = await serve(agent({ name: "echo", description: "d", handle: ({ text }) => text }), {
    ...inspecting(small),
  });
  const peer = await connect(cutting.url, { discoveryCache: new DiscoveryCache(), pin: "a2a@1.0/JSONRPC" });
  try {
    const text = "x".repeat(100_000);
    expect((await peer.ask(text)).length).toBe(text.length);
    await expect.poll(() => small.log.list({ text: "xxx" }, 1)[0]?.responseBytes).toBeGreaterThan(text.length);
    const seen = small.log.get(small.log.list({ text: "xxx" }, 1)[0]?.id ?? "");
    expect([seen?.request?.body.length, seen?.request?.cut, seen?.response?.body.length]).toEqual([1_000, true, 1_000]);
    expect(seen?.request?.bytes).toBeGreaterThan(text.length);
    expect(seen?.envelope?.["meta"]).toEqual({ koine: { cut: true, content_bytes: text.length } });
  } finally {
    await Promise.all([peer.close(), cutting.close()]);
  }
});
