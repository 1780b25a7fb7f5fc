import { afterEach, describe, expect, test } from "vitest";
import {
  AgentError,
  type AgentEvent,
  agent,
  type Call,
  connect,
  DiscoveryCache,
  type Handler,
  type Operation,
  type RemoteAgent,
  serve,
  type Task,
} from "../../src/index.js";
import { bridgedAgent, type Upstream } from "../../src/internal.js";
import { Reading } from "./processes/callers.js";

/** The upstream of a gateway sends wrong data, floods, or tries to crash the gateway. */

const opened: { close(): unknown }[] = [];
afterEach(async () => {
  for (const each of opened.splice(0).reverse()) await each.close();
});

const NO_TRUST = { signed: false, upstreamUrls: [] } as const;

/** The answers of a peer per operation; others are unknown operations. */
type Deeds = { readonly [kind in Operation["kind"]]?: (operation: Operation, call: Call) => ReturnType<Handler> };

interface Peer {
  readonly caller: RemoteAgent;
  /** The kinds of its requests, in order. */
  readonly asked: Operation["kind"][];
}

async function behindGateway(deeds: Deeds, taskLimits = {}): Promise<Peer> {
  const asked: Operation["kind"][] = [];
  const handler: Handler = (operation, call) => {
    asked.push(operation.kind);
    return deeds[operation.kind]?.(operation, call) ?? Promise.reject(new AgentError("unsupported_method", "not known"));
  };
  const gateway = await serve(bridgedAgent(upstreamOf(handler), NO_TRUST, { name: "peer" }), {
    limits: { drainMs: 0 },
    taskLimits,
  });
  opened.push(gateway);
  const caller = await connect(gateway.url, { discoveryCache: new DiscoveryCache(), resume: false });
  opened.push(caller);
  return { caller, asked };
}

function upstreamOf(handler: Handler): Upstream {
  const { card } = agent({ name: "peer", description: "does what it likes", handle: () => undefined });
  const capabilities = { ...card.capabilities, streaming: true, idempotentSend: false, resume: false };
  return {
    handler,
    protocol: () => "toy",
    traits: () => ({ streaming: true, tasks: true, inputTurns: true }),
    card: () => ({ ...card, capabilities }),
  };
}

const status = (state: Task["status"]["state"], taskId = "t-1"): AgentEvent => ({
  kind: "status",
  taskId,
  contextId: "c-1",
  status: { state, at: 0, message: undefined },
});

const task = (state: Task["status"]["state"], id = "t-1"): AgentEvent => ({
  kind: "task",
  task: { id, contextId: "c-1", status: { state, at: 0, message: undefined }, artifacts: [], history: [] },
});

const piece = (text: string, taskId = "t-1"): AgentEvent => ({
  kind: "artifact",
  taskId,
  contextId: "c-1",
  artifact: {
    id: "a-1",
    name: undefined,
    description: undefined,
    parts: [{ kind: "text", text }],
    metadata: undefined,
    extensions: undefined,
  },
  append: false,
  last: false,
});

async function* streamOf(...events: readonly AgentEvent[]): AsyncGenerator<AgentEvent, void, void> {
  yield* events;
}

async function* refusing(error: AgentError): AsyncGenerator<AgentEvent, void, void> {
  yield* [];
  throw error;
}

/** Sends nothing until it is cancelled. */
async function* never(call: Call): AsyncGenerator<AgentEvent, void, void> {
  yield* [];
  await stopping(call);
}

function stopping(call: Call): Promise<never> {
  return new Promise((_, reject) => void call.cancel.onCancel(reject));
}

function failureIn(reading: Reading): string | undefined {
  const last = reading.events.at(-1);
  return last?.kind === "status" && last.status.state === "failed" ? last.status.error?.code : undefined;
}

describe("a peer that tries to crash the gateway", () => {
  test("a task id above the size limit fails its own task, whenever it arrives", async () => {
    const huge = "x".repeat(2 * 1024 * 1024);
    for (const events of [[status("completed", huge)], [status("working", huge), status("completed", huge)]]) {
      const { caller } = await behindGateway({ send: () => streamOf(...events) });
      const reading = new Reading(caller.stream("hello"));
      await reading.done;
      expect(reading.broke).toBeUndefined();
      expect([reading.state, failureIn(reading)]).toEqual(["failed", "too_large"]);
    }
  });

  test("events of an unrequested task are refused", async () => {
    const { caller } = await behindGateway({
      send: () => streamOf(status("working"), piece("another's", "t-2"), status("completed")),
    });
    const reading = new Reading(caller.stream("hello"));
    await reading.done;
    expect([reading.state, failureIn(reading)]).toEqual(["failed", "bad_peer"]);
    expect(JSON.stringify(reading.events)).not.toContain("another's");
  });

  test("a stream that restarts repeatedly without new events is not stored repeatedly", async () => {
    let times = 0;
    const { caller } = await behindGateway({
      send: () => streamOf(status("working")),
      "task.subscribe": () => streamOf(times++ < 3 ? task("working") : task("completed")),
    });
    const reading = new Reading(caller.stream("hello"));
    await reading.done;
    expect(reading.state).toBe("completed");
    expect(times).toBe(4);
    const working = reading.events.filter((event) => event.kind === "status" && event.status.state === "working");
    expect(working.length).toBeLessThanOrEqual(2);
  });
});

describe("abandoned work", () => {
  test("is cancelled at a peer that floods, although the gateway stops reading between two events", async () => {
    const { caller, asked } = await behindGateway(
      {
        async *send() {
          yield status("working");
          for (let count = 0; ; count++) yield piece(`${count}`);
        },
        "task.cancel": () => Promise.resolve(task("canceled")),
      },
      { journalEntries: 500 },
    );
    const reading = new Reading(caller.stream("hello"));
    await reading.done;
    expect([reading.state, failureIn(reading)]).toEqual(["failed", "too_large"]);
    expect(asked).toContain("task.cancel");
  });

  test("is cancelled by a task id that arrives late, also for a plain answer with a key", async () => {
    let sayName = (): void => undefined;
    const named = new Promise<void>((resolve) => {
      sayName = resolve;
    });
    let onCancel = (_: string): void => undefined;
    const cancelled = new Promise<string>((resolve) => {
      onCancel = resolve;
    });
    const { caller } = await behindGateway({
      async *send(_, call) {
        await Promise.race([named, stopping(call)]);
        yield status("working", "late");
        await stopping(call);
      },
      "task.cancel": (operation) => {
        onCancel(operation.kind === "task.cancel" ? operation.taskId : "");
        return Promise.resolve(task("canceled", "late"));
      },
    });
    const event = await caller.send("hello", { key: "once", ttlMs: 200 });
    expect(event.kind === "task" ? event.task.status.state : event.kind).toBe("failed");
    sayName();
    expect(await cancelled).toBe("late");
  });

  test("is cancelled when its time is over in the second turn, before the peer has answered", async () => {
    const turns = [streamOf(task("input-required"))];
    const { caller, asked } = await behindGateway({
      send: (_, call) => turns.shift() ?? never(call),
      "task.cancel": () => Promise.resolve(task("canceled")),
    });
    const first = new Reading(caller.stream("hello"));
    await first.until(({ state }) => state === "input-required");
    const second = new Reading(caller.stream("more", { task: first.taskId, ttlMs: 200 }));
    await second.done;
    expect([second.state, failureIn(second)]).toEqual(["failed", "deadline"]);
    expect(asked).toEqual(["send", "send", "task.cancel"]);
  });
});

describe("a peer that rejects the gateway's credentials", () => {
  test("during a task: the error does not blame the caller", async () => {
    const { caller } = await behindGateway({
      send: () => streamOf(status("working")),
      "task.subscribe": () => refusing(new AgentError("unauthenticated", "who are you?")),
      "task.get": () => Promise.reject(new AgentError("unauthenticated", "who are you?")),
    });
    const reading = new Reading(caller.stream("hello"));
    await reading.done;
    expect([reading.state, failureIn(reading)]).toEqual(["failed", "bad_peer"]);
  });
});

describe("metadata of a peer", () => {
  test("counts against the limit of the journal too", async () => {
    const wordy = piece("x");
    if (wordy.kind !== "artifact") throw new Error("a piece is one of an artifact");
    const described: AgentEvent = { ...wordy, artifact: { ...wordy.artifact, description: "y".repeat(400_000) } };
    const { caller } = await behindGateway(
      {
        send: () => streamOf(status("working"), described, described, described, status("completed")),
        "task.cancel": () => Promise.resolve(task("canceled")),
      },
      { journalBytes: 1_000_000 },
    );
    const reading = new Reading(caller.stream("hello"));
    await reading.done;
    expect([reading.state, failureIn(reading)]).toEqual(["failed", "too_large"]);
  });
});
