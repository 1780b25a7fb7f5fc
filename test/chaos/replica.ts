import { setTimeout as pause } from "node:timers/promises";
import { type AgentFunction, agent, openRedisStore, serve } from "../../src/index.js";

/** One replica as a process of its own. Started with its facts as JSON; says `ready` on stdout once it answers. */
export interface ReplicaFacts {
  readonly port: number;
  /** The address callers use: the balancer's. */
  readonly publicUrl: string;
  readonly redisUrl: string;
  readonly leaseMs: number;
}

const ROOM = 2_000;
const facts: ReplicaFacts = JSON.parse(process.argv[2] ?? "{}");

/** Counts aloud: `<how many> <milliseconds between two> <milliseconds before the first>`. Each number says who said it. */
const count: AgentFunction = async function* (message, task) {
  const [many = 0, everyMs = 0, beforeMs = 0] = message.text.split(" ").map(Number);
  yield task.working();
  await pause(beforeMs, undefined, task);
  for (let number = 0; number < many; number++) {
    yield task.artifact(`${number}@${process.pid} `, { id: "count", append: number > 0, last: number === many - 1 });
    await pause(everyMs, undefined, task);
  }
};

const description = "Counts aloud";
const store = await openRedisStore({ url: facts.redisUrl });
await serve(
  [agent({ name: "once", description, handle: count }), agent({ name: "again", description, handle: count, restartable: true })],
  {
    port: facts.port,
    publicUrl: facts.publicUrl,
    store,
    push: false,
    limits: { openStreamsPerOwner: ROOM },
    taskLimits: { leaseMs: facts.leaseMs, renewEveryMs: facts.leaseMs / 4, runningTasks: ROOM, runningTasksPerOwner: ROOM },
  },
);
process.stdout.write("ready\n");
