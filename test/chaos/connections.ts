import { chance, oneOf, shuffled } from "../../bench/harness/chance.js";
import { AgentError, connect, type RemoteAgent } from "../../src/index.js";
import { startRedis } from "../redis-server.js";
import { startBalancer } from "./balancer.js";
import { type Fleet, freePorts, startFleet } from "./fleet.js";
import type { ChaosOptions, ChaosOutcome } from "./outcome.js";

const REPLICAS = 3;
const LEASE_MS = 10_000;
const KILL_EVERY_MS = 1_000;
const EVERY_MS = 250;
/** All streams are open before the first number is sent. */
const BEFORE_MS = 8_000;

/**
 * The work runs in a process that is not killed; the replicas that serve its streams are killed, one per second. Every
 * stream must end complete and in order, without gap or repeat.
 */
export async function chaosOfConnections(options: ChaosOptions): Promise<ChaosOutcome> {
  const { streams, seconds, seed } = options;
  const random = chance(seed);
  const redis = await startRedis();
  const [balancerPort = 0, runnerPort = 0, ...ports] = await freePorts(REPLICAS + 2);
  const publicUrl = `http://127.0.0.1:${balancerPort}`;
  const facts = { redisUrl: redis.url, leaseMs: LEASE_MS };
  const runner = await startFleet([runnerPort], { ...facts, publicUrl: `http://127.0.0.1:${runnerPort}` });
  const fleet = await startFleet(ports, { ...facts, publicUrl });
  const balancer = await startBalancer(balancerPort, () => shuffled(readyPorts(fleet), random));
  try {
    const many = Math.round((seconds * 1000) / EVERY_MS);
    const starter = await connect(`http://127.0.0.1:${runnerPort}`);
    const reader = await connect(publicUrl);
    const started = await Promise.all(Array.from({ length: streams }, () => starter.start(`${many} ${EVERY_MS} ${BEFORE_MS}`)));
    const reading = started.map((event) => (event.kind === "task" ? readAll(reader, event.task.id) : undefined));
    const strikes = strike(fleet, seconds + BEFORE_MS / 1000 - 2, random);
    const read = await Promise.all(reading);
    const kills = await strikes;
    const wrong = read.flatMap((numbers, index) => problemOf(numbers, many, index));
    await Promise.all([starter.close(), reader.close()]);
    return {
      name: "connections",
      figures: { streams, events: many * streams, replicas: REPLICAS, kills, connections: balancer.passed },
      problems: wrong,
    };
  } finally {
    await Promise.all([balancer.stop(), fleet.stop(), runner.stop()]);
    await redis.stop();
  }
}

function readyPorts(fleet: Fleet): readonly number[] {
  return fleet.replicas.filter(({ ready, frozen }) => ready && !frozen).map(({ port }) => port);
}

async function strike(fleet: Fleet, seconds: number, random: () => number): Promise<number> {
  let kills = 0;
  const until = Date.now() + seconds * 1000;
  while (Date.now() < until) {
    await new Promise((resolve) => setTimeout(resolve, KILL_EVERY_MS));
    const ready = fleet.replicas.filter((replica) => replica.ready);
    const victim = ready.length > 1 ? oneOf(ready, random) : undefined;
    if (victim === undefined) continue;
    fleet.kill(victim);
    kills += 1;
  }
  return kills;
}

/** The numbers in the order they arrived, those of the first snapshot included. */
async function readAll(reader: RemoteAgent, taskId: string): Promise<readonly string[]> {
  for (;;) {
    const received: string[] = [];
    try {
      for await (const event of reader.subscribe(taskId)) {
        const artifacts = event.kind === "task" ? event.task.artifacts : event.kind === "artifact" ? [event.artifact] : [];
        for (const { parts } of artifacts) for (const part of parts) if (part.kind === "text") received.push(part.text.trim());
        if (event.kind === "status") received.push(event.status.state);
      }
      return received;
    } catch (thrown) {
      // The stream broke before its first event: subscribing again is safe. Later breaks are for the client to resume.
      const { code, message } = AgentError.from(thrown);
      if (received.length > 0 || (code !== "unavailable" && code !== "interrupted")) return [...received, `${code}: ${message}`];
    }
  }
}

function problemOf(received: readonly string[] | undefined, many: number, index: number): readonly string[] {
  const numbers = (received ?? []).map((each) => each.split("@")[0]).filter((each) => each !== "working" && each !== "submitted");
  const wanted = [...Array.from({ length: many }, (_, number) => String(number)), "completed"];
  const at = wanted.findIndex((each, position) => numbers[position] !== each);
  if (at < 0 && numbers.length === wanted.length) return [];
  const position = at < 0 ? wanted.length : at;
  return [
    `stream ${index}: at place ${position} came ${numbers[position]} instead of ${wanted[position]} (${numbers.length} of ${wanted.length})`,
  ];
}
