import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type AgentError, type JsonObject, type KeptRecord, type Records, recordsBelow } from "../../envelope/index.js";
import { type Bandit, createBandit } from "./bandit.js";
import { CONTEXTS, REWARDS_WAITING } from "./evidence-store.js";
import { Random } from "./random.js";

/** Records in a map: the port in its plainest form, and everything in it can be looked at. */
class MapRecords implements Records {
  readonly kept = new Map<string, JsonObject>();
  failing = false;
  opened: Promise<void> = Promise.resolve();

  async get(key: string) {
    await this.opened;
    this.#mayFail();
    return this.kept.get(key);
  }
  async put(key: string, value: JsonObject) {
    this.#mayFail();
    this.kept.set(key, JSON.parse(JSON.stringify(value)));
  }
  async add(key: string, value: JsonObject) {
    const known = this.kept.get(key);
    if (known === undefined) await this.put(key, value);
    return known;
  }
  async delete(key: string) {
    return this.kept.delete(key);
  }
  async count(key: string) {
    this.#mayFail();
    const count = Number(this.kept.get(key)?.["count"] ?? 0) + 1;
    this.kept.set(key, { count });
    return count;
  }
  async list(prefix: string, limit: number): Promise<readonly KeptRecord[]> {
    const found = [...this.kept].filter(([key]) => key.startsWith(prefix)).slice(0, limit);
    return found.map(([key, value]) => ({ key, value }));
  }
  #mayFail(): void {
    if (this.failing) throw new Error("the disk is gone");
  }
}

const THREE = ["A2A", "ACP", "Agora"];
const good = { ok: true, latencyMs: 0 };
const bad = { ok: false, latencyMs: 0 };

/** A world in which each protocol succeeds with its own share, and what was picked in it. */
function world(bandit: Bandit, shares: { readonly [protocol: string]: number }) {
  const luck = new Random([7, 7, 7, 7]);
  return async (rounds: number): Promise<readonly string[]> => {
    const picks: string[] = [];
    for (let round = 0; round < rounds; round++) {
      const pick = await bandit.choose(Object.keys(shares), "here");
      picks.push(pick);
      await bandit.learn("here", pick, luck.fraction() < (shares[pick] ?? 0) ? good : bad);
    }
    return picks;
  };
}

const shareOf = (protocol: string, picks: readonly string[]): number =>
  picks.filter((pick) => pick === protocol).length / picks.length;

describe("a bandit", () => {
  it("finds the best of three, and moves on when that breaks", async () => {
    const bandit = createBandit({ records: new MapRecords(), seed: 1 });
    const picks = await world(bandit, { A2A: 0.6, ACP: 0.9, Agora: 0.3 })(2_000);
    expect(shareOf("ACP", picks.slice(-500))).toBeGreaterThanOrEqual(0.8);
    const after = await world(bandit, { A2A: 0.6, ACP: 0, Agora: 0.3 })(500);
    expect(shareOf("ACP", after.slice(-200))).toBeLessThan(0.05);
    expect(shareOf("A2A", after.slice(-200))).toBeGreaterThan(0.7);
    const healed = await world(bandit, { A2A: 0.6, ACP: 0.95, Agora: 0.3 })(2_000);
    expect(shareOf("ACP", healed.slice(-500))).toBeGreaterThanOrEqual(0.8);
  });

  it("prefers the quicker of two that both succeed", async () => {
    const bandit = createBandit({ records: new MapRecords(), seed: 2 });
    const picks: string[] = [];
    for (let round = 0; round < 1_000; round++) {
      const pick = await bandit.choose(["A2A", "ACP"], "here");
      picks.push(pick);
      await bandit.learn("here", pick, { ok: true, latencyMs: pick === "ACP" ? 20 : 600, deadlineMs: 1_000 });
    }
    expect(shareOf("ACP", picks.slice(-500))).toBeGreaterThan(0.8);
  });

  it("chooses the same with the same seed, evidence and number of draws", async () => {
    const run = (seed: number) => world(createBandit({ records: new MapRecords(), seed }), { A2A: 0.5, ACP: 0.5 })(60);
    expect(await run(5)).toEqual(await run(5));
    expect(await run(5)).not.toEqual(await run(6));
  });

  it("is not swayed by the order in which protocols are named", async () => {
    const [first, second] = [
      createBandit({ records: new MapRecords(), seed: 5 }),
      createBandit({ records: new MapRecords(), seed: 5 }),
    ];
    for (let round = 0; round < 50; round++)
      expect(await first.choose(THREE, "x")).toBe(await second.choose(THREE.toReversed(), "x"));
  });

  it("keeps contexts apart", async () => {
    const bandit = createBandit({ records: new MapRecords(), seed: 3 });
    for (let call = 0; call < 60; call++) {
      await bandit.learn("inside", "A2A", good);
      await bandit.learn("inside", "ACP", bad);
      await bandit.learn("outside", "A2A", bad);
      await bandit.learn("outside", "ACP", good);
    }
    for (let call = 0; call < 20; call++) {
      expect(await bandit.choose(["A2A", "ACP"], "inside")).toBe("A2A");
      expect(await bandit.on("outside").choose(["A2A", "ACP"])).toBe("ACP");
    }
  });

  it("continues after a restart", async () => {
    const records = new MapRecords();
    const before = createBandit({ records, seed: 4 });
    for (let call = 0; call < 60; call++) await before.learn("x", call % 2 === 0 ? "A2A" : "ACP", call % 2 === 0 ? bad : good);
    const after = createBandit({ records, seed: 4 });
    for (let call = 0; call < 20; call++) expect(await after.choose(["A2A", "ACP"], "x")).toBe("ACP");
  });

  it("recognizes a protocol by id and by name, and answers in the given spelling", async () => {
    const bandit = createBandit({ records: new MapRecords(), seed: 4 });
    for (let call = 0; call < 60; call++) await bandit.learn("x", "agora", good);
    for (let call = 0; call < 60; call++) await bandit.learn("x", "A2A", bad);
    expect(await bandit.choose(["a2a", "AGORA"], "x")).toBe("AGORA");
  });

  it("loses no concurrent outcome", async () => {
    const records = new MapRecords();
    const bandit = createBandit({ records, seed: 1, fading: { tried: 0.9999, others: 1 } });
    await Promise.all(Array.from({ length: 200 }, (_, call) => bandit.learn(`c${call % 2}`, "A2A", good)));
    for (const context of ["c0", "c1"]) {
      const kept = await records.get(`bandit/contexts/${context}`);
      // A hundred rewards of one, each faded by those that came after it: a geometric sum.
      expect(kept).toEqual({ arms: [{ protocol: "a2a", good: expect.closeTo((1 - 0.9999 ** 100) / 0.0001, 6), bad: 0 }] });
    }
  });

  it("never leaves the feasible set, whatever the evidence", async () => {
    const names = ["A2A", "ACP", "ANP", "Agora", "other"];
    const step = fc.record({
      feasible: fc.uniqueArray(fc.constantFrom(...names), { minLength: 1 }),
      context: fc.oneof(fc.constantFrom("a", "b"), fc.string({ unit: "binary", maxLength: 300 })),
      learned: fc.record({ protocol: fc.constantFrom(...names), ok: fc.boolean(), latencyMs: fc.nat(2_000) }),
    });
    await fc.assert(
      fc.asyncProperty(fc.nat(), fc.array(step, { minLength: 1, maxLength: 12 }), async (seed, steps) => {
        const bandit = createBandit({ records: new MapRecords(), seed });
        for (const { feasible, context, learned } of steps) {
          await bandit.learn(context, learned.protocol, { ...learned, deadlineMs: 1_000 });
          expect(feasible).toContain(await bandit.choose(feasible, context));
        }
      }),
      { numRuns: 1_000 },
    );
  });
});

describe("a bandit among bad inputs", () => {
  const told: AgentError[] = [];
  const banditOn = (records: Records): Bandit => {
    told.length = 0;
    return createBandit({ records, seed: 1, onProblem: (problem) => told.push(problem) });
  };

  it("rejects an empty feasible set, and draws nothing for a single candidate", async () => {
    const records = new MapRecords();
    const bandit = banditOn(records);
    await expect(bandit.choose([], "x")).rejects.toMatchObject({ code: "unsupported" });
    expect(await bandit.choose(["ACP"], "x")).toBe("ACP");
    expect(await bandit.choose(["ACP", "acp"], "x")).toBe("ACP");
    expect(records.kept.size).toBe(0);
  });

  it("refuses names and numbers that are none, and learns nothing from them", async () => {
    const records = new MapRecords();
    const bandit = banditOn(records);
    for (const name of ["", "x".repeat(65)]) {
      await expect(bandit.learn("x", name, good)).rejects.toMatchObject({ code: "invalid_message" });
      await expect(bandit.choose(["ACP", name], "x")).rejects.toMatchObject({ code: "invalid_message" });
    }
    for (const latencyMs of [Number.NaN, -1, Number.POSITIVE_INFINITY])
      await expect(bandit.learn("x", "ACP", { ok: true, latencyMs })).rejects.toMatchObject({ code: "invalid_message" });
    const many = Array.from({ length: 33 }, (_, index) => `p${index}`);
    await expect(bandit.choose(many, "x")).rejects.toMatchObject({ code: "too_large" });
    expect(records.kept.size).toBe(0);
  });

  for (const fading of [{ tried: 1 }, { tried: 0 }, { others: 1.01 }, { others: Number.NaN }])
    it(`refuses ${JSON.stringify(fading)} as fading`, () => {
      expect(() => createBandit({ records: new MapRecords(), seed: 1, fading })).toThrowError("fading");
    });

  it("never selects an infeasible protocol with evidence, and evicts it when full", async () => {
    const records = new MapRecords();
    const bandit = banditOn(records);
    for (let index = 0; index < 100; index++) await bandit.learn("x", `p${index}`, good);
    const arms = records.kept.get("bandit/contexts/x")?.["arms"];
    expect(arms).toHaveLength(32);
    expect(THREE).toContain(await bandit.choose(THREE, "x"));
  });

  it("keeps a context of a megabyte under a short name", async () => {
    const records = new MapRecords();
    const bandit = banditOn(records);
    const huge = "é".repeat(500_000);
    for (let call = 0; call < 60; call++) await bandit.learn(huge, call % 2 === 0 ? "A2A" : "ACP", call % 2 === 0 ? bad : good);
    expect(await bandit.choose(["A2A", "ACP"], huge)).toBe("ACP");
    for (const key of records.kept.keys()) expect(key.length).toBeLessThan(250);
  });

  const CORRUPTED: readonly JsonObject[] = [
    {},
    { arms: "none" },
    { arms: [7] },
    { arms: [{ protocol: "acp", good: "5", bad: 0 }] },
    { arms: [{ protocol: "acp", good: -5, bad: 0 }] },
    { arms: [{ protocol: "acp", good: null, bad: 0 }] },
    { arms: [{ protocol: "acp", good: 1e300, bad: 0 }] },
    { arms: [{ protocol: 7, good: 1, bad: 1 }] },
    { arms: Array.from({ length: 33 }, () => ({ protocol: "acp", good: 1, bad: 1 })) },
  ];
  for (const corrupted of CORRUPTED)
    it(`starts anew where ${JSON.stringify(corrupted).slice(0, 60)} was kept, and says so once`, async () => {
      const records = new MapRecords();
      const bandit = banditOn(records);
      await records.put("bandit/contexts/x", corrupted);
      await bandit.learn("y", "A2A", good);
      for (let call = 0; call < 3; call++) expect(THREE).toContain(await bandit.choose(THREE, "x"));
      expect(told).toEqual([expect.objectContaining({ code: "decode", message: expect.stringContaining('"x"') })]);
      await bandit.learn("x", "ACP", good);
      expect(records.kept.get("bandit/contexts/x")).toEqual({ arms: [{ protocol: "acp", good: 1, bad: 0 }] });
      await bandit.choose(THREE, "x");
      expect(told).toHaveLength(1);
    });

  it("continues without its store, and reports each outage once", async () => {
    const records = new MapRecords();
    const bandit = banditOn(records);
    await bandit.learn("x", "ACP", good);
    records.failing = true;
    for (let call = 0; call < 3; call++) expect(THREE).toContain(await bandit.choose(THREE, "x"));
    await bandit.learn("x", "ACP", bad);
    expect(told).toEqual([expect.objectContaining({ code: "unavailable" })]);
    records.failing = false;
    await bandit.learn("x", "ACP", good);
    expect(records.kept.get("bandit/contexts/x")).toMatchObject({ arms: [{ protocol: "acp", good: 1.97, bad: 0 }] });
    records.failing = true;
    await bandit.choose(THREE, "x");
    expect(told).toHaveLength(2);
  });

  it("survives a failing problem sink", async () => {
    const records = new MapRecords();
    records.failing = true;
    const onProblem = (): never => {
      throw new Error("nobody listens");
    };
    expect(THREE).toContain(await createBandit({ records, seed: 1, onProblem }).choose(THREE, "x"));
  });

  it("limits the number of contexts; later ones share one", async () => {
    const records = new MapRecords();
    const bandit = banditOn(records);
    for (let index = 0; index < CONTEXTS + 20; index++) await bandit.learn(`c${index}`, "ACP", good);
    expect(await recordsBelow(records, "bandit").list("", CONTEXTS * 2)).toHaveLength(CONTEXTS + 1);
    for (let call = 0; call < 60; call++) await bandit.learn("late", "A2A", bad);
    for (let call = 0; call < 10; call++) expect(await bandit.choose(["A2A", "ACP"], "later still")).toBe("ACP");
  });

  it("drops outcomes queued for a slow store, and reports it once", async () => {
    const records = new MapRecords();
    let open = (): void => undefined;
    records.opened = new Promise((resolve) => {
      open = resolve;
    });
    const bandit = banditOn(records);
    for (let call = 0; call < REWARDS_WAITING + 5; call++) void bandit.learn(`c${call % 10}`, "ACP", good);
    await bandit.learn("c0", "ACP", good);
    expect(told).toEqual([expect.objectContaining({ code: "overloaded" })]);
    open();
    await bandit.settled();
    const kept = await recordsBelow(records, "bandit").list("contexts/", CONTEXTS);
    expect(kept).toHaveLength(10);
  });

  it("has stored everything when flush resolves", async () => {
    const records = new MapRecords();
    const bandit = banditOn(records);
    for (let call = 0; call < 10; call++) void bandit.learn("x", "ACP", good);
    await bandit.settled();
    expect(records.kept.get("bandit/contexts/x")).toMatchObject({ arms: [{ good: expect.closeTo((1 - 0.97 ** 10) / 0.03, 9) }] });
  });
});
