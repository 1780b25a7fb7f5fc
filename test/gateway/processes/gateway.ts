import { createInterface } from "node:readline";
import {
  type Bridge,
  bridge,
  DiscoveryCache,
  openRedisStore,
  openSqliteStore,
  type ServeOptions,
  type Store,
  serve,
} from "../../../src/index.js";
import { bearerTokens } from "../../../src/public/auth.js";
import { type Clock, systemClock } from "../../../src/public/policies.js";
import { TOKENS } from "./callers.js";

/** A gateway in its own process. Prints `ready <url>` once it answers, and its memory after collection for a line `memory <name>`. */
export interface GatewayFacts {
  readonly port?: number;
  readonly upstreams: readonly {
    readonly name: string;
    readonly url: string;
    readonly pin?: string;
    readonly timeoutMs?: number;
    /** Divides the delays between retries. */
    readonly hurry?: number;
  }[];
  /** Tasks are stored in this Redis or this file; otherwise in memory. */
  readonly redisUrl?: string;
  readonly file?: string;
  readonly leaseMs: number;
  readonly limits?: NonNullable<ServeOptions["limits"]>;
}

/** The same for all gateways of one test, as required for those over one store. */
const SECRET = new TextEncoder().encode("a secret of all the gateways of a test");
const ROOM = 10_000;
const facts: GatewayFacts = JSON.parse(process.argv[2] ?? "{}");
const { leaseMs } = facts;

/** Shortens delays; time limits are unchanged. */
function hurried(by: number): Clock {
  return { ...systemClock, sleep: (ms, cancel) => systemClock.sleep(ms / by, cancel) };
}

const taskLimits = {
  leaseMs,
  renewEveryMs: leaseMs / 4,
  runningTasks: ROOM,
  runningTasksPerOwner: ROOM,
  journalEntries: 2 * ROOM,
  lookAgainMs: 200,
};

async function openStore(): Promise<Store | undefined> {
  if (facts.redisUrl !== undefined) return openRedisStore({ url: facts.redisUrl });
  return facts.file === undefined ? undefined : openSqliteStore({ file: facts.file, now: Date.now, limits: taskLimits });
}

const bridges: readonly Bridge[] = await Promise.all(
  facts.upstreams.map(({ name, url, hurry = 1, ...options }) =>
    bridge(url, { ...options, discoveryCache: new DiscoveryCache(), clock: hurried(hurry), bridge: { name, secret: SECRET } }),
  ),
);
const store = await openStore();
const server = await serve(bridges, {
  port: facts.port ?? 0,
  ...(store === undefined ? {} : { store }),
  admission: bearerTokens(new Map(Object.entries(TOKENS))),
  push: false,
  limits: { openStreams: ROOM, openStreamsPerOwner: ROOM, ...facts.limits },
  taskLimits,
});
/** Its input ends with the process that started it: nothing is left behind by a test that was killed. */
createInterface({ input: process.stdin })
  .on("close", () => process.exit())
  .on("line", (line) => {
    if (!line.startsWith("memory ")) return;
    (globalThis as { gc?: () => void }).gc?.();
    process.stdout.write(`${line} ${JSON.stringify(process.memoryUsage())}\n`);
  });
process.stdout.write(`ready ${server.url}\n`);
