import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  AgentError,
  type AgentEvent,
  agent,
  answerOf,
  connect,
  DiscoveryCache,
  type EventOf,
  type Operation,
  type Part,
  type RemoteAgent,
  type Server,
  serve,
  type Task,
  textOf,
} from "../src/index.js";
import { startCall } from "../src/public/protocols.js";
import { codeOf, collect, line } from "./peers/against-official.js";
import { ALICE, BOB, startGuardedKoine, startKoine } from "./peers/koine.js";
import { GRPC_SENDS } from "./wires/grpc.js";
import { A2A_WIRES, ask, at, PLAIN, type Tree } from "./wires/wire.js";

/**
 * Functional equivalence (A2A 1.0 §5.1): the same operations over each binding give the same results and the same errors. Each
 * step is written once, with its expected result; the tests are made from the table.
 */
interface Step {
  readonly what: string;
  run(remote: RemoteAgent): Promise<unknown>;
  readonly gives: unknown;
  /** The result over 0.3, if it differs. */
  readonly legacy?: unknown;
  /** The result over gRPC 0.3, if its protobuf cannot express what its JSON can. */
  readonly legacyGrpc?: unknown;
}

const PARTS: readonly Part[] = [
  { kind: "text", text: "conform: echo" },
  { kind: "raw", bytes: new Uint8Array([0, 1, 254, 255]), mediaType: "application/octet-stream", name: "four.bin" },
  { kind: "url", url: "https://files.example/a.txt", mediaType: "text/plain", name: "a.txt" },
  { kind: "data", data: { deep: [1, { ok: true, nothing: null }] } },
];

const STEPS: readonly Step[] = [
  { what: "a message", run: async (remote) => shown(await remote.send("hello")), gives: "message you said: hello" },
  {
    what: "a task",
    run: async (remote) => shown(await remote.send("conform: task")),
    gives: { state: "completed", said: "finished", artifacts: [["result", "done"]] },
  },
  {
    what: "a task that fails",
    run: async (remote) => shown(await remote.send("conform: fail")),
    gives: { state: "failed", said: "as commanded", artifacts: [] },
  },
  {
    what: "a task that is rejected",
    run: async (remote) => shown(await remote.send("conform: reject")),
    gives: { state: "rejected", said: "as commanded", artifacts: [] },
  },
  {
    what: "an agent that throws",
    run: async (remote) => remote.send("conform: throw").then(shown, codeOf),
    gives: { state: "failed", said: "the agent failed unexpectedly", artifacts: [] },
  },
  {
    what: "a stream",
    run: async (remote) => (await collect(remote.stream("conform: stream 2"))).map(line),
    gives: ["task submitted", "status working", "artifact stream: chunk 1 ", "artifact stream+ chunk 2 !", "status completed"],
  },
  {
    what: "a streamed message",
    run: async (remote) => (await collect(remote.stream("hello"))).map(line),
    gives: ["message you said: hello"],
  },
  {
    what: "a stream that ends with a question",
    run: async (remote) => (await collect(remote.stream("conform: ask"))).map(line),
    gives: ["task submitted", "status working", "status input-required"],
  },
  {
    what: "a question and its answer",
    async run(remote) {
      const { id, contextId, status } = taskIn(await remote.send("conform: ask"));
      const answered = taskIn(await remote.send("42", { task: id }));
      return [status.state, answered.id === id, answered.contextId === contextId, shown({ kind: "task", task: answered })];
    },
    gives: ["input-required", true, true, { state: "completed", said: "", artifacts: [["result", "the answer was: 42"]] }],
  },
  {
    what: "work that is started, watched and cancelled",
    async run(remote) {
      const { id, status } = taskIn(await remote.start("conform: wait"));
      const watched = remote.subscribe(id)[Symbol.asyncIterator]();
      const { value: snapshot } = await watched.next();
      const cancelled = await remote.cancelTask(id);
      const again = await remote.cancelTask(id).then(
        ({ status: { state } }) => state,
        (thrown) => AgentError.from(thrown).code,
      );
      const last = await collect({ [Symbol.asyncIterator]: () => watched });
      return [isLive(status.state), isLive(taskIn(snapshot).status.state), cancelled.status.state, again, last.map(line).at(-1)];
    },
    gives: [true, true, "canceled", "canceled", "status canceled"],
    // 0.3 §8.2 refuses every task that has ended; 1.0 §3.3.1 returns a cancelled one again.
    legacy: [true, true, "canceled", "not_cancelable", "status canceled"],
  },
  {
    what: "the parts of a message",
    run: async (remote) => answerOf(taskIn(await remote.send(PARTS))).map(({ metadata: _, ...part }) => stripped(part)),
    gives: PARTS,
  },
  {
    what: "a session that is named",
    async run(remote) {
      const task = taskIn(await remote.send("conform: task", { session: "c-7" }));
      return [task.contextId, (await remote.getTask(task.id)).contextId];
    },
    gives: ["c-7", "c-7"],
  },
  {
    what: "as much history as is wanted",
    async run(remote) {
      const { id } = taskIn(await remote.send("conform: ask"));
      await remote.send("42", { task: id });
      const lengths = [];
      for (const historyLength of [undefined, 1]) {
        const { history = [] } = await remote.getTask(id, historyLength === undefined ? {} : { historyLength });
        lengths.push(history.length >= 3 ? "all" : history.length);
      }
      return lengths;
    },
    gives: ["all", 1],
  },
  {
    what: "one key, one task",
    async run(remote) {
      const key = `key-${remote.version}-${remote.binding}`;
      const first = taskIn(await remote.send("conform: task", { key }));
      const second = taskIn(await remote.send("conform: task", { key }));
      const other = await remote.send("conform: fail", { key }).catch(codeOf);
      return [first.id === second.id, other];
    },
    gives: [true, "conflict"],
  },
  {
    what: "the list of a session's tasks",
    async run(remote) {
      const session = `s-${remote.version}-${remote.binding}`;
      await remote.send("conform: task", { session });
      // Newest first: two of the same millisecond have no order.
      await delay(2);
      await remote.send("conform: ask", { session });
      const query = { contextId: session, pageSize: 1 };
      const first = await remote.listTasks(query).catch(codeOf);
      if (typeof first === "string") return first;
      const second = await remote.listTasks({ ...query, pageToken: first.nextPageToken });
      return [first.totalSize, ...[...first.tasks, ...second.tasks].map(({ status }) => status.state), second.nextPageToken];
    },
    gives: [2, "input-required", "completed", ""],
    legacy: "unsupported_method",
  },
  {
    what: "no history",
    async run(remote) {
      const { id } = taskIn(await remote.send("conform: ask"));
      return (await remote.getTask(id, { historyLength: 0 })).history.length;
    },
    gives: 0,
    // In its protobuf zero is the same as absent, which is declared as a loss.
    legacyGrpc: 2,
  },
  {
    what: "all details of an error",
    async run(remote) {
      const error = await remote.getTask("nobody").catch((thrown: unknown) => AgentError.from(thrown));
      return error instanceof AgentError && [error.code, error.message, error.facts.detail];
    },
    gives: ["task_not_found", "task not found", { taskId: "nobody" }],
  },
  {
    what: "which field is wrong",
    async run(remote) {
      const error = await remote.send([]).catch((thrown: unknown) => AgentError.from(thrown));
      // The protobuf of 0.3 has another name for the parts.
      return error instanceof AgentError && [error.code, error.facts.field?.replace(/content$/, "parts")];
    },
    gives: ["invalid_message", "message.parts"],
  },
  {
    what: "a stream that resumes where it was cut",
    async run(remote) {
      const events = remote.stream("conform: stream 3")[Symbol.asyncIterator]();
      const { value: begun } = await events.next();
      const { id } = taskIn(begun);
      const after = (await events.next()).value?.cursor;
      await events.return?.();
      const rest = { kind: "task.subscribe", taskId: id, follow: true, after } as const;
      return (await collect(remote.handler(rest, startCall()) as AsyncIterable<AgentEvent>)).map(line).slice(-2); // it streams
    },
    gives: ["artifact stream+ chunk 3 !", "status completed"],
  },
  refused("get of an unknown task", { kind: "task.get", taskId: "nobody" }, "task_not_found"),
  refused("cancel of an unknown task", { kind: "task.cancel", taskId: "nobody" }, "task_not_found"),
  {
    what: "subscribe to an unknown task",
    run: (remote) => collect(remote.subscribe("nobody")).catch(codeOf),
    gives: "task_not_found",
  },
  {
    what: "a message for an unknown task",
    run: (remote) => remote.send("x", { task: "nobody" }).catch(codeOf),
    gives: "task_not_found",
  },
  onFinished("cancel of a finished task", (remote, { id }) => remote.cancelTask(id), "not_cancelable"),
  onFinished("subscribe to a finished task", (remote, { id }) => collect(remote.subscribe(id)), "unsupported"),
  onFinished("a message for a finished task", (remote, { id }) => remote.send("x", { task: id }), "task_closed"),
  onFinished(
    "a message of another session",
    (remote, { id }) => remote.send("x", { task: id, session: "other" }),
    "invalid_message",
  ),
  { what: "a message without content", run: (remote) => remote.send([]).catch(codeOf), gives: "invalid_message" },
  { what: "an extended card that is not there", run: (remote) => remote.extendedCard().catch(codeOf), gives: "unsupported" },
  {
    what: "a push configuration that is set, read, listed and deleted",
    async run(remote) {
      const { id: taskId } = taskIn(await remote.send("conform: ask"));
      const one = (operation: Operation) => remote.handler(operation, startCall()) as Promise<AgentEvent>; // none of these streams
      const config = { id: "hook", taskId, url: "https://hooks.example/a", token: "opaque" };
      const reported = [
        await one({ kind: "push.set", config }),
        await one({ kind: "push.get", taskId, id: "hook" }),
        await one({ kind: "push.list", taskId }),
        await one({ kind: "push.delete", taskId, id: "hook" }),
        await one({ kind: "push.list", taskId }),
      ];
      return reported.map((event) => {
        const configs = event.kind === "push" ? [event.config] : event.kind === "pushes" ? event.configs : [];
        return [event.kind, ...configs.map(({ id, url }) => `${id} ${url}`)];
      });
    },
    gives: [
      ["push", "hook https://hooks.example/a"],
      ["push", "hook https://hooks.example/a"],
      ["pushes", "hook https://hooks.example/a"],
      ["done"],
      ["pushes"],
    ],
  },
  refused("push.get of an unknown task", { kind: "push.get", taskId: "nobody", id: "p" }, "task_not_found"),
  refused("push.list of an unknown task", { kind: "push.list", taskId: "nobody" }, "task_not_found"),
  { what: "health", run: (remote) => remote.health(), gives: true },
];

function refused(what: string, operation: Operation, gives: string): Step {
  return { what, run: async (remote) => (remote.handler(operation, startCall()) as Promise<unknown>).catch(codeOf), gives }; // none of these streams
}

function onFinished(what: string, run: (remote: RemoteAgent, task: Task) => Promise<unknown>, gives: string): Step {
  return { what, run: async (remote) => run(remote, taskIn(await remote.send("conform: task"))).catch(codeOf), gives };
}

const PINS = ["a2a@1.0/JSONRPC", "a2a@1.0/HTTP+JSON", "a2a@1.0/GRPC", "a2a@0.3/JSONRPC", "a2a@0.3/HTTP+JSON", "a2a@0.3/GRPC"];

describe.each(PINS)("the same over %s", (pin) => {
  let server: Server;
  let remote: RemoteAgent;
  beforeAll(async () => {
    server = await startKoine();
    remote = await connect(server.url, { pin, discoveryCache: new DiscoveryCache() });
  });
  afterAll(async () => {
    await remote?.close();
    await server?.close();
  });

  test.each(STEPS)("$what", async ({ run, gives, legacy = gives, legacyGrpc = legacy }) => {
    const expected = pin === "a2a@0.3/GRPC" ? legacyGrpc : pin.includes("@0.3") ? legacy : gives;
    expect(await run(remote)).toEqual(expected);
  });
});

describe.each(PINS)("authentication over %s", (pin) => {
  let server: Server;
  beforeAll(async () => {
    server = await startGuardedKoine();
  });
  afterAll(() => server?.close());

  test.each([
    ["alice", ALICE, "told to friends"],
    ["bob", BOB, "card_not_configured"],
  ])("%s and the extended card", async (_name, bearer, gives) => {
    const remote = await connect(server.url, { pin, discoveryCache: new DiscoveryCache(), credentials: { bearer } });
    const card = await remote.extendedCard().then(({ description }) => description, codeOf);
    expect([card, await remote.ask("hello")]).toEqual([gives, "you said: hello"]);
    await remote.close();
  });

  test("a task of one caller is not found by another", async () => {
    const options = { pin, discoveryCache: new DiscoveryCache() };
    const alice = await connect(server.url, { ...options, credentials: { bearer: ALICE } });
    const bob = await connect(server.url, { ...options, credentials: { bearer: BOB } });
    const { id } = taskIn(await alice.send("conform: ask"));
    expect([await bob.getTask(id).catch(codeOf), (await alice.getTask(id)).id]).toEqual(["task_not_found", id]);
    await Promise.all([alice.close(), bob.close()]);
  });

  test("anonymous callers are refused", async () => {
    const remote = await connect(server.url, { pin, discoveryCache: new DiscoveryCache() });
    expect(await remote.send("hello").catch(codeOf)).toBe("unauthenticated");
    expect(await collect(remote.stream("hello")).catch(codeOf)).toBe("unauthenticated");
    await remote.close();
  });
});

describe("every address on the card answers", () => {
  let server: Server;
  beforeAll(async () => {
    const says = (word: string) => agent({ name: word, description: word, handle: ({ text }) => `${word}: ${text}` });
    server = await serve([says("first"), says("second")]);
  });
  afterAll(() => server?.close());

  test.each([
    ["first", "/.well-known/agent-card.json", ["1.0 GRPC", "0.3 GRPC"]],
    ["first", "/.well-known/agent.json", ["1.0 GRPC", "0.3 GRPC"]],
    // A gRPC service has no path that could name an agent: a tenant does, which 0.3 has not.
    ["second", "/a2a/second/.well-known/agent-card.json", ["1.0 GRPC"]],
  ])("of the agent %s at %s", async (name, path, services) => {
    const { body: card } = await ask(server.url, { method: "GET", path, headers: {}, body: undefined });
    const modern = at(card, "supportedInterfaces") as Tree[]; // compared with a literal below
    expect(modern.map((each) => `${String(each["protocolVersion"])} ${String(each["protocolBinding"])}`)).toEqual([
      "1.0 JSONRPC",
      "1.0 HTTP+JSON",
      "0.3 JSONRPC",
      "0.3 HTTP+JSON",
      ...services,
    ]);
    for (const [index, wire] of A2A_WIRES.entries()) {
      const sent = wire.send(wire.params("hello"));
      const answer = await ask(String(modern[index]?.["url"]), { ...sent, path: sent.path.slice("/a2a".length) });
      expect([wire.name, wire.text(answer.body)]).toEqual([wire.name, `${name}: hello`]);
    }
    for (const { url, protocolVersion, tenant } of modern.slice(A2A_WIRES.length)) {
      const wire = GRPC_SENDS[String(protocolVersion)];
      const { message, error } = (await wire?.send(String(url), "hello", String(tenant ?? ""))) ?? {};
      expect([error, wire?.text(message)]).toEqual([undefined, `${name}: hello`]);
    }
    const legacy = [
      { transport: at(card, "preferredTransport"), url: at(card, "url") },
      ...(at(card, "additionalInterfaces") as Tree[]), // the same: it has to be iterable here
    ];
    const [, , rpc, rest] = A2A_WIRES;
    for (const { transport, url } of legacy.filter((each) => each.transport !== "GRPC")) {
      const wire = transport === "HTTP+JSON" ? rest : rpc;
      const sent = wire.send(wire.params("hello"));
      const answer = await ask(String(url), { ...sent, path: sent.path.slice("/a2a".length) });
      expect([transport, wire.text(answer.body)]).toEqual([transport, `${name}: hello`]);
    }
    expect([...new Set(legacy.map(({ transport }) => transport))]).toEqual([
      "JSONRPC",
      "HTTP+JSON",
      ...(services.includes("0.3 GRPC") ? ["GRPC"] : []),
    ]);
  });
});

test("the plain endpoint gives the same texts", async () => {
  const server = await startKoine();
  try {
    const texts = async (words: string) => {
      const { body } = await ask(server.url, PLAIN.send({ message: { text: words } }));
      return (at(body, "events") as Tree[]).map((event) => `${String(event["type"])} ${String(at(event, "data", "text"))}`); // a list, or the test fails
    };
    expect(await texts("hello")).toEqual(["message you said: hello"]);
    expect(await texts("conform: task")).toEqual(["artifact done", "status finished"]);
    expect(await texts("conform: ask")).toEqual(["status what is the answer?"]);
    expect(await texts("conform: fail")).toEqual(["status as commanded"]);
  } finally {
    await server.close();
  }
});

function taskIn(event: EventOf<"send"> | void): Task {
  if (event?.kind !== "task") throw new Error(`a task was expected, not ${event?.kind ?? "the end"}`);
  return event.task;
}

/** An answer without the members that differ each time. */
function shown(event: EventOf<"send">): unknown {
  if (event.kind !== "task") return line(event);
  const { status, artifacts } = event.task;
  return {
    state: status.state,
    said: textOf(status.message?.content ?? []),
    artifacts: artifacts.map(({ id, parts }) => [id, textOf(parts)]),
  };
}

function isLive(state: string): boolean {
  return state === "submitted" || state === "working";
}

function stripped(part: object): object {
  return Object.fromEntries(Object.entries(part).filter(([, value]) => value !== undefined));
}
