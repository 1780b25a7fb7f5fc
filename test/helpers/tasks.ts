import {
  AgentError,
  type AgentEvent,
  type Call,
  type CallStart,
  type Context,
  type Envelope,
  isPromise,
  NO_META,
  type Operation,
  type OperationOf,
  ownerOf,
  type Principal,
  startCall,
  type Task,
  textPart,
} from "../../src/envelope/index.js";
import type { AgentFunction } from "../../src/tasks/agent-function.js";
import type { TaskLimits } from "../../src/tasks/limits.js";
import type { PushPort } from "../../src/tasks/push-port.js";
import { createRuntime, type Runtime } from "../../src/tasks/runtime.js";
import type { RuntimeAgent } from "../../src/tasks/runtime-context.js";
import type { Store } from "../../src/tasks/store.js";
import { createMemoryStore } from "../../src/tasks/stores/memory.js";
import type { Timers } from "../../src/tasks/timers.js";

/** A clock that moves only when a test advances it. */
export interface ManualTimers extends Timers {
  now(): number;
  advance(ms: number): void;
}

interface Alarm {
  dueMs: number;
  readonly everyMs: number | undefined;
  readonly run: (lateMs: number) => void;
}

/** Timers that run when a test advances the time; `soon` and `nextTurn` are the platform's. */
export function manualTimers(startMs = 1_000_000): ManualTimers {
  let nowMs = startMs;
  const alarms = new Set<Alarm>();
  const set = (ms: number, everyMs: number | undefined, run: Alarm["run"]) => {
    const alarm: Alarm = { dueMs: nowMs + ms, everyMs, run };
    alarms.add(alarm);
    return () => void alarms.delete(alarm);
  };
  return {
    now: () => nowMs,
    after: (ms, run) => set(ms, undefined, run),
    every: (ms, run) => set(ms, ms, run),
    soon: (run) => void setImmediate(run),
    nextTurn: (run) => void setImmediate(run),
    advance(ms) {
      nowMs += ms;
      for (const alarm of [...alarms].sort((a, b) => a.dueMs - b.dueMs)) {
        if (alarm.dueMs > nowMs) continue;
        if (alarm.everyMs === undefined) alarms.delete(alarm);
        else alarm.dueMs = nowMs + alarm.everyMs;
        alarm.run(0);
      }
    },
  };
}

/** Overrides of the defaults. */
export interface TestOptions {
  readonly limits?: Partial<TaskLimits>;
  readonly push?: PushPort;
  readonly timers?: ManualTimers;
  readonly store?: Store;
  /** Prefix that separates the ids of two runtimes over one store. */
  readonly prefix?: string;
  /** Default: the ids of tasks are counted with the others. */
  readonly newTaskId?: () => string;
}

type SendOptions = Partial<Omit<OperationOf<"send">, "kind" | "envelope">> & {
  readonly context?: Context;
  readonly call?: CallStart;
};

/** A runtime on manual time with counted ids. */
export class TestRuntime {
  readonly timers: ManualTimers;
  readonly store: Store;
  readonly runtime: Runtime;

  constructor(agents: { readonly [name: string]: AgentFunction | RuntimeAgent }, options: TestOptions = {}) {
    const { limits, push, prefix = "id", newTaskId, timers = manualTimers() } = options;
    let count = 0;
    const ids = { now: timers.now, newId: () => `${prefix}-${++count}`, ...(newTaskId && { newTaskId }) };
    const served = Object.entries(agents).map(
      ([name, agent]) => [name, typeof agent === "function" ? { handle: agent } : agent] as const,
    );
    this.timers = timers;
    this.store = options.store ?? createMemoryStore({ limits, now: timers.now });
    this.runtime = createRuntime({
      agents: new Map(served),
      store: this.store,
      ids,
      limits,
      push,
      timers,
      random: () => 1,
    });
  }

  /** The one event of a one-event operation. */
  async one<K extends Operation["kind"]>(operation: OperationOf<K>, call: Call = startCall()): Promise<AgentEvent> {
    const reply = this.runtime.handler(operation, call);
    if (!isPromise(reply)) throw new Error("expected one event");
    return reply;
  }

  /** The events of a stream, pulled one by one. */
  many(operation: Operation, call: Call = startCall()): AsyncIterator<AgentEvent> & AsyncIterable<AgentEvent> {
    const reply = this.runtime.handler(operation, call);
    if (isPromise(reply)) throw new Error("expected a stream");
    const iterator = reply[Symbol.asyncIterator]();
    return Object.assign(iterator, { [Symbol.asyncIterator]: () => iterator });
  }

  send(text: string, options: SendOptions = {}): Promise<AgentEvent> {
    return this.one(sendOf(text, options), startCall(options.call));
  }

  stream(text: string, options: SendOptions = {}): AsyncIterator<AgentEvent> & AsyncIterable<AgentEvent> {
    return this.many(sendOf(text, { ...options, delivery: "stream" }), startCall(options.call));
  }

  async task(text: string, options: SendOptions = {}): Promise<Task> {
    return taskOf(await this.send(text, { task: "always", ...options }));
  }

  async get(taskId: string, call?: Call): Promise<Task> {
    return taskOf(await this.one({ kind: "task.get", taskId }, call));
  }
}

let messages = 0;

/** A message of the caller. */
export function userMessage(text: string, context: Context = {}): Envelope {
  messages += 1;
  return {
    id: `m-${messages}`,
    ts: 1,
    src: "caller",
    dst: "agent",
    intent: "chat",
    role: "user",
    content: [textPart(text)],
    context,
    meta: NO_META,
  };
}

/** A send that waits for its answer. */
export function sendOf(text: string, { context, call: _call, ...rest }: SendOptions = {}): OperationOf<"send"> {
  return { kind: "send", envelope: userMessage(text, context), delivery: "answer", task: "auto", ...rest };
}

/** Another caller. */
export function principal(id: string): Principal {
  return { id, scheme: "key", scopes: [], owner: ownerOf("key", id) };
}

/** The task of a task event. */
export function taskOf(event: AgentEvent): Task {
  if (event.kind !== "task") throw new Error(`expected a task, got ${event.kind}`);
  return event.task;
}

/** The tasks of a page. */
export function tasksOf(event: AgentEvent): readonly Task[] {
  if (event.kind !== "tasks") throw new Error(`expected tasks, got ${event.kind}`);
  return event.tasks;
}

/** All events until the end. */
export async function all(events: AsyncIterable<AgentEvent>): Promise<AgentEvent[]> {
  const got: AgentEvent[] = [];
  for await (const event of events) got.push(event);
  return got;
}

/** An event in short: `task submitted`, `artifact result+ "b"`, `status completed`. */
export function brief(event: AgentEvent): string {
  switch (event.kind) {
    case "task":
      return `task ${event.task.status.state}`;
    case "status":
      return `status ${event.status.state}`;
    case "artifact":
      return `artifact ${event.artifact.id}${event.append ? "+" : ""}`;
    default:
      return event.kind;
  }
}

/** The code a promise was rejected with. */
export async function codeOf(work: Promise<unknown>): Promise<string> {
  try {
    await work;
  } catch (thrown) {
    return thrown instanceof AgentError ? thrown.code : `foreign: ${String(thrown)}`;
  }
  return "no error";
}

/** A promise that the test resolves. */
export function gate(): { readonly passed: Promise<void>; open(): void } {
  let open = (): void => undefined;
  const passed = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { passed, open: () => open() };
}

/** Resolves after everything that can run now has run. */
export async function settle(): Promise<void> {
  for (let tick = 0; tick < 3; tick++) await new Promise((resolve) => setImmediate(resolve));
}
