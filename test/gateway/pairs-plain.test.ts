import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { connect, DiscoveryCache, type Part, textOf } from "../../src/index.js";
import { traitsOf } from "../../src/protocols/traits.js";
import { protocols } from "../../src/public/protocols.js";
import { differences, unreported } from "../bridge/differences.js";
import { type Bridges, openBridges } from "./pairs/bridges.js";
import { interfacesOf, type Pair, type PinnedInterface } from "./pairs/interfaces.js";
import { collect, contentOf, outcomeOf, taskIn, wordsOf } from "./pairs/seen.js";
import { createWorker } from "./pairs/worker.js";

/** The plain form of every protocol that has one, as listener and as upstream of a gateway. They are on no card: a pin finds them. */

const PLAIN: readonly PinnedInterface[] = protocols
  .filter(({ versions }) => versions.includes("plain"))
  .map((protocol) => ({
    pin: `${protocol.id}@plain/PLAIN`,
    protocol,
    version: "plain",
    traits: traitsOf(protocol, "plain"),
  }));

const listed = await interfacesOf(protocols);
const others = protocols.map(({ id }) => listed.find(({ protocol }) => protocol.id === id)).filter((each) => each !== undefined);
const pairs: readonly Pair[] = [
  ...PLAIN.flatMap((upstream) => others.map((listener) => pairOf(listener, upstream))),
  ...PLAIN.flatMap((listener) => others.map((upstream) => pairOf(listener, upstream))),
];

function pairOf(listener: PinnedInterface, upstream: PinnedInterface): Pair {
  return { name: `listener ${listener.pin}, upstream ${upstream.pin}`, listener, upstream };
}

function hasPlainAgora({ listener, upstream }: Omit<Pair, "name">): boolean {
  return [listener, upstream].some(({ pin }) => pin === "agora@plain/PLAIN");
}

function hasQuestions({ listener, upstream }: Omit<Pair, "name">): boolean {
  return [listener, upstream].every(({ traits }) => traits.inputTurns);
}

test("four protocols have a plain form, and no card lists it", () => {
  expect(PLAIN.map(({ pin }) => pin)).toEqual(["a2a@plain/PLAIN", "acp@plain/PLAIN", "agora@plain/PLAIN", "anp@plain/PLAIN"]);
  expect(listed.filter(({ version }) => version === "plain")).toEqual([]);
});

const worker = createWorker();
let bridges: Bridges;
beforeAll(async () => {
  bridges = await openBridges(worker, { protocols });
});
afterAll(() => bridges?.close());

const BYTES = new Uint8Array([0, 1, 254, 255]);
const partsFor = (text: string): readonly Part[] => [
  { kind: "text", text },
  { kind: "raw", bytes: BYTES, mediaType: "application/octet-stream", name: "four.bin" },
  { kind: "url", url: "https://files.example/a.txt", mediaType: "text/plain", name: "a.txt" },
  { kind: "data", data: { deep: [1, { ok: true, nothing: null }] } },
];

describe.each(pairs)("$name", ({ listener, upstream }) => {
  const through = async () => ({ caller: await (await bridges.gatewayTo(upstream)).caller(listener) });

  test("a question is answered", async () => {
    const { caller } = await through();
    expect(await caller.ask("Grüße, 世界 🌍")).toBe("you said: Grüße, 世界 🌍");
  });

  test("a stream arrives in order and whole", async () => {
    const { caller } = await through();
    expect(wordsOf(await collect(caller.stream("conform: stream 3")))).toBe("chunk 1 chunk 2 chunk 3 ");
  });

  test.each(["fail", "reject", "throw"])("an agent that is to %s is not reported as answering", async (word) => {
    const { caller } = await through();
    const expected = word === "reject" ? ["rejected", "forbidden"] : ["failed", "internal"];
    // Its replies say only that something failed.
    const vague = hasPlainAgora({ listener, upstream }) || !hasQuestions({ listener, upstream }) ? ["bad_peer", "failed"] : [];
    expect([...expected, ...vague]).toContain(await outcomeOf(caller.send(`conform: ${word}`)));
  });

  test("a key that is sent twice starts the work once", async () => {
    const { caller } = await through();
    const [text, key] = [`conform: task ${randomUUID()}`, randomUUID()];
    const answers = [await caller.send(text, { key }), await caller.send(text, { key })];
    // The results of plain ACP are one list, with the last words of the agent at its end.
    expect(answers.map((each) => wordsOf([each]).replace(/finished$/, ""))).toEqual(["done", "done"]);
    expect(worker.received(text)).toHaveLength(1);
  });
});

describe.each(pairs.filter(hasQuestions))("$name", ({ listener, upstream }) => {
  const through = async () => ({ caller: await (await bridges.gatewayTo(upstream)).caller(listener) });

  test("a question of the agent is asked and answered within one session", async () => {
    const { caller } = await through();
    const session = randomUUID();
    const asked = await caller.send("conform: ask", { session });
    const isOpen = asked.kind === "task" && asked.task.status.state === "input-required";
    const task = isOpen ? { task: asked.task.id } : {};
    expect(wordsOf([asked])).toContain("what is the answer?");
    expect(wordsOf([await caller.send("42", { session, ...task })])).toContain("the answer was: 42");
  });
});

/** Plain Agora has one text, so parts arrive as links and words in it. */
describe.each(pairs.filter((pair) => !hasPlainAgora(pair)))("$name", ({ listener, upstream }) => {
  test("parts and metadata arrive and come back as they were, or their loss is reported", async () => {
    const gateway = await bridges.gatewayTo(upstream);
    const caller = await gateway.caller(listener);
    const content = partsFor(`conform: echo ${randomUUID()}`);
    const metadata = { trip: { to: "Rome", nights: 3 } };
    gateway.takeLosses();
    const answer = await caller.send(content, { metadata, tags: ["a", "b"], priority: 7, intent: "echo" });
    const losses = gateway.takeLosses();
    const [received] = worker.received(textOf(content));
    const sent = { content, metadata, intent: "echo", context: { tags: ["a", "b"], priority: 7 } };
    const got = {
      content: received?.content,
      metadata: received?.metadata,
      intent: received?.intent,
      context: { tags: received?.context.tags, priority: received?.context.priority },
    };
    expect(received).toBeDefined();
    expect(unreported(differences(sent, got, "message"), losses)).toEqual([]);
    expect(unreported(differences(content, contentOf([answer]), "message.content"), losses)).toEqual([]);
  });
});

test.each(PLAIN)("a task that is started through $pin ends", async (upstream) => {
  const [listener] = others;
  if (listener === undefined) throw new Error("nothing is registered");
  const caller = await (await bridges.gatewayTo(upstream)).caller(listener);
  const { id } = taskIn(await caller.start("conform: task plain"));
  await expect.poll(async () => (await caller.getTask(id)).status.state).toBe("completed");
});

test("a real interface that fails for now is not replaced by the plain one", async () => {
  const server = createServer((request, response) => {
    const { port } = server.address() as AddressInfo;
    const card = { name: "real", url: `http://127.0.0.1:${port}/a2a`, protocolVersion: "0.3.0", skills: [], capabilities: {} };
    if (request.url === "/.well-known/agent-card.json") return void response.end(JSON.stringify(card));
    if (request.url === "/message") return void response.writeHead(405, { allow: "POST" }).end();
    response.writeHead(request.url === "/a2a" ? 503 : 404).end();
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  try {
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const peer = await connect(url, { discoveryCache: new DiscoveryCache() });
    expect(peer.interfaces.map(({ version }) => version)).toEqual(["0.3"]);
    await peer.close();
  } finally {
    await new Promise((done) => server.close(done));
  }
});
