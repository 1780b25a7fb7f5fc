import { createInterface } from "node:readline";
import { setTimeout as pause } from "node:timers/promises";
import { type AgentFunction, agent, openSqliteStore, serve, type TaskContext } from "../../../src/index.js";
import { protocols } from "../../../src/public/protocols.js";

/** The upstream agent of a gateway in its own process. Prints `ready <url>` once it answers. */
export interface UpstreamFacts {
  /** Default: any free port. */
  readonly port?: number;
  /** Tasks are stored in this file; without it they end with the process. */
  readonly file?: string;
  readonly leaseMs?: number;
  /** False: its card does not declare deduplication by key. */
  readonly idempotent?: boolean;
}

/** A received message as one line of output. */
export interface ReceivedMessage {
  readonly text: string;
  readonly session: string;
  readonly key: string | undefined;
  readonly task: string | undefined;
  readonly turn: number;
}

const LEASE_MS = 1_000;
const ROOM = 10_000;
const facts: UpstreamFacts = JSON.parse(process.argv[2] ?? "{}");
const { leaseMs = LEASE_MS, idempotent = true } = facts;

/** Gates that are opened by a line `go <gate>` on stdin. */
const gates = new Map<string, { readonly opened: Promise<void>; open(): void }>();

function gate(name: string): { readonly opened: Promise<void>; open(): void } {
  let made = gates.get(name);
  if (made === undefined) {
    let open = (): void => undefined;
    const opened = new Promise<void>((resolve) => {
      open = resolve;
    });
    made = { opened, open };
    gates.set(name, made);
  }
  return made;
}

/** Its input ends with the process that started it: nothing is left behind by a test that was killed. */
createInterface({ input: process.stdin })
  .on("close", () => process.exit())
  .on("line", (line) => {
    const [word, name = ""] = line.split(" ");
    if (word === "go") gate(name).open();
  });

async function opened(name: string, { signal }: TaskContext): Promise<void> {
  await Promise.race([gate(name).opened, new Promise((_, stopped) => signal.addEventListener("abort", stopped))]);
}

/** The count so far: a task that lost its process continues there, and repeats nothing. */
async function saidBefore(task: TaskContext): Promise<number> {
  if (!task.restarted) return 0;
  return (await task.snapshot())?.artifacts.flatMap(({ parts }) => parts).length ?? 0;
}

/** `count <many> <number at which it waits for its gate> <gate>` */
const count: AgentFunction = async function* (message, task) {
  const [, many = 0, holdAt = -1] = message.text.split(" ").map(Number);
  const name = message.text.split(" ")[3] ?? "";
  for (let number = await saidBefore(task); number < many; number++) {
    if (number === holdAt) await opened(name, task);
    yield task.artifact(`${number} `, { id: "count", append: number > 0, last: number === many - 1 });
  }
  return undefined;
};

/** `ask <name>`, then echoes the answer. */
const ask: AgentFunction = async function* (message, task) {
  if (task.turn > 1) return `heard: ${message.text}`;
  yield task.working();
  return task.ask("which?");
};

/** `fill <how many> <bytes each>`: as fast as it is read. */
const fill: AgentFunction = async function* (message, task) {
  const [, many = 0, bytes = 0] = message.text.split(" ").map(Number);
  for (let number = 0; number < many; number++) {
    const text = `${number} `.padEnd(bytes, ".");
    yield task.artifact(text, { id: `a${number % 2}`, append: false, last: false });
    if (number % 64 === 0) await pause(0);
  }
  return "filled";
};

/** `slow <milliseconds>`: sends nothing before the answer. */
const slow: AgentFunction = async (message, task) => {
  await pause(Number(message.text.split(" ")[1]), undefined, { signal: task.signal });
  return "at last";
};

/** `late <gate>`: sends nothing before its gate is opened. */
const late: AgentFunction = async (message, task) => {
  await opened(message.text.split(" ")[1] ?? "", task);
  return "late";
};

const commands: Readonly<Record<string, AgentFunction>> = { count, ask, fill, slow, late };

const handle: AgentFunction = (message, task) => {
  const { text, context } = message;
  const received: ReceivedMessage = {
    text,
    session: task.sessionId,
    key: context.idempotencyKey,
    task: task.id,
    turn: task.turn,
  };
  process.stdout.write(`heard ${JSON.stringify(received)}\n`);
  task.signal.addEventListener("abort", () => process.stdout.write(`stopped ${text}\n`));
  if (task.turn > 1) return ask(message, task);
  return commands[text.split(" ")[0] ?? ""]?.(message, task) ?? text;
};

const worker = agent({
  name: "worker",
  description: "does what a message commands",
  handle,
  restartable: facts.file !== undefined,
});
const { card } = worker;
const shown = { ...card, capabilities: { ...card.capabilities, idempotentSend: idempotent } };
const server = await serve(
  { ...worker, card: shown },
  {
    port: facts.port ?? 0,
    protocols,
    ...(facts.file === undefined ? {} : { store: await openSqliteStore({ file: facts.file, now: Date.now }) }),
    push: false,
    limits: { openStreamsPerOwner: ROOM, openStreams: ROOM },
    taskLimits: { leaseMs, renewEveryMs: leaseMs / 4, runningTasks: ROOM, runningTasksPerOwner: ROOM, journalEntries: 2 * ROOM },
  },
);
process.stdout.write(`ready ${server.url}\n`);
