import { setTimeout as pause } from "node:timers/promises";
import { type AgentFunction, agent, openRedisStore, openSqliteStore, serve } from "../../src/index.js";

/** One replica as a process of its own. Started with its facts as JSON; says `ready <url>` on stdout once it answers. */
export interface ReplicaFacts {
  /** Any free one unless told. */
  readonly port?: number;
  /** The address callers use where it is not its own: the balancer's. */
  readonly publicUrl?: string;
  /** Tasks are kept in this Redis, or in this file. */
  readonly redisUrl?: string;
  readonly file?: string;
  readonly leaseMs: number;
  /** Tells webhooks on this machine. */
  readonly push?: boolean;
}

const ROOM = 2_000;
const PUSH_TIMEOUT_MS = 1_000;
const facts: ReplicaFacts = JSON.parse(process.argv[2] ?? "{}");

/** Counts aloud: `<how many> <milliseconds between two> <milliseconds before the first>`. Each number says who said it. */
const count: AgentFunction = async function* (message, task) {
  const [many = 0, everyMs = 0, beforeMs = 0] = message.text.split(" ").map(Number);
  task.signal.addEventListener("abort", () => process.stdout.write(`stopped ${task.id}\n`));
  yield task.working();
  await pause(beforeMs, undefined, task);
  for (let number = 0; number < many; number++) {
    yield task.artifact(`${number}@${process.pid} `, { id: "count", append: number > 0, last: number === many - 1 });
    await pause(everyMs, undefined, task);
  }
};

/** Asks back when it hears `ask`; anything else it says again, after so many milliseconds: `<milliseconds> <words>`. */
const talk: AgentFunction = async function* (message, task) {
  if (task.turn > 1) return `heard: ${message.text}`;
  yield task.working();
  if (message.text === "ask") return task.ask("which?");
  const [waitMs = "0", ...words] = message.text.split(" ");
  await pause(Number(waitMs), undefined, task);
  return `said: ${words.join(" ")}`;
};

const description = "Counts aloud";
const store =
  facts.redisUrl === undefined
    ? await openSqliteStore({ file: facts.file ?? "", now: Date.now })
    : await openRedisStore({ url: facts.redisUrl });
const server = await serve(
  [
    agent({ name: "once", description, handle: count }),
    agent({ name: "again", description, handle: count, restartable: true }),
    agent({ name: "talks", description: "Talks back", handle: talk, restartable: true }),
  ],
  {
    port: facts.port ?? 0,
    ...(facts.publicUrl === undefined ? {} : { publicUrl: facts.publicUrl }),
    store,
    push: facts.push === true ? { allow: ["127.0.0.1"] } : false,
    limits: { openStreamsPerOwner: ROOM },
    taskLimits: {
      leaseMs: facts.leaseMs,
      renewEveryMs: facts.leaseMs / 4,
      runningTasks: ROOM,
      runningTasksPerOwner: ROOM,
      pushTimeoutMs: PUSH_TIMEOUT_MS,
    },
  },
);
process.stdout.write(`ready ${server.url}\n`);
