import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { conformanceAgent, conformanceSkill } from "../../conformance/index.js";
import { systemIds } from "../../src/envelope/index.js";
import {
  AgentError,
  type AgentEvent,
  agent,
  answerText,
  connect,
  DiscoveryCache,
  type EventOf,
  mount,
  type RemoteAgent,
  type Task,
  textOf,
} from "../../src/index.js";
import { memoryLink, type Protocol, protocols, relay } from "../../src/public/protocols.js";
import { createMemoryStore } from "../../src/tasks/index.js";

/** A real agent with its tasks behind one protocol, its caller in front of another, and a bridge in between. */

const BEHIND = "http://behind.example";
const GATEWAY = "http://gateway.example";
const worker = agent({ name: "worker", description: "does what is asked", skills: [conformanceSkill], handle: conformanceAgent });

interface Across {
  readonly caller: RemoteAgent;
  close(): Promise<void>;
}

async function across(inFront: Protocol, behind: Protocol): Promise<Across> {
  const served = mount(worker, { protocols: [behind], publicUrl: BEHIND });
  const only = (protocol: Protocol) => ({ protocols: [protocol], discoveryCache: new DiscoveryCache() });
  const upstream = await connect(BEHIND, { ...only(behind), link: memoryLink(served.exchange) });
  const door = relay({
    upstream: upstream.handler,
    card: upstream.card,
    protocols: [inFront],
    ids: systemIds,
    publicUrl: GATEWAY,
    records: createMemoryStore({ now: systemIds.now }).records,
  });
  const caller = await connect(GATEWAY, { ...only(inFront), link: memoryLink(door.exchange) });
  return {
    caller,
    async close() {
      await caller.close();
      await upstream.close();
      await served.close();
    },
  };
}

function taskIn(event: EventOf<"send">): Task {
  if (event.kind !== "task") throw new Error(`a task was expected, and ${event.kind} came`);
  return event.task;
}

function answerIn(event: EventOf<"send">): string {
  if (event.kind === "message") return textOf(event.message.content);
  return event.kind === "task" ? answerText(event.task) : event.kind;
}

/** What a reader of a stream must see, whichever wires it crossed. */
function seen(event: AgentEvent): string {
  if (event.kind === "task") return `task ${event.task.status.state}`;
  if (event.kind === "status") return `status ${event.status.state}`;
  return event.kind === "artifact" ? `artifact ${textOf(event.artifact.parts)}` : event.kind;
}

async function collect(events: AsyncIterable<AgentEvent>): Promise<readonly string[]> {
  const all: string[] = [];
  for await (const event of events) all.push(seen(event));
  return all;
}

const withTasks = protocols.filter(({ traits }) => traits.tasks);
const pairs = (among: readonly Protocol[]) =>
  among.flatMap((front) =>
    among.filter((behind) => behind !== front).map((behind) => ({ name: `${front.id} in front of ${behind.id}`, front, behind })),
  );

describe.each(pairs(protocols))("$name", ({ front, behind }) => {
  let bridged: Across;
  beforeAll(async () => {
    bridged = await across(front, behind);
  });
  afterAll(() => bridged.close());

  test("a message is answered", async () => {
    expect(answerIn(await bridged.caller.send("hello"))).toBe("you said: hello");
  });

  test("work that fails is no answer", async () => {
    const outcome = await bridged.caller.send("conform: fail").then(
      (event) => (event.kind === "task" ? event.task.status.state : event.kind),
      (thrown: unknown) => (thrown instanceof AgentError ? "an error" : "something else"),
    );
    expect(["failed", "an error"]).toContain(outcome);
  });

  test("an agent that throws tells no secret", async () => {
    const outcome = await bridged.caller.send("conform: throw").then(
      (event) => JSON.stringify(event),
      (thrown: unknown) => AgentError.from(thrown).message,
    );
    expect(outcome).not.toContain("inner secret");
  });

  test("a question is asked and answered within one conversation", async () => {
    const session = crypto.randomUUID();
    const asked = await bridged.caller.send("conform: ask", { session });
    expect(answerIn(asked)).toBe("what is the answer?");
    const task = asked.kind === "task" && asked.task.status.state === "input-required" ? { task: asked.task.id } : {};
    expect(answerIn(await bridged.caller.send("42", { session, ...task }))).toBe("the answer was: 42");
  });
});

describe.each(pairs(withTasks))("$name, both with tasks", ({ front, behind }) => {
  let bridged: Across;
  beforeAll(async () => {
    bridged = await across(front, behind);
  });
  afterAll(() => bridged.close());

  test("a task is the same task on both sides", async () => {
    const { caller } = bridged;
    const task = taskIn(await caller.send("conform: task"));
    expect([task.status.state, answerText(task)]).toEqual(["completed", "done"]);
    expect(await caller.getTask(task.id)).toMatchObject({ id: task.id, status: { state: "completed" } });
  });

  test("a stream arrives piece by piece, in order, and ends", async () => {
    expect(await collect(bridged.caller.stream("conform: stream 3"))).toEqual([
      "task submitted",
      "status working",
      "artifact chunk 1 ",
      "artifact chunk 2 ",
      "artifact chunk 3 ",
      "status completed",
    ]);
  });

  test("work is stopped from the other side", async () => {
    const { caller } = bridged;
    const { id } = taskIn(await caller.start("conform: wait"));
    await caller.cancelTask(id);
    await expect.poll(async () => (await caller.getTask(id)).status.state).toBe("canceled");
  });

  test("work that goes on is followed to its end", async () => {
    const { caller } = bridged;
    const { id } = taskIn(await caller.start("conform: wait"));
    const followed = collect(caller.subscribe(id));
    await caller.cancelTask(id);
    expect((await followed).at(-1)).toBe("status canceled");
  });

  test("a question waits as such, and its answer ends the task", async () => {
    const { caller } = bridged;
    const asked = taskIn(await caller.send("conform: ask"));
    expect(asked.status.state).toBe("input-required");
    const answered = taskIn(await caller.send("42", { task: asked.id }));
    expect([answered.id === asked.id, answered.status.state, answerText(answered)]).toEqual([
      true,
      "completed",
      "the answer was: 42",
    ]);
  });

  test.each(["failed", "rejected"])("work that is %s says so", async (state) => {
    const { status } = taskIn(await bridged.caller.send(state === "failed" ? "conform: fail" : "conform: reject"));
    expect([status.state, textOf(status.message?.content ?? [])]).toEqual([state, "as commanded"]);
  });

  test("a task that is not there is not found", async () => {
    await expect(bridged.caller.getTask(crypto.randomUUID())).rejects.toMatchObject({ code: "task_not_found" });
  });
});
