import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { connect, DiscoveryCache, type RemoteAgent } from "../../src/index.js";
import { callerOf, closeCallers, piecesOf, Reading } from "../gateway/processes/callers.js";
import { killProcesses, type OwnProcess, startProcess } from "../gateway/processes/start.js";

/** One upstream behind one gateway carries as many open streams as it does without, and their first events come as they come directly. */

const STREAMS = 4_000;
const PER_WAVE = 500;
/** The upstream is one connection pool; callers of the gateway are several, as its limit per caller is smaller. */
const CALLERS = 4;
const START_MS = 60_000;
const TEST_MS = 300_000;
/**
 * The median of the first events through the gateway, in those of direct streams. Each passes twice as many processes and is journaled;
 * behind a queue it would not come at all, because no stream ends before all have begun.
 */
const MOST_TIMES_DIRECT = 12;

let upstream: OwnProcess;
let gateway: OwnProcess;

beforeAll(async () => {
  upstream = await startProcess("upstream", {});
  const upstreams = [{ name: "one", url: upstream.url, pin: "a2a@1.0/JSONRPC" }];
  gateway = await startProcess("gateway", { upstreams, leaseMs: 60_000 });
}, START_MS);

afterAll(async () => {
  await closeCallers();
  await killProcesses();
});

interface Crowd {
  readonly readings: readonly Reading[];
  /** Milliseconds from the start of a stream to its first piece, ascending. */
  readonly firstMs: readonly number[];
}

/** Opens all streams and holds them; each has sent its first piece. */
async function crowdOf(peers: readonly RemoteAgent[], name: string): Promise<Crowd> {
  const readings: Reading[] = [];
  const firstMs: number[] = [];
  const open = async (peer: RemoteAgent): Promise<void> => {
    const startedAt = performance.now();
    const reading = new Reading(peer.stream(`count 2 1 ${name}`));
    readings.push(reading);
    await reading.until(({ events }) => piecesOf(events).length === 1);
    firstMs.push(performance.now() - startedAt);
  };
  for (let begun = 0; begun < STREAMS; begun += PER_WAVE)
    await Promise.all(Array.from({ length: PER_WAVE }, (_, index) => open(peers[index % peers.length] as RemoteAgent))); // not empty
  return { readings, firstMs: firstMs.toSorted((a, b) => a - b) };
}

async function released({ readings }: Crowd, name: string): Promise<void> {
  expect(readings.filter(({ broke }) => broke !== undefined)).toEqual([]);
  upstream.writeLine(`go ${name}`);
  await Promise.all(readings.map(({ done }) => done));
  expect(readings.filter(({ state }) => state !== "completed")).toEqual([]);
}

const median = ({ firstMs }: Crowd): number => firstMs[firstMs.length / 2] ?? 0;

describe("four thousand streams at once", () => {
  test(
    "through one gateway to one upstream, as directly",
    async () => {
      const options = { discoveryCache: new DiscoveryCache(), resume: false, pin: "a2a@1.0/JSONRPC" };
      const direct = await connect(upstream.url, options);
      const directly = await crowdOf([direct], "direct");
      await released(directly, "direct");
      await direct.close();
      const callers = await Promise.all(
        Array.from({ length: CALLERS }, () => callerOf(gateway.url, "one", "alice", { pin: "a2a@1.0/JSONRPC" })),
      );
      const through = await crowdOf(callers, "through");
      await released(through, "through");
      console.log(`first event, median: ${median(directly).toFixed(0)} ms directly, ${median(through).toFixed(0)} ms through`);
      expect(median(through) / median(directly)).toBeLessThan(MOST_TIMES_DIRECT);
    },
    TEST_MS,
  );
});
