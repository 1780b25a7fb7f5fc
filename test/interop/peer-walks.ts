import { connect, type EventOf, type Loss } from "../../src/index.js";

/** The operations that are tried with every peer, in the order of the table. */
export const CHECKS = ["send", "stream", "get", "list", "cancel", "subscribe", "push", "unknown"] as const;
export type Check = (typeof CHECKS)[number];

/** What came back, or `error: …`. */
export type Walk = { readonly [check: string]: unknown };

/** `ok`, or why it is not: the same words in every run. */
export type Verdicts = { readonly [check in Check]?: string };

const HOOK = "https://example.com/hook";
const CANCELED = ["canceled", "TASK_STATE_CANCELED"];

/** What each operation must return. `unknown` is the class, the code or the fact that a task is not found. */
const EXPECTED: { readonly [check in Check]: (got: unknown) => boolean } = {
  send: (got) => got === "you said: hello",
  stream: (got) => got === "you said: stream",
  get: (got) => got === "you said: hello",
  list: (got) => got === true,
  cancel: (got) => CANCELED.includes(String(got)),
  subscribe: (got) => CANCELED.includes(String(got)),
  push: (got) => JSON.stringify(got) === JSON.stringify([HOOK, 1, 0]),
  unknown: (got) => got === true || got === -32001 || got === "task_not_found",
};

/** Operations that the peer does not have are absent. */
export function verdictsOf(walk: Walk): Verdicts {
  const found = CHECKS.filter((check) => check in walk);
  return Object.fromEntries(found.map((check) => [check, EXPECTED[check](walk[check]) ? "ok" : problemIn(walk[check])]));
}

/** Without what differs between runs: addresses, ids. */
function problemIn(got: unknown): string {
  const text = typeof got === "string" ? got.split("\n").slice(0, 3).join(" ") : JSON.stringify(got);
  return text
    .replaceAll(/127\.0\.0\.1:\d+/g, "127.0.0.1")
    .replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, "ID")
    .slice(0, 200);
}

function textIn(event: EventOf<"send"> | EventOf<"task.subscribe">): string {
  const parts =
    event.kind === "artifact"
      ? event.artifact.parts
      : event.kind === "message"
        ? event.message.content
        : event.kind === "task"
          ? event.task.artifacts.flatMap((artifact) => artifact.parts)
          : [];
  return parts.map((part) => (part.kind === "text" ? part.text : "")).join("");
}

/** Calls a peer over one interface. */
export async function koineCalls(url: string, pin: string, without: readonly Check[]): Promise<Walk> {
  const losses: Loss[] = [];
  const peer = await connect(url, { pin, onLoss: (loss) => losses.push(loss) });
  const start = async (): Promise<string> => {
    const event = await peer.start("wait");
    if (event.kind !== "task") throw new Error(`a ${event.kind} instead of a task`);
    return event.task.id;
  };
  const finished = async (): Promise<{ readonly id: string; readonly contextId: string }> => {
    const event = await peer.send("hello");
    if (event.kind !== "task") throw new Error(`a ${event.kind} instead of a task`);
    return event.task;
  };
  const works: { readonly [check in Check]: () => Promise<unknown> } = {
    send: () => peer.ask("hello"),
    async stream() {
      let streamed = "";
      for await (const event of peer.stream("stream")) if (event.kind !== "task") streamed += textIn(event);
      return streamed;
    },
    get: async () => textIn({ kind: "task", task: await peer.getTask((await finished()).id) }),
    async list() {
      const { id, contextId } = await finished();
      return (await peer.listTasks({ contextId })).tasks.some((task) => task.id === id);
    },
    cancel: async () => (await peer.cancelTask(await start())).status.state,
    async subscribe() {
      const id = await start();
      let last = "";
      let cancelled = false;
      for await (const event of peer.subscribe(id)) {
        if (event.kind === "task") last = event.task.status.state;
        if (event.kind === "status") last = event.status.state;
        if (!cancelled) await peer.cancelTask(id);
        cancelled = true;
      }
      return last;
    },
    async push() {
      const id = await start();
      const { id: hook = "" } = await peer.setPush(id, { url: HOOK, id: "hook" });
      const listed = await peer.pushes(id);
      await peer.deletePush(id, hook);
      const left = await peer.pushes(id);
      await peer.cancelTask(id);
      return [listed[0]?.url, listed.length, left.length];
    },
    unknown: () =>
      peer.getTask("no-such-task").then(
        () => "found",
        (error: { readonly code?: string }) => error.code,
      ),
  };
  const walk: Record<string, unknown> = {};
  for (const check of CHECKS.filter((each) => !without.includes(each)))
    walk[check] = await works[check]().catch((error: Error) => `error: ${error.message}`);
  await peer.close();
  return walk;
}
