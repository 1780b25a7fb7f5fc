import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import {
  AgentError,
  type AgentEvent,
  answerOf,
  connect,
  DiscoveryCache,
  type ErrorCode,
  type EventOf,
  type Part,
  type RemoteAgent,
  type State,
  type Task,
  textOf,
} from "../../src/index.js";
import type { OfficialServer } from "./official.js";

/** One interface of an official server, and its deviations. */
export interface InterfaceUnderTest {
  readonly pin: string;
  /** Its error for a send on a finished task. */
  readonly closed: ErrorCode;
  /** Its error for a request for an extended card it does not have. */
  readonly extended: ErrorCode;
  /** The version has no list of tasks. */
  readonly unlisted?: ErrorCode;
  /** Its error for a subscription to an unknown task, if not `task_not_found`. */
  readonly unknownStream?: ErrorCode;
  /** The first event of a second reader, if not the current task. */
  readonly firstWatched?: RegExp;
  /** The last event of a cancelled task; some servers cut the stream instead. */
  readonly lastOfCancelled?: RegExp;
  /** The parts that its wire preserves, or how it refuses them. */
  readonly echoed: readonly Part[] | ErrorCode;
  /** How the state of a rejected task arrives, if the server cannot express it. */
  readonly rejected?: State;
}

const SNAPSHOT_MS = 500;

export interface Official {
  readonly name: string;
  start(): Promise<OfficialServer>;
  readonly interfaces: readonly InterfaceUnderTest[];
}

/** Every kind of part with all its members. */
export const PARTS: readonly Part[] = [
  { kind: "text", text: "conform: echo" },
  { kind: "raw", bytes: new Uint8Array([0, 1, 254, 255]), mediaType: "application/octet-stream", name: "four.bin" },
  { kind: "url", url: "https://files.example/a.txt", mediaType: "text/plain", name: "a.txt" },
  { kind: "data", data: { deep: [1, { ok: true, nothing: null }] } },
];

/** 0.3 REST as the official SDKs write it has no file names. */
export const NAMELESS: readonly Part[] = PARTS.map((part) => {
  const { name: _, ...rest } = part;
  return rest;
});

/** Koine's client against an official server: every operation over every interface. */
export function describeOfficial({ name, start, interfaces }: Official): void {
  describe.each(interfaces)(`our client by $pin against ${name}`, (iface) => {
    let server: OfficialServer;
    let remote: RemoteAgent;
    beforeAll(async () => {
      // The SDKs print every refusal they send.
      vi.spyOn(console, "error").mockImplementation(() => undefined);
      server = await start();
      remote = await connect(server.url, { pin: iface.pin, discoveryCache: new DiscoveryCache() });
    });
    afterAll(async () => {
      await remote?.close();
      await server?.close();
      vi.restoreAllMocks();
    });

    test("finds it by its card and verifies it by a probe", async () => {
      expect(`${remote.protocol}@${remote.version}/${remote.binding}`).toBe(iface.pin);
      expect(remote.verified).toBe(true);
      expect(remote.evidence[0]).toBe(`agent card at ${server.url}/.well-known/agent-card.json (official)`);
      expect(remote.evidence.some((line) => line.endsWith("was answered in that version"))).toBe(true);
      expect(remote.card.skills.map(({ id }) => id)).toEqual(["conform"]);
      expect(await remote.health()).toBe(true);
    });

    test("one question, one message", async () => {
      const event = await remote.send("hello");
      expect(event.kind).toBe("message");
      expect(await remote.ask("hello")).toBe("you said: hello");
      expect(await remote.ask("Grüße, 世界 🌍")).toBe("you said: Grüße, 世界 🌍");
    });

    test("a task with an artifact, read again by its id", async () => {
      const task = taskOf(await remote.send("conform: task"));
      expect(summary(task)).toEqual({ state: "completed", artifacts: { result: "done" } });
      expect(summary(await remote.getTask(task.id))).toEqual({ state: "completed", artifacts: { result: "done" } });
      expect((await remote.getTask(task.id)).contextId).toBe(task.contextId);
    });

    test("a stream brings every event in order and ends with the task", async () => {
      const events = await collect(remote.stream("conform: stream 3"));
      expect(events.map(line)).toEqual([
        "task submitted",
        "status working",
        "artifact stream: chunk 1 ",
        "artifact stream+ chunk 2 ",
        "artifact stream+ chunk 3 !",
        "status completed",
      ]);
    });

    test("a streamed message is one event", async () => {
      const events = await collect(remote.stream("hello"));
      expect(events.map(line)).toEqual(["message you said: hello"]);
    });

    test("a question, its answer, and the end of the task", async () => {
      const asked = taskOf(await remote.send("conform: ask"));
      expect(asked.status.state).toBe("input-required");
      expect(textOf(asked.status.message?.content ?? [])).toBe("what is the answer?");
      const answered = taskOf(await remote.send("42", { task: asked.id, session: asked.contextId }));
      expect(answered.id).toBe(asked.id);
      expect(summary(answered)).toEqual({ state: "completed", artifacts: { result: "the answer was: 42" } });
    });

    test("a running task is watched by a second reader and cancelled", async () => {
      const first = remote.stream("conform: wait")[Symbol.asyncIterator]();
      const taskId = taskOf((await first.next()).value).id;
      const second = remote.subscribe(taskId)[Symbol.asyncIterator]();
      const begun = second.next();
      // A server that sends no snapshot does not acknowledge the subscription, so the wait for one is limited.
      await Promise.race([begun, delay(SNAPSHOT_MS)]);
      const [mine, theirs] = [drain(first), drain(second, begun)];
      const cancelled = await remote.cancelTask(taskId);
      expect([cancelled.id, cancelled.status.state]).toEqual([taskId, "canceled"]);
      expect((await mine).at(-1)).toMatch(iface.lastOfCancelled ?? /^status canceled$/);
      expect((await theirs)[0]).toMatch(iface.firstWatched ?? /^task (submitted|working)$/);
      expect((await theirs).at(-1)).toMatch(iface.lastOfCancelled ?? /^status canceled$/);
      expect((await remote.getTask(taskId)).status.state).toBe("canceled");
    });

    test("files and data cross in both directions", async () => {
      const echoed = await remote.send(PARTS).then((event) => answerOf(taskOf(event)).map(bare), codeOf);
      expect(echoed).toEqual(iface.echoed);
    });

    test("a task that failed or was rejected says why", async () => {
      const failed = taskOf(await remote.send("conform: fail"));
      expect([failed.status.state, textOf(failed.status.message?.content ?? [])]).toEqual(["failed", "as commanded"]);
      await expect(remote.ask("conform: fail")).rejects.toThrow("the task was failed: as commanded");
      expect(taskOf(await remote.send("conform: reject")).status.state).toBe(iface.rejected ?? "rejected");
    });

    test("tasks are listed, or the operation is unsupported", async () => {
      const { contextId } = taskOf(await remote.send("conform: task"));
      const listed = await remote
        .listTasks({ contextId, pageSize: 10 })
        .then(({ tasks, totalSize }) => ({ tasks: tasks.map(({ status }) => status.state), totalSize }), codeOf);
      expect(listed).toEqual(iface.unlisted ?? { tasks: ["completed"], totalSize: 1 });
    });

    test("every refusal arrives as our own error code", async () => {
      const { id, contextId } = taskOf(await remote.send("conform: task"));
      const refused = {
        "get of an unknown task": await remote.getTask("nobody-knows-it").catch(codeOf),
        "cancel of an unknown task": await remote.cancelTask("nobody-knows-it").catch(codeOf),
        "subscribe to an unknown task": await collect(remote.subscribe("nobody-knows-it")).catch(codeOf),
        "a message for an unknown task": await remote.send("more", { task: "nobody-knows-it" }).catch(codeOf),
        "cancel of a finished task": await remote.cancelTask(id).catch(codeOf),
        "a message for a finished task": await remote.send("more", { task: id, session: contextId }).catch(codeOf),
        "the extended card": await remote.extendedCard().catch(codeOf),
      };
      expect(refused).toEqual({
        "get of an unknown task": "task_not_found",
        "cancel of an unknown task": "task_not_found",
        "subscribe to an unknown task": iface.unknownStream ?? "task_not_found",
        "a message for an unknown task": "task_not_found",
        "cancel of a finished task": "not_cancelable",
        "a message for a finished task": iface.closed,
        "the extended card": iface.extended,
      });
      expect(await remote.ask("hello")).toBe("you said: hello");
    });
  });
}

export function codeOf(thrown: unknown): ErrorCode {
  if (thrown instanceof AgentError) return thrown.code;
  throw thrown;
}

export async function collect<T>(events: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const event of events) all.push(event);
  return all;
}

async function drain(events: AsyncIterator<AgentEvent>, begun = events.next()): Promise<string[]> {
  const lines: string[] = [];
  try {
    for (let step = await begun; step.done !== true; step = await events.next()) lines.push(line(step.value));
  } catch (thrown) {
    lines.push(AgentError.from(thrown).code);
  }
  return lines;
}

function taskOf(event: EventOf<"send"> | EventOf<"task.subscribe"> | void): Task {
  if (event?.kind !== "task") throw new Error(`a task was expected, not ${event?.kind ?? "the end"}`);
  return event.task;
}

/** One event as one line, with what a reader would notice. */
export function line(event: AgentEvent): string {
  switch (event.kind) {
    case "message":
      return `message ${textOf(event.message.content)}`;
    case "task":
      return `task ${event.task.status.state}`;
    case "status":
      return `status ${event.status.state}`;
    case "artifact":
      return `artifact ${event.artifact.id}${event.append ? "+" : ":"} ${textOf(event.artifact.parts)}${event.last ? "!" : ""}`;
    default:
      return event.kind;
  }
}

function summary({ status, artifacts }: Task): { readonly state: string; readonly artifacts: Record<string, string> } {
  return { state: status.state, artifacts: Object.fromEntries(artifacts.map(({ id, parts }) => [id, textOf(parts)])) };
}

/** A part without the members that are absent, for comparison with a literal. */
function bare(part: Part): Part {
  const { mediaType, name, metadata, ...content } = part;
  return {
    ...content,
    ...(mediaType === undefined ? {} : { mediaType }),
    ...(name === undefined ? {} : { name }),
    ...(metadata === undefined ? {} : { metadata }),
  };
}
