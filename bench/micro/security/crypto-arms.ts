import { join } from "node:path";
import { type RedisServer, redisAvailable, startRedis } from "../../../test/redis-server.js";
import { pairedArms } from "../../harness/paired-arms.js";
import { type Cores, startWorker } from "../../harness/processes.js";
import { again, CRYPTO_CASES, type CryptoOrder, type CryptoWork } from "./crypto-cases.js";
import type { PlacedArm } from "./placed-arm.js";

export interface CryptoStage {
  readonly dist: string;
  readonly cores: Cores;
  readonly window: { readonly windowMs: number };
  readonly warmUpMs: number;
}

/** The cases of one kind, in one process. */
export async function cryptoArms(
  work: CryptoWork,
  { dist, cores, window, warmUpMs }: CryptoStage,
): Promise<readonly PlacedArm[]> {
  const file = join(dist, "bench", "micro", "security", "workers", "crypto-work.js");
  const worker = startWorker(work, file, { core: cores.server });
  const redisUrl = work === "replays" ? await ownRedis() : undefined;
  const placed: PlacedArm[] = [];
  for (const each of CRYPTO_CASES.filter((one) => one.work === work)) {
    const { key, floor } = each;
    const arms = each.arms.filter((arm) => arm !== "redis" || redisUrl !== undefined);
    const run = (sliceMs: number) => {
      const order: CryptoOrder = { case: each, arms: [floor, floor, ...arms], sliceMs, ...(redisUrl && { redisUrl }) };
      return worker.ask<readonly number[]>("run", order);
    };
    await run(warmUpMs);
    const costs = async () => (await run(window.windowMs)).map((cpuUs) => ({ cpuUs }));
    const paired = pairedArms([floor, again(floor), ...arms], costs);
    placed.push(...paired.map(({ name, measure }) => ({ section: key, arm: name, measure })));
  }
  return placed;
}

let redis: RedisServer | undefined;

/** A Redis of its own, or none if none is installed. */
async function ownRedis(): Promise<string | undefined> {
  if (!(await redisAvailable())) return undefined;
  redis = await startRedis({ appendfsync: "everysec" });
  return redis.url;
}

export async function stopOwnRedis(): Promise<void> {
  await redis?.stop();
  redis = undefined;
}
