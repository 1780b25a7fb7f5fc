import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { callerOf, closeCallers, piecesOf, Reading } from "../gateway/processes/callers.js";
import { heldBy } from "../gateway/processes/memory.js";
import { killProcesses, type OwnProcess, startProcess } from "../gateway/processes/start.js";

/** A gateway with thousands of open idle streams. */

const START_MS = 60_000;
const LEASE_MS = 60_000;
const CROWD_MS = 180_000;

afterAll(async () => {
  await closeCallers();
  await killProcesses();
});

describe("five thousand open streams", () => {
  /** One caller and one bridge carry a thousand streams: one socket each to the listener, eight HTTP/2 connections upstream. */
  const LINES = 5;
  const PER_LINE = 1_000;
  const PER_WAVE = 50;
  /** Memory that may remain, as a share of the memory used: tasks are kept. */
  const STAYS = 0.5;
  let upstream: OwnProcess;
  let gateway: OwnProcess;

  beforeAll(async () => {
    upstream = await startProcess("upstream", {});
    const upstreams = Array.from({ length: LINES }, (_, line) => ({
      name: `line-${line}`,
      url: upstream.url,
      pin: "a2a@1.0/GRPC",
    }));
    gateway = await startProcess("gateway", { upstreams, leaseMs: LEASE_MS });
  }, START_MS);

  test(
    "are all open, all end, and leave no more than their kept tasks",
    async () => {
      const peers = await Promise.all(Array.from({ length: LINES }, (_, line) => callerOf(gateway.url, `line-${line}`)));
      expect(await peers[0]?.ask("hello")).toBe("hello");
      const before = await heldBy(gateway, "before");
      const readings: Reading[] = [];
      // In waves: on a busy machine, accepting five thousand sockets at once would time out.
      for (let wave = 0; wave < PER_LINE; wave += PER_WAVE) {
        const more = peers.flatMap((peer) => Array.from({ length: PER_WAVE }, () => new Reading(peer.stream("count 2 1 crowd"))));
        await Promise.all(more.map((reading) => reading.until(({ events }) => piecesOf(events).length === 1)));
        readings.push(...more);
      }
      expect(readings.filter(({ broke }) => broke !== undefined)).toEqual([]);
      const full = await heldBy(gateway, "full");
      expect(await peers[0]?.ask("hello among many")).toBe("hello among many");
      upstream.writeLine("go crowd");
      await Promise.all(readings.map(({ done }) => done));
      expect(readings.filter(({ state }) => state !== "completed")).toEqual([]);
      expect(new Set(readings.map(({ events }) => piecesOf(events).join("")))).toEqual(new Set(["0 1 "]));
      await closeCallers();
      let looks = 0;
      const stays = async () => ((await heldBy(gateway, `after-${looks++}`)) - before) / (full - before);
      await expect.poll(stays, { timeout: 10_000, interval: 500 }).toBeLessThan(STAYS);
    },
    CROWD_MS,
  );
});
