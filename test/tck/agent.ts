import { setTimeout as after } from "node:timers/promises";
import { type Agent, type AgentFunction, agent, type Content, type Part, type TaskContext } from "../../src/index.js";
import type { AgentStream } from "../../src/tasks/index.js";

/** The behaviour that one of the kit's scenarios requires of an agent. */
type Scenario = (task: TaskContext) => ReturnType<AgentFunction>;

/** The kit of 0.3 needs work that outlives two of its streaming timeouts, which are 2 s each by default. */
const LONG_WORK_MS = 5_000;

const FILE: readonly Part[] = [{ kind: "raw", bytes: Buffer.from("output"), name: "output.txt", mediaType: "text/plain" }];
const LINK: readonly Part[] = [
  { kind: "url", url: "https://example.com/output.txt", name: "output.txt", mediaType: "text/plain" },
];

/** By prefix of the message id, longest first: `tck-artifact-file-url` also starts with `tck-artifact-file`. */
const SCENARIOS: readonly (readonly [beginning: string, Scenario])[] = [
  ["tck-artifact-text", show("Generated text content")],
  ["tck-artifact-file-url", show(LINK)],
  ["tck-artifact-file", show(FILE)],
  ["tck-artifact-data", show({ key: "value", count: 42 })],
  ["tck-message-response", () => "Direct message response"],
  ["tck-input-required", ask],
  ["tck-reject-task", reject],
  ["tck-stream-001", show("Stream hello from TCK")],
  ["tck-stream-003", show("Stream task lifecycle")],
  ["tck-stream-ordering-001", show("Ordered output")],
  ["tck-stream-artifact-text", show("Streamed text content")],
  ["tck-stream-artifact-file", show(FILE)],
  ["tck-stream-artifact-chunked", showInChunks],
  ["tck-", complete],
  ["test-resubscribe-message-id", workForLong],
];

/** The kit of 1.0 marks every message; that of 0.3 needs tasks that can still be cancelled and answered. */
const handle: AgentFunction = (message, task) => {
  // Behind a gateway that owns the tasks the id is the gateway's; the plug-in of the kit repeats it in the metadata.
  const named = message.metadata?.["scenario"];
  const id = typeof named === "string" ? named : message.id;
  const scenario = SCENARIOS.find(([beginning]) => id.startsWith(beginning))?.[1] ?? ask;
  return scenario(task);
};

function show(content: Content): Scenario {
  return async function* (task) {
    yield task.working();
    yield task.artifact(content, { last: true });
    return task.complete();
  };
}

async function* showInChunks(task: TaskContext): AgentStream {
  yield task.working();
  yield task.artifact("chunk-1 ", { id: "chunked" });
  yield task.artifact("chunk-2", { id: "chunked", append: true, last: true });
  return task.complete();
}

async function* complete(task: TaskContext): AgentStream {
  yield task.working();
  return task.complete("Hello from TCK");
}

async function* ask(task: TaskContext): AgentStream {
  yield task.working();
  return task.ask("What else?");
}

async function* reject(task: TaskContext): AgentStream {
  yield task.working();
  return task.reject("rejected");
}

async function* workForLong(task: TaskContext): AgentStream {
  yield task.working();
  await after(LONG_WORK_MS, undefined, { signal: task.signal });
  return task.complete();
}

export interface TckOptions {
  readonly extendedCard: boolean;
  /** Callers must know the extension the kit asks about. */
  readonly extension: boolean;
}

/** The agent under test. It declares no input modes and so accepts all: the kit sends an unusual media type and expects an answer. */
export function tckAgent({ extendedCard, extension }: TckOptions): Agent {
  return agent({
    name: "tck",
    description: "Does what the scenarios of the A2A compatibility kit ask for",
    handle,
    extensions: extension ? [{ uri: "urn:a2a:tck:required-extension", required: true }] : [],
    ...(extendedCard ? { extendedCard: () => ({ description: "What only those learn who are known" }) } : {}),
  });
}
