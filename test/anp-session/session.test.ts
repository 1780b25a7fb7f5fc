import { randomBytes } from "node:crypto";
import { afterEach, describe, expect, test } from "vitest";
import { newEnvelope } from "../../src/envelope/index.js";
import { type AgentEvent, agent, type Envelope, type RemoteAgent, serve } from "../../src/index.js";
import { anp } from "../../src/protocols/anp/index.js";
import type { Chunk, Session } from "../../src/transport/exchange.js";
import { pass, tamperingLink } from "../secured-toy/tampering-link.js";
import { recordSessions } from "../session-toy/accepted-sessions.js";
import { createHoldingWorker } from "../session-toy/holding-worker.js";
import { called, closeAll, closeLater, directory, host, served } from "./peers.js";

const accepted: Session[] = [];
const protocols = [recordSessions(accepted, anp)];
afterEach(async () => {
  await closeAll();
  accepted.length = 0;
});

/** A caller whose frames are kept. */
async function watched(url: string, name: string): Promise<{ peer: RemoteAgent; sent: Chunk[] }> {
  const sent: Chunk[] = [];
  return { peer: await called(url, directory.create(name), { link: tamperingLink<Chunk>(pass, sent) }), sent };
}

describe("a sealed session of ANP", () => {
  test("answers the DID that was proved, and its frames show nothing of what is said", async () => {
    const { peer, sent } = await watched(await served(), "ann");
    expect(await peer.ask("who")).toBe("did:did:memo:ann");
    expect(await peer.ask("a very secret word")).toBe("you said: a very secret word");
    // One handshake for all calls.
    expect(sent.map((frame) => typeof frame)).toEqual(["string", "object", "object", "object"]);
    expect(sent.some((frame) => Buffer.from(frame).includes("secret"))).toBe(false);
  });

  test("carries many calls at once, each with its own end", async () => {
    const worker = createHoldingWorker();
    const { peer, sent } = await watched(await served({}, worker.agent), "many");
    const held = peer.ask("hold a");
    await worker.began("hold a");
    expect(await peer.ask("who")).toBe("did:did:memo:many");
    worker.letGo("hold a");
    expect(await held).toBe("let go: hold a");
    expect(sent.filter((frame) => typeof frame === "string")).toHaveLength(1);
  });

  test("changes its keys after 1,024 records", async () => {
    const { peer, sent } = await watched(await served(), "busy");
    for (let each = 0; each < 1_030; each++) await peer.ask("more");
    expect(await peer.ask("who")).toBe("did:did:memo:busy");
    expect(sent.filter((frame) => typeof frame === "string")).toHaveLength(1);
  });

  test("carries large binary parts as bytes, in several records if need be", async () => {
    const bytes = randomBytes(3 * 1024 * 1024);
    const echo = agent({
      name: "echo",
      description: "returns what it is sent",
      async *handle({ content }, task) {
        yield task.artifact(content);
        return "done";
      },
    });
    const { peer, sent } = await watched(await served({}, echo), "large");
    const reply = await peer.send([{ kind: "raw", bytes, mediaType: "application/octet-stream" }]);
    const parts = reply.kind === "task" ? (reply.task.artifacts[0]?.parts ?? []) : [];
    expect(parts.map((part) => part.kind === "raw" && Buffer.from(part.bytes).equals(bytes))).toEqual([true]);
    // Base64 would need a third more.
    expect(sent.reduce((sum, frame) => sum + frame.length, 0)).toBeLessThan(bytes.length * 1.01);
    for (const frame of sent) expect(frame.length).toBeLessThanOrEqual(256 * 1024 + 37);
  });

  test("carries messages that the server starts", async () => {
    const worker = createHoldingWorker();
    const server = await serve(worker.agent, { protocols, identity: host, resolver: directory.resolver() });
    closeLater(() => server.close());
    const peer = await called(server.url, directory.create("told"));
    const owner = await peer.ask("who");
    const messages = peer.receive()[Symbol.asyncIterator]();
    const first = messages.next();
    const news: Envelope = newEnvelope(
      { content: "news", src: "worker", dst: "me", context: {} },
      { now: () => 1_000, newId: () => "m-1" },
    );
    await server.say(owner, news);
    expect(await first).toMatchObject({ value: { id: "m-1", content: [{ kind: "text", text: "news" }] } });
    await messages.return?.();
  });

  test("that is cut is followed by another handshake, and a stream goes on after its last event", async () => {
    const steps = agent({
      name: "steps",
      description: "works in steps",
      async *handle(_message, task) {
        for (let each = 1; each <= 20; each++) {
          yield task.artifact(`${each} `, { append: each > 1 });
          await new Promise((resolve) => setTimeout(resolve, 5));
        }
        return "done";
      },
    });
    const peer = await called(await served({ protocols }, steps), directory.create("cut"));
    const texts: string[] = [];
    for await (const event of peer.stream("go")) {
      texts.push(...textsIn(event));
      if (texts.length === 5 && accepted.length === 1) accepted[0]?.close(1011, "cut");
    }
    // The last one is the answer.
    expect(texts.slice(0, 20).join("")).toBe(Array.from({ length: 20 }, (_, each) => `${each + 1} `).join(""));
    expect(accepted.length).toBeGreaterThan(1);
  });

  test("is replaced by another before it expires", async () => {
    let ahead = 0;
    const ids = { now: () => Date.now() + ahead, newId: () => crypto.randomUUID() };
    const peer = await called(await served({ protocols, ids, limits: { sessionIdleMs: 3_600_000 } }), directory.create("old"), {
      ids,
    });
    await peer.ask("who");
    ahead = 3_600_000 - 30_000;
    expect(await peer.ask("who")).toBe("did:did:memo:old");
    expect(accepted).toHaveLength(2);
  });
});

function textsIn(event: AgentEvent): readonly string[] {
  return event.kind === "artifact" ? event.artifact.parts.flatMap((part) => (part.kind === "text" ? [part.text] : [])) : [];
}
