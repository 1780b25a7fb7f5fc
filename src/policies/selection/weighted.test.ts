import { describe, expect, it } from "vitest";
import { type Operation, startCall } from "../../envelope/index.js";
import type { Destination } from "../destination.js";
import { weighted } from "./weighted.js";

const PING: Operation = { kind: "ping" };
const ROUNDS = 20_000;

function to(id: string, weight?: number): Destination {
  return { id, weight, handler: async () => ({ kind: "done" }) };
}

/** Numerical Recipes' LCG: the same draws on every machine. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

function sharesOf(destinations: readonly Destination[], place: number): Record<string, number> {
  const selector = weighted({ random: seeded(7) });
  const counts: Record<string, number> = {};
  for (let round = 0; round < ROUNDS; round++) {
    const id = selector.order(destinations, PING, startCall()).order[place]?.id ?? "nobody";
    counts[id] = (counts[id] ?? 0) + 1 / ROUNDS;
  }
  return counts;
}

describe("weighted", () => {
  it("gives each destination its share, and weight 0 none", () => {
    const shares = sharesOf([to("a", 6), to("b", 3), to("c"), to("spare", 0)], 0);
    expect(shares["a"]).toBeCloseTo(0.6, 2);
    expect(shares["b"]).toBeCloseTo(0.3, 2);
    expect(shares["c"]).toBeCloseTo(0.1, 2);
    expect(shares["spare"]).toBeUndefined();
  });

  it("draws the second place by weight too: 6/10·3/4 + 1/10·3/9 for b", () => {
    expect(sharesOf([to("a", 6), to("b", 3), to("c")], 1)["b"]).toBeCloseTo(0.4833, 2);
  });

  it("keeps weight 0 as the last resort", () => {
    expect(sharesOf([to("spare", 0), to("a"), to("b")], 2)).toEqual({ spare: expect.closeTo(1, 6) });
  });
});
