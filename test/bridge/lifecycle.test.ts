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
import { memoryLink, type Protocol, relay } from "../../src/public/protocols.js";
import { createMemoryStore } from "../../src/tasks/index.js";
import { openProtocols } from "../helpers/open-protocols.js";

/** A real agent with tasks over one protocol, a caller of another protocol, and a bridge in between. */

const UPSTREAM = "http://upstream.example";
const GATEWAY = "http://gateway.example";
const worker = agent({ name: "worker", description: "does what is asked", skills: [conformanceSkill], handle: conformanceAgent });

interface Across {
  readonly caller: RemoteAgent;
  close(): Promise<void>;
}

async function across(listener: Protocol, upstreamProtocol: Protocol): Promise<Across> {
  const served = mount(worker, { protocols: [upstreamProtocol], publicUrl: UPSTREAM });
  const only = (protocol: Protocol) => ({ protocols: [protocol], discoveryCache: new DiscoveryCache() });
  const upstream = await connect(UPSTREAM, { ...only(upstreamProtocol), link: memoryLink(served.exchange) });
  const link = relay({
    upstream: upstream.handler,
    card: upstream.card,
    protocols: [listener],
    ids: systemIds,
    publicUrl: GATEWAY,
    records: createMemoryStore({ now: systemIds.now }).records,
  });
  const caller = await connect(GATEWAY, { ...only(listener), link: memoryLink(link.exchange) });
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

/** The events that a reader must receive, whichever wires they crossed. */
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

const withTasks = openProtocols.filter(({ traits }) => traits.tasks);
const pairs = (among: readonly Protocol[]) =>
  among.flatMap((listener) =>
    among
      .filter((upstreamProtocol) => upstreamProtocol !== listener)
      .map((upstreamProtocol) => ({
        name: `listener ${listener.id}, upstream ${upstreamProtocol.id}`,
        listener,
        upstreamProtocol,
      })),
  );

describe.each(pairs(openProtocols))("$name", ({ listener, upstreamProtocol }) => {
  let bridged: Across;
  beforeAll(async () => {
    bridged = await across(listener, upstreamProtocol);
  });
  afterAll(() => bridged.close());

  test("a message is answered", async () => {
    expect(answerIn(await bridged.caller.send("hello"))).toBe("you said: hello");
  });

  test("a failed task is not an answer", async () => {
    const outcome = await bridged.caller.send("conform: fail").then(
      (event) => (event.kind === "task" ? event.task.status.state : event.kind),
      (thrown: unknown) => (thrown instanceof AgentError ? "an error" : "something else"),
    );
    expect(["failed", "an error"]).toContain(outcome);
  });

  test("an agent that throws reveals no secret", async () => {
    const outcome = await bridged.caller.send("conform: throw").then(
      (event) => JSON.stringify(event),
      (thrown: unknown) => AgentError.from(thrown).message,
    );
    expect(outcome).not.toContain("inner secret");
  });

  test("a question is asked and answered within one session", async () => {
    const session = crypto.randomUUID();
    const asked = await bridged.caller.send("conform: ask", { session });
    expect(answerIn(asked)).toBe("what is the answer?");
    const task = asked.kind === "task" && asked.task.status.state === "input-required" ? { task: asked.task.id } : {};
    expect(answerIn(await bridged.caller.send("42", { session, ...task }))).toBe("the answer was: 42");
  });
});

describe.each(pairs(withTasks))("$name, both with tasks", ({ listener, upstreamProtocol }) => {
  let bridged: Across;
  beforeAll(async () => {
    bridged = await across(listener, upstreamProtocol);
  });
  afterAll(() => bridged.close());

  test("a task is the same task on both sides", async () => {
    const { caller } = bridged;
    const task = taskIn(await caller.send("conform: task"));
    expect([task.status.state, answerText(task)]).toEqual(["completed", "done"]);
    expect(await caller.getTask(task.id)).toMatchObject({ id: task.id, status: { state: "completed" } });
  });

  test("a stream arrives in chunks, in order, and ends", async () => {
    expect(await collect(bridged.caller.stream("conform: stream 3"))).toEqual([
      "task submitted",
      "status working",
      "artifact chunk 1 ",
      "artifact chunk 2 ",
      "artifact chunk 3 ",
      "status completed",
    ]);
  });

  test("a task is cancelled by the caller", async () => {
    const { caller } = bridged;
    const { id } = taskIn(await caller.start("conform: wait"));
    await caller.cancelTask(id);
    await expect.poll(async () => (await caller.getTask(id)).status.state).toBe("canceled");
  });

  test("a running task is followed to its end", async () => {
    const { caller } = bridged;
    const { id } = taskIn(await caller.start("conform: wait"));
    const followed = collect(caller.subscribe(id));
    await caller.cancelTask(id);
    expect((await followed).at(-1)).toBe("status canceled");
  });

  test("a question is reported as input-required, and its answer completes the task", async () => {
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

  test.each(["failed", "rejected"])("a task that is %s is reported as such", async (state) => {
    const { status } = taskIn(await bridged.caller.send(state === "failed" ? "conform: fail" : "conform: reject"));
    expect([status.state, textOf(status.message?.content ?? [])]).toEqual([state, "as commanded"]);
  });

  test("an unknown task is not found", async () => {
    await expect(bridged.caller.getTask(crypto.randomUUID())).rejects.toMatchObject({ code: "task_not_found" });
  });
});
