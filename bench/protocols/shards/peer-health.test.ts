import { expect, it, vi } from "vitest";
import type { PeerAnswer } from "../behaviours/behaviour.js";
import { PeerHealth } from "./peer-health.js";

const AGENTS = ["agent-1", "agent-2", "agent-3", "agent-4", "agent-5"];

/** The health that agent-1 sees, with peers that answer as they are told. */
function healthOf(answers: Readonly<Record<string, PeerAnswer>>) {
  const notes: string[] = [];
  const asked: string[] = [];
  let told: (() => void) | undefined;
  const health = new PeerHealth(
    {
      name: "agent-1",
      agents: AGENTS,
      peers: {
        names: AGENTS.slice(1),
        send: async (to) => {
          asked.push(to);
          return answers[to] ?? { ok: true, text: "here" };
        },
        connect: async () => undefined,
      },
      note: (kind, { about, values } = {}) => {
        notes.push(`${kind} ${about} ${values?.["seenBy"]}`);
        told?.();
      },
    },
    { heartbeatMs: 1, deadAfterMs: 10_000 },
  );
  const noted = (): Promise<void> => new Promise((resolve) => (told = resolve));
  return { health, notes, asked, noted };
}

it("asks its two neighbours of the ring, and finds one that is silent by the heartbeat", async () => {
  const { health, notes, asked, noted } = healthOf({ "agent-5": { ok: false, why: "timeout", error: "" } });
  expect(health.neighbours).toEqual(["agent-2", "agent-5"]);
  const first = noted();
  health.start();
  await first;
  health.stop();
  expect(notes).toEqual(["dead agent-5 heartbeat"]);
  expect(new Set(asked)).toEqual(new Set(["agent-2", "agent-5"]));
  expect(health.isDead("agent-5")).toBe(true);
});

it("tells everything that waits for a peer when its connection breaks, and notes it once", () => {
  const { health, notes } = healthOf({});
  const [here, there] = [health.watch("agent-3"), health.watch("agent-4")];
  health.dead("agent-3", "connection");
  health.dead("agent-3", "heartbeat");
  expect([here.signal.aborted, there.signal.aborted]).toEqual([true, false]);
  expect(notes).toEqual(["dead agent-3 connection"]);
  health.alive("agent-3", "join");
  health.alive("agent-3", "join");
  expect(notes).toEqual(["dead agent-3 connection", "alive agent-3 join"]);
  expect(health.isDead("agent-3")).toBe(false);
});

it("asks a peer that is dead again, though it is no neighbour, and sees that it is back", async () => {
  const { health, notes, noted } = healthOf({});
  health.dead("agent-3", "connection");
  const next = noted();
  health.start();
  await next;
  health.stop();
  expect(notes).toEqual(["dead agent-3 connection", "alive agent-3 heartbeat"]);
});

it("asks a dead peer that is no neighbour rarely, and a dead neighbour each time", async () => {
  vi.useFakeTimers();
  try {
    const gone: PeerAnswer = { ok: false, why: "unreachable", error: "" };
    const { health, asked } = healthOf({ "agent-2": gone, "agent-3": gone });
    for (const peer of ["agent-2", "agent-3"]) health.dead(peer, "connection");
    health.start();
    await vi.advanceTimersByTimeAsync(8);
    health.stop();
    const times = (peer: string): number => asked.filter((each) => each === peer).length;
    expect([times("agent-2"), times("agent-3"), times("agent-4")]).toEqual([8, 2, 0]);
  } finally {
    vi.useRealTimers();
  }
});
