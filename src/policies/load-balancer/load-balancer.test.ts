import { describe, expect, it } from "vitest";
import { fakeClock } from "../../../test/helpers/clock.js";
import {
  AgentError,
  type AgentEvent,
  type Call,
  type Floor,
  type Handler,
  newEnvelope,
  type Operation,
  ownerOf,
  type Principal,
  startCall,
  textPart,
} from "../../envelope/index.js";
import type { Destination } from "../destination.js";
import type { PolicyNote } from "../notes.js";
import { consistentHash } from "../selection/consistent-hash.js";
import { firstMatch } from "../selection/first-match.js";
import { latencyAware } from "../selection/latency-aware.js";
import { type LoadBalancerOptions, loadBalancer } from "./load-balancer.js";

const notSent = new AgentError("unavailable", "the circuit is open", { sent: "no" });
const maybeSent = new AgentError("interrupted", "cut", { sent: "maybe" });
const unknown = new AgentError("task_not_found", "no such task");

function send(context: object = {}, delivery: "answer" | "stream" = "answer"): Operation {
  const envelope = newEnvelope({ content: "go", src: "me", dst: "them", context }, { now: () => 1, newId: () => "m" });
  return { kind: "send", envelope, delivery, task: "auto" };
}

function task(id: string, state: "working" | "completed" = "working"): Extract<AgentEvent, { kind: "task" }> {
  return { kind: "task", task: { id, contextId: "c", status: { state, at: 1_000 }, artifacts: [], history: [] } };
}

type Answer = AgentEvent | AgentError | readonly (AgentEvent | AgentError)[];

/** A peer that answers each call with the next of its script, and with its last for ever. */
function peer(id: string, script: readonly Answer[], more: Partial<Destination> = {}) {
  const heard: { operation: Operation; call: Call }[] = [];
  const handler: Handler = (operation, call) => {
    const answer = script[Math.min(heard.length, script.length - 1)] ?? unknown;
    heard.push({ operation, call });
    if (!Array.isArray(answer))
      return answer instanceof AgentError ? Promise.reject(answer) : Promise.resolve(answer as AgentEvent);
    return (async function* () {
      for (const step of answer as readonly (AgentEvent | AgentError)[]) {
        if (step instanceof AgentError) throw step;
        yield step;
      }
    })();
  };
  return { destination: { id, handler, ...more } satisfies Destination, heard };
}

function board(peers: readonly { readonly destination: Destination }[], change: Partial<LoadBalancerOptions> = {}) {
  const notes: PolicyNote[] = [];
  let made = 0;
  const clock = fakeClock(5_000);
  const switches = loadBalancer({
    destinations: peers.map(({ destination }) => destination),
    selector: firstMatch(),
    clock,
    newId: () => `id-${++made}`,
    notes: (note) => notes.push(note),
    ...change,
  });
  return {
    ...switches,
    clock,
    chosen: () => notes.flatMap((note) => (note.kind === "decision" ? [`${note.destination}: ${note.because}`] : [])),
    notes,
    one: (operation: Operation, call = startCall()) => switches.handler(operation, call) as Promise<AgentEvent>,
    async many(operation: Operation, call = startCall()) {
      const seen: string[] = [];
      try {
        for await (const event of switches.handler(operation, call) as AsyncIterable<AgentEvent>) seen.push(event.kind);
      } catch (thrown) {
        seen.push(AgentError.from(thrown).code);
      }
      return seen;
    },
  };
}

describe("loadBalancer, failing over", () => {
  it("skips unavailable destinations, reports each choice, and passes the call unchanged", async () => {
    const [a, b] = [peer("a", [notSent]), peer("b", [task("t")], { protocol: "wire" })];
    const { one, chosen, notes } = board([a, b]);
    const floor: Floor = { encrypted: true, signed: false, endToEnd: false, identity: true };
    const call = startCall({ floor });
    expect(await one(send({ traceId: "tr" }), call)).toEqual(task("t"));
    expect(chosen()).toEqual(["a: the first in order that matches", "b: a failed: unavailable"]);
    expect(notes[1]).toMatchObject({ policy: "first-match", among: ["a", "b"], traceId: "tr", protocol: "wire" });
    expect([a.heard[0]?.call.floor, b.heard[0]?.call.floor]).toEqual([floor, floor]);
  });

  it.each([
    ["nothing was sent", send(), notSent, {}, true],
    ["a message that perhaps arrived", send(), maybeSent, {}, false],
    ["what changes nothing, perhaps arrived", { kind: "task.list" } as const, maybeSent, {}, true],
    ["a key that the next one knows nothing of", send({ idempotencyKey: "k" }), maybeSent, {}, false],
    ["a key that all know", send({ idempotencyKey: "k" }), maybeSent, { sharedKeys: true }, true],
    ["no key, although all would know it", send(), maybeSent, { sharedKeys: true }, false],
    ["a refusal", send(), new AgentError("forbidden", "no", { sent: "maybe" }), {}, false],
    ["too little protection", send(), new AgentError("downgrade_refused", "no", { sent: "no" }), {}, false],
  ])("%s", async (...[, operation, error, change, goesOn]) => {
    const able = { idempotentSend: () => true };
    const [a, b] = [peer("a", [error], able), peer("b", [task("t")], able)];
    const reply = await board([a, b], change)
      .one(operation)
      .catch((thrown: unknown) => thrown);
    expect([reply, b.heard.length]).toEqual(goesOn ? [task("t"), 1] : [error, 0]);
  });

  it("a stream fails over only until its first event", async () => {
    const whole = [task("t"), task("t", "completed")];
    const early = board([peer("a", [[notSent]]), peer("b", [whole])]);
    expect(await early.many(send({}, "stream"))).toEqual(["task", "task"]);
    const late = peer("b", [whole]);
    const cut = board([peer("a", [[task("t"), notSent]]), late]);
    expect(await cut.many(send({}, "stream"))).toEqual(["task", "unavailable"]);
    expect(late.heard).toHaveLength(0);
  });

  it("does not fail over after a cancel or the deadline", async () => {
    const b = peer("b", [task("t")]);
    const { one, clock } = board([peer("a", [notSent]), b]);
    const call = startCall({ deadline: clock.now() });
    await expect(one(send(), call)).rejects.toBe(notSent);
    const left = startCall();
    left.cancel.cancel(new AgentError("cancelled", "gone"));
    await expect(one(send(), left)).rejects.toBe(notSent);
    expect(b.heard).toHaveLength(0);
  });

  it("rejects a message that matches no destination, and an invalid list of destinations", async () => {
    const { one } = board([peer("a", [task("t")], { tags: ["eu"] })]);
    await expect(one(send({ tags: ["moon"] }))).rejects.toMatchObject({ code: "unsupported", facts: { sent: "no" } });
    expect(() => board([])).toThrow("at least one destination");
    expect(() => board([peer("a", []), peer("a", [])])).toThrow('two destinations are called "a"');
    expect(() => board([peer("a", [], { weight: -1 })])).toThrow("must be a number of at least 0, not -1");
  });

  it("puts layers around each destination, and reports outcomes to the selector", async () => {
    const layered: string[] = [];
    const clock = fakeClock();
    const selector = latencyAware({ by: "ewma", clock, random: () => 0 });
    const [a, b] = [peer("a", [notSent]), peer("b", [task("t")])];
    const { one } = board([a, b], {
      clock,
      selector,
      layersFor: ({ id }) => [
        (next) => (operation, call) => {
          layered.push(id);
          return next(operation, call);
        },
      ],
    });
    await one(send());
    await one(send());
    expect(layered).toEqual(["a", "b", "b"]);
  });
});

describe("loadBalancer, tasks and sessions", () => {
  const get = (taskId: string): Operation => ({ kind: "task.get", taskId });

  it("uses the destination that has the task, whatever the selector prefers", async () => {
    const [a, b] = [peer("a", [notSent, task("other")]), peer("b", [task("t"), task("t")])];
    const { one, chosen } = board([a, b]);
    await one(send());
    expect(await one(get("t"))).toEqual(task("t"));
    await one(send({ taskId: "t" }));
    expect([a.heard.length, b.heard.length]).toEqual([1, 3]);
    expect(chosen().slice(2)).toEqual(["b: it has the task", "b: it has the task"]);
  });

  it("learns from streams and from lists too", async () => {
    const { task: known } = task("t-2");
    const listed: AgentEvent = { kind: "tasks", tasks: [known], nextPageToken: "", pageSize: 1, totalSize: 1 };
    const [a, b] = [
      peer("a", [notSent, notSent, task("x")]),
      peer("b", [[task("t-1"), task("t-1", "completed")], listed, task("t")]),
    ];
    const { one, many } = board([a, b]);
    await many(send({}, "stream"));
    await one({ kind: "task.list" });
    await one(get("t-1"));
    await one(get("t-2"));
    expect([a.heard.length, b.heard.length]).toEqual([2, 4]);
  });

  it("keeps tasks of the same id of different callers apart", async () => {
    const who = (id: string): Principal => ({ id, scheme: "key", scopes: [], owner: ownerOf("key", id) });
    const [ann, ben] = [startCall({ caller: who("ann") }), startCall({ caller: who("ben") })];
    const [a, b] = [peer("a", [task("1"), notSent, task("1")]), peer("b", [task("1")])];
    const { one } = board([a, b]);
    await one(send(), ann);
    await one(send(), ben);
    await one(get("1"), ann);
    await one(get("1"), ben);
    expect([a.heard, b.heard].map((heard) => heard.map(({ call }) => call.caller.id))).toEqual([
      ["ann", "ben", "ann"],
      ["ben", "ben"],
    ]);
  });

  it("asks all destinations in order for a task without a known destination", async () => {
    const found = board([peer("a", [unknown]), peer("b", [new AgentError("unsupported", "no tasks")]), peer("c", [task("t")])]);
    expect(await found.one(get("t"))).toEqual(task("t"));
    const nowhere = board([peer("a", [unknown]), peer("b", [unknown])]);
    await expect(nowhere.one(get("t"))).rejects.toBe(unknown);
    // Somebody who could not be asked may have it.
    const unsure = board([peer("a", [notSent]), peer("b", [unknown])]);
    await expect(unsure.one(get("t"))).rejects.toBe(notSent);
  });

  it("does not look for a task elsewhere if its destination is down, unless all share one store", async () => {
    const script = [task("t"), notSent];
    const alone = board([peer("a", script), peer("b", [unknown])]);
    await alone.one(send());
    await expect(alone.one(get("t"))).rejects.toBe(notSent);
    const replicas = board([peer("a", script), peer("b", [task("t")])], { sharedKeys: true });
    await replicas.one(send());
    expect(await replicas.one(get("t"))).toEqual(task("t"));
  });

  it("keeps sessions at one destination, and moves only those of an unavailable one", async () => {
    const selector = consistentHash({ by: "session" });
    const sessions = Array.from({ length: 60 }, (_, n) => `s-${n}`);
    const placesWith = async (peers: ReturnType<typeof peer>[]) => {
      const { one } = board(peers, { selector });
      const places: Record<string, string> = {};
      for (const sessionId of [...sessions, ...sessions]) {
        const event = await one(send({ sessionId }));
        const place = event.kind === "task" ? event.task.id : "";
        expect(places[sessionId] ?? place).toBe(place);
        places[sessionId] = place;
      }
      return places;
    };
    const up = (id: string) => peer(id, [task(`at-${id}`)]);
    const before = await placesWith([up("a"), up("b"), up("c")]);
    const after = await placesWith([up("a"), peer("b", [notSent]), up("c")]);
    expect(new Set(Object.values(before)).size).toBe(3);
    const moved = sessions.filter((id) => before[id] !== after[id]);
    expect(moved).toEqual(sessions.filter((id) => before[id] === "at-b"));
  });

  it("starts a second attempt at the next one, and cancels the task where the loser made it", async () => {
    const able = { idempotentSend: () => true };
    let lateAnswer: (event: AgentEvent) => void = () => undefined;
    const heard: Operation[] = [];
    const slow: Destination = {
      id: "slow",
      ...able,
      handler: (operation) => {
        heard.push(operation);
        return operation.kind === "send" ? new Promise((resolve) => (lateAnswer = resolve)) : Promise.resolve(task("t-slow"));
      },
    };
    const quick = peer("quick", [task("t-quick")], able);
    const { one, clock, notes } = board([{ destination: slow }, quick], { hedge: { afterMs: 50 }, sharedKeys: true });
    const reply = one(send({ idempotencyKey: "k" }));
    await clock.advance(50);
    expect(await reply).toEqual(task("t-quick"));
    lateAnswer(task("t-slow"));
    await clock.advance(0);
    expect(heard.map(({ kind }) => kind)).toEqual(["send", "task.cancel"]);
    expect(heard[1]).toMatchObject({ taskId: "t-slow" });
    expect(notes.filter(({ kind }) => kind === "hedge")).toMatchObject([
      { destination: "quick", outcome: "fired", afterMs: 50 },
      { destination: "quick", outcome: "won" },
    ]);
    expect(clock.waiting).toBe(0);
  });
});

describe("loadBalancer, documents in and out", () => {
  const ute = {
    id: "q",
    src: "me",
    dst: "them",
    intent: "ask",
    content: { text: "go" },
    context: { trace_id: "tr", session_id: "s" },
  };
  const said = (text: string): AgentEvent => {
    const message = newEnvelope({ content: text, src: "them", dst: "me", context: {} }, { now: () => 2_000, newId: () => "r" });
    return { kind: "message", message: { ...message, role: "agent" } };
  };

  it("routes a message and returns its answer", async () => {
    const a = peer("a", [said("there")]);
    expect(await board([a]).route(ute)).toMatchObject({ id: "r", src: "them", content: { text: "there" }, role: "agent" });
    expect(a.heard[0]?.operation).toMatchObject({ kind: "send", delivery: "answer", envelope: { context: { traceId: "tr" } } });
  });

  it("returns a task as a message with its id and state", async () => {
    const failed: AgentEvent = {
      kind: "task",
      task: {
        id: "t",
        contextId: "s",
        status: { state: "failed", at: 1, error: { code: "too_large", message: "much" } },
        artifacts: [],
        history: [],
      },
    };
    expect(await board([peer("a", [failed])]).route(ute)).toEqual({
      id: "id-1",
      ts: 5,
      src: "them",
      dst: "me",
      intent: "ask",
      content: { "urn:koine:parts:1": [] },
      context: { trace_id: "tr", parent_id: "q", session_id: "s", task_id: "t" },
      role: "agent",
      metadata: { task: { state: "failed", error: { code: "too_large", message: "much" } } },
    });
  });

  it("streams a document for each event", async () => {
    const artifact: AgentEvent = {
      kind: "artifact",
      taskId: "t",
      contextId: "s",
      artifact: { id: "x", parts: [textPart("made")] },
      append: false,
      last: true,
    };
    const status: AgentEvent = { kind: "status", taskId: "t", contextId: "s", status: { state: "completed", at: 1 } };
    const seen: unknown[] = [];
    for await (const each of board([peer("a", [[task("t"), artifact, status]])]).routeStreaming(ute)) seen.push(each["metadata"]);
    expect(seen).toEqual([
      { task: { state: "working" } },
      { artifact: { id: "x", append: false, last: true } },
      { task: { state: "completed" } },
    ]);
  });

  it("rejects an invalid document when the answer is read", async () => {
    const { route, routeStreaming } = board([peer("a", [said("there")])]);
    await expect(route({ src: "me" })).rejects.toMatchObject({ code: "invalid_message" });
    await expect(routeStreaming({ src: "me" }).next()).rejects.toMatchObject({ code: "invalid_message" });
  });

  it("a reader of documents that leaves stops the source at once", async () => {
    let stopped = false;
    const hanging: AsyncIterable<AgentEvent> = {
      [Symbol.asyncIterator]: () => ({
        next: () => new Promise(() => undefined),
        return: async () => {
          stopped = true;
          return { done: true, value: undefined };
        },
      }),
    };
    const stream = board([{ destination: { id: "a", handler: () => hanging } }]).routeStreaming(ute);
    void stream.next();
    await stream.return?.();
    expect(stopped).toBe(true);
  });

  it("reports the health of each destination", async () => {
    const hangs: Destination = { id: "c", handler: () => new Promise(() => undefined), protocol: "wire" };
    const dumb = peer("b", [new AgentError("unsupported", "no ping")]);
    const { health, clock } = board([peer("a", [{ kind: "done" }]), dumb, { destination: hangs }, peer("d", [notSent])]);
    const report = health();
    await clock.advance(0);
    await clock.advance(5_000);
    expect(await report).toEqual({
      status: "degraded",
      destinations: {
        a: { status: "up", latency_ms: 0 },
        b: { status: "up", latency_ms: 0 },
        c: { status: "down", latency_ms: 5_000, protocol: "wire", error: "deadline" },
        d: { status: "down", latency_ms: 0, error: "unavailable" },
      },
    });
    expect(clock.waiting).toBe(0);
    expect(await board([peer("d", [notSent])]).health()).toMatchObject({ status: "down" });
    expect(await board([peer("a", [{ kind: "done" }])]).health()).toMatchObject({ status: "ok" });
  });
});
