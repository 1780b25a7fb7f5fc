import { existsSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { type AgentFunction, agent, openRedisStore, openSqliteStore, serve } from "../../src/index.js";

/** One replica in its own process. Reads its options as JSON and prints `ready <url>` on stdout once it accepts requests. */
export interface ReplicaFacts {
  /** A free port if absent. */
  readonly port?: number;
  /** The public URL if it differs: that of the load balancer. */
  readonly publicUrl?: string;
  /** Tasks are stored in this Redis, or in this SQLite file. */
  readonly redisUrl?: string;
  readonly file?: string;
  readonly leaseMs: number;
  /** Sends push notifications to webhooks on this machine. */
  readonly push?: boolean;
}

const ROOM = 2_000;
/** Long enough for a webhook on a busy machine: a timed-out delivery would be repeated. */
const PUSH_TIMEOUT_MS = 5_000;
const GATE_POLL_MS = 10;
const facts: ReplicaFacts = JSON.parse(process.argv[2] ?? "{}");

/**
 * Counts: `<how many> <milliseconds between two> <milliseconds before the first> [gate]`. Each number carries the process id.
 * With a gate, the second half is sent only once the file of that name exists.
 */
const count: AgentFunction = async function* (message, task) {
  const [many = 0, everyMs = 0, beforeMs = 0] = message.text.split(" ", 3).map(Number);
  const [, gate] = / (\/.*)$/.exec(message.text) ?? [];
  task.signal.addEventListener("abort", () => process.stdout.write(`stopped ${task.id}\n`));
  yield task.working();
  await pause(beforeMs, undefined, task);
  for (let number = 0; number < many; number++) {
    while (gate !== undefined && number === many / 2 && !existsSync(gate)) await pause(GATE_POLL_MS, undefined, task);
    yield task.artifact(`${number}@${process.pid} `, { id: "count", append: number > 0, last: number === many - 1 });
    await pause(everyMs, undefined, task);
  }
};

/** Asks for input on `ask`; echoes anything else after a delay: `<milliseconds> <words>`. */
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
