import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type AgentEvent, type Part, type RemoteAgent, textOf } from "../../../src/index.js";
import { type Protocol, protocols } from "../../../src/public/protocols.js";
import { differences, unreported } from "../../bridge/differences.js";
import { type BridgedInterface, type Bridges, openBridges } from "./bridges.js";
import type { Pair } from "./interfaces.js";
import { codeOf, collect, contentOf, emulatedIn, outcomeOf, seen, taskIdIn, taskIn, wordsOf } from "./seen.js";
import { createWorker } from "./worker.js";

/** What a gateway emulates for a caller when the upstream protocol lacks it, written out per pair of protocols. */
const NO_TASKS = ["streaming", "tasks"];
const EMULATED: { readonly [listener: string]: { readonly [upstream: string]: readonly string[] } } = {
  a2a: { a2a: [], acp: [], agora: NO_TASKS, anp: [], sage: [], "session-toy": [], "secured-toy": [] },
  acp: { a2a: [], acp: [], agora: NO_TASKS, anp: [], sage: [], "session-toy": [], "secured-toy": [] },
  // Agora has neither streams nor tasks: its callers are answered by one message, and nothing has to be emulated.
  agora: { a2a: [], acp: [], agora: [], anp: [], sage: [], "session-toy": [], "secured-toy": [] },
  anp: { a2a: [], acp: [], agora: NO_TASKS, anp: [], sage: [], "session-toy": [], "secured-toy": [] },
  sage: { a2a: [], acp: [], agora: NO_TASKS, anp: [], sage: [], "session-toy": [], "secured-toy": [] },
  "session-toy": { a2a: [], acp: [], agora: NO_TASKS, anp: [], sage: [], "session-toy": [] },
  "secured-toy": { a2a: [], acp: [], agora: NO_TASKS, anp: [], sage: [], "secured-toy": [] },
};
/** Wires on which bytes do not arrive, not even between Koine peers. */
const WITHOUT_BYTES: ReadonlySet<string> = new Set(["session-toy"]);
function expectedFor<T>(table: { readonly [id: string]: T }, id: string): T {
  const expected = table[id];
  if (expected === undefined) throw new Error(`the expectations for ${id} are not written down`);
  return expected;
}

function emulatedFor({ listener, upstream }: Pair): readonly string[] {
  return expectedFor(expectedFor(EMULATED, listener.protocol.id), upstream.protocol.id);
}

const CHUNKS = ["chunk 1 ", "chunk 2 ", "chunk 3 "];
/** The last event of a stream that ended well: a message, a task, or a status. */
const ENDS = ["message", "task completed", "status completed"];
const PIECES = ["task submitted", "status working", ...CHUNKS.map((chunk) => `artifact ${chunk}`), "status completed"];

/** A caller of the listener interface, a gateway, and an agent called over the upstream interface: over sockets, for each pair. */
export function describePairs(pairs: readonly Pair[], registry: readonly Protocol[] = protocols): void {
  const worker = createWorker();
  let lenient: Bridges;
  let strict: Bridges;
  beforeAll(async () => {
    lenient = await openBridges(worker, { protocols: registry });
    strict = await openBridges(worker, { protocols: registry, strict: true });
  });
  afterAll(async () => {
    await lenient?.close();
    await strict?.close();
  });

  async function through({
    listener,
    upstream,
  }: Pair): Promise<{ readonly gateway: BridgedInterface; readonly caller: RemoteAgent }> {
    const gateway = await lenient.gatewayTo(upstream);
    return { gateway, caller: await gateway.caller(listener) };
  }

  describe.each(pairs)("$name", (pair) => {
    const { listener, upstream } = pair;
    const both = {
      streaming: listener.traits.streaming && upstream.traits.streaming,
      tasks: listener.traits.tasks && upstream.traits.tasks,
    };

    test("a question is answered", async () => {
      const { caller } = await through(pair);
      expect(await caller.ask("Grüße, 世界 🌍")).toBe("you said: Grüße, 世界 🌍");
    });

    test("a stream arrives in order and is closed; what the gateway emulates is flagged", async () => {
      const { caller } = await through(pair);
      const events = await collect(caller.stream("conform: stream 3"));
      expect(wordsOf(events)).toBe(CHUNKS.join(""));
      expect(both.streaming ? events.map(seen) : ENDS.includes(endOf(events))).toEqual(both.streaming ? PIECES : true);
      expect(emulatedIn(events)).toEqual(emulatedFor(pair));
    });

    test("a question of the agent is asked and answered within one session", async () => {
      const { caller } = await through(pair);
      const session = randomUUID();
      const asked = await caller.send("conform: ask", { session });
      const task = asked.kind === "task" ? { task: asked.task.id } : {};
      const answered = await caller.send("42", { session, ...task });
      expect([outcome(asked), outcome(answered)]).toEqual([
        both.tasks ? "input-required: what is the answer?" : expect.stringContaining("what is the answer?"),
        both.tasks ? "completed: the answer was: 42" : expect.stringContaining("the answer was: 42"),
      ]);
    });

    test.each(["fail", "reject", "throw"])("an agent that is to %s is not reported as answering", async (word) => {
      const { caller } = await through(pair);
      const states = word === "reject" ? ["rejected"] : ["failed", "internal"];
      const codes = word === "reject" ? ["forbidden"] : [];
      expect([...states, ...(both.tasks ? [] : codes)]).toContain(await outcomeOf(caller.send(`conform: ${word}`)));
    });

    test("a key that is sent twice starts the work once", async () => {
      const { caller } = await through(pair);
      const [text, key] = [`conform: task ${randomUUID()}`, randomUUID()];
      const first = await caller.send(text, { key });
      const second = await caller.send(text, { key });
      expect([wordsOf([first]), wordsOf([second]), worker.received(text).length]).toEqual(["done", "done", 1]);
    });

    test("parts and metadata arrive and come back as they were, or their loss is reported", async () => {
      const { gateway, caller } = await through(pair);
      const content = partsFor(`conform: echo ${randomUUID()}`);
      const metadata = { trip: { to: "Rome", nights: 3 }, "x-empty": "" };
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
      expect(unreported(differences(sent, got, "message"), losses)).toEqual([]);
      expect(unreported(differences(content, contentOf([answer]), "message.content"), losses)).toEqual([]);
      const raws = received?.content.filter(({ kind }) => kind === "raw");
      // Between Koine peers bytes arrive on nearly every wire, also on those without raw parts.
      const bytes = expect.objectContaining({ bytes: BYTES, mediaType: "application/octet-stream", name: "four.bin" });
      expect(raws).toEqual([listener, upstream].some(({ protocol }) => WITHOUT_BYTES.has(protocol.id)) ? [] : [bytes]);
    });

    test("two callers with the same session and the same key are kept apart", async () => {
      const gateway = await lenient.gatewayTo(upstream);
      const [text, key, session] = [`conform: task ${randomUUID()}`, randomUUID(), randomUUID()];
      const answers = [];
      for (const who of ["alice", "bob"] as const)
        answers.push(await (await gateway.caller(listener, who)).send(text, { key, session }));
      const received = worker.received(text).map(({ context }) => context);
      expect(received).toHaveLength(2);
      expect(new Set([session, ...received.map(({ sessionId }) => sessionId)]).size).toBe(3);
      expect(received.map(({ idempotencyKey }) => idempotencyKey)).not.toContain(key);
      expect(new Set(received.map(({ idempotencyKey }) => idempotencyKey)).size).toBe(2);
      const [first] = answers;
      const bob = await gateway.caller(listener, "bob");
      const foreign = first?.kind === "task" ? bob.getTask(first.task.id) : bob.getTask(randomUUID());
      await expect(foreign).rejects.toMatchObject({ code: "task_not_found" });
    });

    test("a strict gateway refuses what it would have to emulate, and only that", async () => {
      const gateway = await strict.gatewayTo(upstream);
      const caller = await gateway.caller(listener);
      expect(await caller.ask("hello")).toBe("you said: hello");
      const text = `conform: stream 3 ${randomUUID()}`;
      const streamed = await collect(caller.stream(text)).then(endOf, codeOf);
      const refused = emulatedFor(pair).length > 0;
      // A wire on which everything is a task reports the refusal as a failed task.
      expect(refused ? ["unsupported", "status failed"] : ENDS).toContain(streamed);
      expect(worker.received(text)).toHaveLength(refused ? 0 : 1);
    });
  });

  describe.each(pairs.filter(({ listener }) => listener.traits.tasks))("$name, with tasks", (pair) => {
    const { listener, upstream } = pair;

    test("a task is found again, and its stream is resumed from every cursor", async () => {
      const { caller } = await through(pair);
      const events = await collect(caller.stream("conform: stream 3"));
      const id = taskIdIn(events);
      const kept = await caller.getTask(id);
      expect([kept.id, kept.status.state, wordsOf([{ kind: "task", task: kept }])]).toEqual([id, "completed", CHUNKS.join("")]);
      const lines = events.map(seen);
      for (const [index, { cursor }] of events.slice(0, -1).entries()) {
        const rest = (await collect(caller.subscribe(id, { after: cursor ?? "" })))
          .filter(({ kind }) => kind !== "task")
          .map(seen);
        // At least once: all events of one journal entry may be repeated, and none may be missing.
        expect(rest).toEqual(lines.slice(lines.length - rest.length));
        expect(rest.length).toBeGreaterThanOrEqual(lines.length - index - 1);
        expect(rest.length).toBeLessThan(lines.length);
      }
    });

    test("a task that the caller cancels is cancelled upstream", async () => {
      const { caller } = await through(pair);
      const text = `conform: wait ${randomUUID()}`;
      const { id } = taskIn(await caller.start(text));
      await worker.began(text);
      await expect.poll(async () => (await caller.getTask(id)).status.state).toBe("working");
      const followed = collect(caller.subscribe(id));
      await caller.cancelTask(id);
      expect(endOf(await followed)).toBe("status canceled");
      expect((await caller.getTask(id)).status.state).toBe("canceled");
      if (upstream.traits.tasks) await worker.stopped(text);
    });

    test("an unknown task is not found", async () => {
      const { caller } = await through(pair);
      await expect(caller.getTask(randomUUID())).rejects.toMatchObject({ code: "task_not_found" });
      await expect(caller.cancelTask(randomUUID())).rejects.toMatchObject({ code: "task_not_found" });
    });

    test("a strict gateway starts a task only if the upstream has tasks", async () => {
      const caller = await (await strict.gatewayTo(upstream)).caller(listener);
      const text = `conform: task ${randomUUID()}`;
      const isRefused = emulatedFor(pair).includes("tasks");
      const started = await caller.start(text).then(taskIn, codeOf);
      const outcome =
        typeof started === "string"
          ? started
          : await expect
              .poll(() => stateOf(caller, started.id))
              .toBe("completed")
              .then(() => "completed");
      expect([outcome, worker.received(text).length]).toEqual(isRefused ? ["unsupported", 0] : ["completed", 1]);
    });
  });
}

const BYTES = new Uint8Array([0, 1, 254, 255]);

function partsFor(text: string): readonly Part[] {
  return [
    { kind: "text", text },
    { kind: "raw", bytes: BYTES, mediaType: "application/octet-stream", name: "four.bin" },
    { kind: "url", url: "https://files.example/a.txt", mediaType: "text/plain", name: "a.txt" },
    { kind: "data", data: { deep: [1, { ok: true, nothing: null }] }, metadata: { unit: "m" } },
  ];
}

function outcome(event: Parameters<typeof taskIn>[0]): string {
  const state = event.kind === "task" ? event.task.status.state : event.kind;
  return `${state}: ${wordsOf([event])}`;
}

function endOf(events: readonly AgentEvent[]): string {
  const last = events.at(-1);
  return last === undefined ? "nothing" : seen(last);
}

async function stateOf(caller: RemoteAgent, id: string): Promise<string> {
  return (await caller.getTask(id)).status.state;
}
