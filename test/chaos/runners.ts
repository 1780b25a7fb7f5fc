import { chance, oneOf, shuffled } from "../../bench/harness/chance.js";
import {
  AgentError,
  connect,
  isTerminal,
  openRedisStore,
  type RemoteAgent,
  type Store,
  type TaskEvent,
} from "../../src/index.js";
import { startRedis } from "../redis-server.js";
import { startBalancer } from "./balancer.js";
import { type Fleet, freePorts, startFleet } from "./fleet.js";
import type { ChaosOptions, ChaosOutcome } from "./outcome.js";

const REPLICAS = 3;
const LEASE_MS = 2_000;
const STRIKE_EVERY_MS = 1_000;
/** Longer than the lease: a resumed process has lost it. */
const FREEZE_MS = LEASE_MS + 1_500;
/** The guarantee: a run that lost its holder is closed within its lease plus this. */
const GRACE_MS = 5_000;
const OWNER = "anonymous:anonymous";
const NUMBERS = 20;
const EVERY_MS = 100;

interface Started {
  readonly key: string;
  readonly taskId: string;
}

/**
 * The replicas that run the work are killed, or frozen for longer than their lease. Every task must reach exactly one end
 * in time, with nothing after it and no gap before it; one key must start one task; a thawed zombie must write nothing.
 */
export async function chaosOfRunners({ seed, seconds, streams }: ChaosOptions): Promise<ChaosOutcome> {
  const random = chance(seed);
  const redis = await startRedis();
  const [balancerPort = 0, ...ports] = await freePorts(REPLICAS + 1);
  const publicUrl = `http://127.0.0.1:${balancerPort}`;
  const fleet = await startFleet(ports, { redisUrl: redis.url, leaseMs: LEASE_MS, publicUrl });
  const balancer = await startBalancer(balancerPort, () => shuffled(readyPorts(fleet), random));
  const store = await openRedisStore({ url: redis.url });
  try {
    const [once, again] = await Promise.all([connect(publicUrl), connectToAgent(publicUrl, "again")]);
    const strikes = strike(fleet, seconds, random);
    const started: Promise<Started>[] = [];
    for (let index = 0; index < streams; index++) {
      started.push(startOne(index % 2 === 0 ? once : again, `key-${seed}-${index}`));
      await new Promise((resolve) => setTimeout(resolve, (seconds * 1000) / streams));
    }
    const tasks = await Promise.all(started);
    const { kills, freezes } = await strikes;
    await Promise.all(tasks.map(({ taskId }) => closed(store, taskId)));
    const judged = await Promise.all(tasks.map((task) => judge(store, task, fleet)));
    await Promise.all([once.close(), again.close()]);
    const ends = judged.map(({ end }) => end);
    return {
      name: "runners",
      figures: {
        tasks: tasks.length,
        replicas: REPLICAS,
        kills,
        freezes,
        completed: ends.filter((end) => end === "completed").length,
        failed: ends.filter((end) => end === "failed").length,
        restarted: judged.filter(({ holders }) => holders > 1).length,
        slowestEndMs: Math.max(0, ...judged.map(({ lateMs }) => lateMs)),
      },
      problems: judged.flatMap(({ problems }) => problems),
    };
  } finally {
    await store.close?.();
    await Promise.all([balancer.stop(), fleet.stop()]);
    await redis.stop();
  }
}

/** The other agents of a host are reached below the address of the first. */
function connectToAgent(url: string, name: string): Promise<RemoteAgent> {
  return connect(`${url}/a2a/${name}`);
}

function readyPorts(fleet: Fleet): readonly number[] {
  return fleet.replicas.filter(({ ready, frozen }) => ready && !frozen).map(({ port }) => port);
}

async function strike(fleet: Fleet, seconds: number, random: () => number): Promise<{ kills: number; freezes: number }> {
  const count = { kills: 0, freezes: 0 };
  const until = Date.now() + seconds * 1000;
  while (Date.now() < until) {
    await new Promise((resolve) => setTimeout(resolve, STRIKE_EVERY_MS));
    const well = fleet.replicas.filter(({ ready, frozen }) => ready && !frozen);
    const victim = well.length > 1 ? oneOf(well, random) : undefined;
    if (victim === undefined) continue;
    // Alternating, so that the shortest run has both.
    if (count.kills <= count.freezes) {
      fleet.kill(victim);
      count.kills += 1;
    } else {
      fleet.freeze(victim, FREEZE_MS);
      count.freezes += 1;
    }
  }
  return count;
}

/** Repeats the request until a replica confirms the task; the key makes it one task. */
async function startOne(peer: RemoteAgent, key: string): Promise<Started> {
  for (;;) {
    const enough = new AbortController();
    const timer = setTimeout(() => enough.abort(), 2 * LEASE_MS);
    try {
      const event = await peer.start(`${NUMBERS} ${EVERY_MS} 0`, { key, signal: enough.signal });
      if (event.kind === "task") return { key, taskId: event.task.id };
      throw new Error(`a ${event.kind} came where a task was asked for`);
    } catch (thrown) {
      const { code } = AgentError.from(thrown);
      if (code !== "unavailable" && code !== "interrupted" && code !== "cancelled") throw thrown;
      await new Promise((resolve) => setTimeout(resolve, 50));
    } finally {
      clearTimeout(timer);
    }
  }
}

async function closed(store: Store, taskId: string): Promise<void> {
  const until = Date.now() + LEASE_MS + GRACE_MS + 4 * NUMBERS * EVERY_MS;
  while (Date.now() < until) {
    const facts = await store.facts(taskId, OWNER);
    if (facts !== undefined && isTerminal(facts.state)) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

interface Judged {
  readonly end: string;
  /** Processes that wrote events. */
  readonly holders: number;
  /** From the fault to the end, for a failed task. */
  readonly lateMs: number;
  readonly problems: readonly string[];
}

async function judge(store: Store, { key, taskId }: Started, fleet: Fleet): Promise<Judged> {
  const page = await store.read(taskId, OWNER, 0, 100_000);
  const entries = page?.entries ?? [];
  const problems: string[] = [];
  if (entries.some(({ seq }, index) => seq !== index + 1)) problems.push(`${taskId}: a gap in the journal`);
  const ends = entries.filter(({ event }) => event.kind === "status" && isTerminal(event.status.state));
  const last = entries.at(-1)?.event;
  if (ends.length !== 1 || ends[0]?.event !== last)
    problems.push(`${taskId}: ${ends.length} ends, the last entry is ${last?.kind}`);
  const output = entries.flatMap(({ event }) => saidIn(event));
  const holders = output.filter(({ pid }, index) => pid !== output[index - 1]?.pid);
  // A successor counts from the beginning, and may be a process that held the task before. A stale holder would continue.
  const wrong = output.find(({ number, pid }, index) => {
    const before = output[index - 1];
    return number !== 0 && (before?.pid !== pid || before.number !== number - 1);
  });
  if (wrong !== undefined) problems.push(`${taskId}: process ${wrong.pid} said ${wrong.number} where it could not`);
  const listed = await store.list(OWNER, { kind: "task.list", idempotencyKey: key });
  if (listed.totalSize !== 1) problems.push(`${key}: started ${listed.totalSize} tasks`);
  const end = last?.kind === "status" ? last.status : undefined;
  const struckAt = fleet.struckAt.get(holders.at(-1)?.pid ?? 0);
  const lateMs = end?.state === "failed" && struckAt !== undefined ? end.at - struckAt : 0;
  if (lateMs > LEASE_MS + GRACE_MS) problems.push(`${taskId}: failed ${lateMs} ms after its process was struck`);
  return { end: end?.state ?? "none", holders: holders.length, lateMs, problems };
}

/** The agent's output: `<number>@<process>`. */
function saidIn(event: TaskEvent): readonly { readonly number: number; readonly pid: number }[] {
  if (event.kind !== "artifact") return [];
  return event.artifact.parts.flatMap((part) => {
    const [number, pid] = part.kind === "text" ? part.text.split("@").map(Number) : [];
    return number === undefined || pid === undefined ? [] : [{ number, pid }];
  });
}
