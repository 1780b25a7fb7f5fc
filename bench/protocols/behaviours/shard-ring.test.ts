import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import type { BehaviourContext, Peers } from "./behaviour.js";
import { shardRing } from "./shard-ring.js";

const AGENTS = ["agent-1", "agent-2", "agent-3", "agent-4", "agent-5"];
const DATA = { source: { kind: "generated", groups: 2, seed: 1 }, heartbeatMs: 60_000, deadAfterMs: 60_000 };

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "koine-ring-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

interface Started {
  readonly restarts: number;
  connect(to: string): Promise<void>;
  readonly deadAfterMs?: number;
  readonly notes?: { readonly kind: string; readonly seq: number | undefined }[];
  send?(to: string): Promise<void>;
}

/** What the agent uses of its context. */
function contextOf({
  restarts,
  connect,
  deadAfterMs = DATA.deadAfterMs,
  notes = [],
  send = async () => undefined,
}: Started): BehaviourContext {
  const answer = JSON.stringify({ found: false, answer: "", confidence: 0, hops: 1 });
  const peers: Peers = { names: AGENTS.slice(1), connect, send: (to) => send(to).then(() => ({ ok: true, text: answer })) };
  return {
    name: "agent-1",
    agents: AGENTS,
    peers,
    data: { ...DATA, deadAfterMs },
    settings: { model: "null" },
    condition: { recovery: "journal" },
    now: () => 0,
    stateFolder: folder,
    restarts,
    note: (kind: string, more?: { readonly seq?: number }) => void notes.push({ kind, seq: more?.seq }),
  } as unknown as BehaviourContext;
}

it("is connected to both neighbours before it exists, when it is started again", async () => {
  const connected: string[] = [];
  let connect = (): void => undefined;
  const isConnected = new Promise<void>((resolve) => {
    connect = resolve;
  });
  let exists = false;
  const starting = Promise.resolve(
    shardRing(
      contextOf({
        restarts: 1,
        connect: async (to) => {
          await isConnected;
          connected.push(to);
        },
      }),
    ),
  ).then(() => {
    exists = true;
  });
  await new Promise((resolve) => setImmediate(resolve));
  expect(exists).toBe(false);
  connect();
  await starting;
  expect(connected).toEqual(["agent-2", "agent-5"]);
});

it("waits neither for a neighbour that is gone nor, longer than silence lasts, for one that is silent", async () => {
  const asked: string[] = [];
  const connect = (to: string): Promise<void> => {
    asked.push(to);
    return to === "agent-2" ? Promise.reject(new Error("refused")) : new Promise(() => undefined);
  };
  // Ends although one of them never answers. The timer does not keep a process alive: this one does.
  const alive = setInterval(() => undefined, 1_000);
  await shardRing(contextOf({ restarts: 1, connect, deadAfterMs: 5 }));
  clearInterval(alive);
  expect(asked).toEqual(["agent-2", "agent-5"]);
});

it("connects to nobody when it is started first: nobody listens yet", async () => {
  const asked: string[] = [];
  await shardRing(contextOf({ restarts: 0, connect: async (to) => void asked.push(to) }));
  expect(asked).toEqual([]);
});

it("works on a key once, and says so when it is asked again, during the work or after it", async () => {
  const notes: { readonly kind: string; readonly seq: number | undefined }[] = [];
  const agent = await shardRing(contextOf({ restarts: 0, connect: async () => undefined, notes }));
  const text = JSON.stringify({ kind: "ask", key: "q-7", group: 0, question: "Nobody knows this?" });
  const ask = (seq: number): Promise<string> =>
    agent.handle({ payload: text, text, seq, from: undefined }, new AbortController().signal);
  const [first, second] = await Promise.all([ask(7), ask(8)]);
  const third = await ask(9);
  expect(new Set([first, second, third]).size).toBe(1);
  expect(notes.filter(({ kind }) => kind === "repeated").map(({ seq }) => seq)).toEqual([8, 9]);
});

it("greets its neighbours at once and then the others one by one, without waiting for one that is silent", async () => {
  const greeted: string[] = [];
  const answers = new Map<string, () => void>();
  const send = (to: string): Promise<void> => {
    greeted.push(to);
    return new Promise((resolve) => answers.set(to, resolve));
  };
  const ring = await shardRing(contextOf({ restarts: 1, connect: async () => undefined, deadAfterMs: 20, send }));
  const alive = setInterval(() => undefined, 1_000);
  ring.started?.();
  expect(greeted).toEqual(["agent-2", "agent-5"]);
  for (const name of ["agent-2", "agent-5"]) answers.get(name)?.();
  await new Promise((resolve) => setImmediate(resolve));
  expect(greeted).toEqual(["agent-2", "agent-5", "agent-3"]);
  // agent-3 never answers.
  await expect.poll(() => greeted).toEqual(["agent-2", "agent-5", "agent-3", "agent-4"]);
  clearInterval(alive);
  ring.stopped?.();
});
