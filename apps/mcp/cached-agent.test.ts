import { describe, expect, it } from "vitest";
import { AgentError, type RemoteAgent } from "../../src/index.js";
import { handClock } from "../../test/helpers/mcp.js";
import { CachedAgent } from "./cached-agent.js";

/** A stub with the members used here. */
const peerOf = (initialize: () => Promise<void>): RemoteAgent =>
  ({ initialize, close: async () => undefined }) as unknown as RemoteAgent;

describe("CachedAgent", () => {
  it("retries with backoff while unreachable, then refreshes at the regular interval", async () => {
    const clock = handClock();
    let up = false;
    let looks = 0;
    const connect = async (): Promise<RemoteAgent> => {
      looks++;
      if (!up) throw new AgentError("unavailable", "unreachable");
      return peerOf(async () => undefined);
    };
    const agent = new CachedAgent(
      { url: "http://a.example" },
      { connect, clock, random: () => 0, refreshMs: 300_000, onRefresh: () => undefined },
    );
    const pauses: (number | undefined)[] = [];
    for (let look = 0; look < 9; look++) {
      await agent.refresh();
      pauses.push(clock.next);
    }
    expect(pauses).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000, 60_000]);
    expect([agent.peer, agent.problem?.message]).toEqual([undefined, "unreachable"]);
    up = true;
    await agent.refresh();
    expect([agent.peer === undefined, agent.problem, clock.next, looks]).toEqual([false, undefined, 300_000, 10]);
    await agent.close();
    expect(clock.next).toBeUndefined();
  });

  it("keeps a resolved agent while it is unreachable, and refreshes soon after a failed call", async () => {
    const clock = handClock();
    const peer = peerOf(() => Promise.reject(new AgentError("unavailable", "gone")));
    const reports: (string | undefined)[] = [];
    const agent = new CachedAgent(
      { url: "http://a.example" },
      {
        connect: async () => peer,
        clock,
        random: () => 0.5,
        refreshMs: 300_000,
        onRefresh: ({ problem }) => reports.push(problem?.message),
      },
    );
    await agent.refresh();
    agent.suspect();
    expect(clock.next).toBe(750);
    clock.move(750);
    await agent.refresh();
    expect([agent.peer === peer, agent.problem?.message, reports]).toEqual([true, "gone", [undefined, "gone"]]);
    await agent.close();
  });
});
