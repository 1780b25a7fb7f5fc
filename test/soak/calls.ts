import { AgentError, type AgentEvent, connect, DiscoveryCache, type RemoteAgent, type Task, textOf } from "../../src/index.js";
import { heldBy, numbers } from "../gateway/processes/callers.js";
import type { SoakNetwork } from "./network.js";

/** The kinds of calls. `cut`: the caller leaves a stream and comes back for the task. */
export const CALLS = ["ask", "stream", "cut"] as const;
export type CallKind = (typeof CALLS)[number];

const PIECES = 20;
const TASK_MS = 60_000;
const TASK_POLL_MS = 200;
const DONE: ReadonlySet<string> = new Set(["completed", "failed", "canceled", "rejected"]);

/** Callers of the gateway, one for each protocol and agent. Their answers are checked. */
export class SoakCallers {
  readonly #network: SoakNetwork;
  readonly #open = new Map<string, Promise<RemoteAgent>>();
  #asked = 0;

  constructor(network: SoakNetwork) {
    this.#network = network;
  }

  async call(kind: CallKind, agent: string, protocol: string): Promise<void> {
    const remote = await this.#caller(agent, protocol);
    if (kind === "ask") await this.#ask(remote);
    else if (kind === "stream") expectPieces(textIn(await all(remote.stream(COUNT))));
    else await this.#cut(remote);
  }

  async close(): Promise<void> {
    await Promise.allSettled([...this.#open.values()].map(async (remote) => (await remote).close()));
  }

  #caller(agent: string, protocol: string): Promise<RemoteAgent> {
    const key = `${agent} ${protocol}`;
    const connecting =
      this.#open.get(key) ??
      connect(this.#network.addressOf(agent, protocol), {
        pin: protocol,
        discoveryCache: new DiscoveryCache(),
        discoverMs: 30_000,
      });
    this.#open.set(key, connecting);
    connecting.catch(() => this.#open.delete(key));
    return connecting;
  }

  async #ask(remote: RemoteAgent): Promise<void> {
    const text = `hello ${++this.#asked}`;
    const answer = await remote.ask(text);
    if (answer !== text) throw new Error(`asked ${JSON.stringify(text)}, got ${JSON.stringify(answer)}`);
  }

  async #cut(remote: RemoteAgent): Promise<void> {
    let id: string | undefined;
    const read: AgentEvent[] = [];
    for await (const event of remote.stream(COUNT)) {
      read.push(event);
      id ??= event.kind === "task" ? event.task.id : "taskId" in event ? event.taskId : undefined;
      if (id !== undefined && event.kind === "artifact") break;
    }
    if (id === undefined) return expectPieces(textIn(read)); // a protocol without tasks answers at once
    const task = await ended(remote, id);
    expectPieces(textIn([{ kind: "task", task }]));
  }
}

/** The agent counts from 0 and waits for nobody. */
const COUNT = `count ${PIECES} -1`;

async function all(stream: AsyncIterable<AgentEvent>): Promise<readonly AgentEvent[]> {
  const events: AgentEvent[] = [];
  for await (const event of stream) events.push(event);
  return events;
}

async function ended(remote: RemoteAgent, id: string): Promise<Task> {
  const untilMs = performance.now() + TASK_MS;
  for (;;) {
    const task = await remote.getTask(id);
    if (DONE.has(task.status.state) || performance.now() > untilMs) return task;
    await new Promise((resolve) => setTimeout(resolve, TASK_POLL_MS));
  }
}

/** Chunks may be joined on the way, but none may be missing, repeated or out of order. */
function expectPieces(got: string): void {
  const wanted = numbers(PIECES).join("");
  if (got !== wanted) throw new Error(`lost or repeated: got ${JSON.stringify(got)}`);
}

/** The text of an answer: of its message, or of its artifacts. Throws AgentError for a task that failed: a kill excuses that. */
function textIn(events: readonly AgentEvent[]): string {
  const ended = events.findLast((event) => event.kind === "status" || event.kind === "task");
  const status = ended?.kind === "task" ? ended.task.status : ended?.status;
  if (status?.state === "failed")
    throw new AgentError("interrupted", `the task failed: ${textOf(status.message?.content ?? [])}`);
  const message = events.findLast((event) => event.kind === "message");
  return message === undefined ? heldBy(events).join("") : textOf(message.message.content);
}
