import { afterEach, describe, expect, test } from "vitest";
import { ALICE, as, Benches, BOB, ended, guarded, runOf } from "../../../../test/wires/acp-bench.js";
import type { IdSource } from "../../protocol.js";
import { acp } from "../index.js";

const benches = new Benches(acp);
const bench = benches.open;
afterEach(benches.close);

const SESSION = "6a0d6f0e-9a55-4d0c-8f0a-5f0e2b1c7d11";
const inSession = { session_id: SESSION };

/** A clock that advances with every call, so that runs have an order. */
function ticking(): IdSource {
  let now = 1_760_000_000_000;
  return { now: () => ++now, newId: () => crypto.randomUUID() };
}

/** A stopped clock, and ids that sort in either direction. */
function frozen(next: (count: number) => number): IdSource {
  let count = 0;
  return {
    now: () => 1_760_000_000_000,
    newId: () => `00000000-0000-4000-8000-${String(next(++count)).padStart(12, "0")}`,
  };
}

describe("GET /sessions/{session_id}", () => {
  test("returns the URL of every message, oldest first, at both paths", async () => {
    const on = bench({ ids: ticking() });
    await on.post("/runs", runOf("one", inSession));
    await on.post("/runs", runOf("two", inSession));
    const plural = await on.get(`/sessions/${SESSION}`);
    const singular = await on.get(`/session/${SESSION}`);
    expect(plural.status).toBe(200);
    expect(singular.body).toEqual(plural.body);
    expect(plural.body).toEqual({ id: SESSION, history: expect.any(Array), state: null });
    const messages = await Promise.all(
      plural.body.history.map(async (url: string) => (await on.get(new URL(url).pathname)).body),
    );
    const shown = messages.map(({ role, parts }) => [role, parts[0].content]);
    expect(shown).toEqual([
      ["user", "one"],
      ["agent/worker", "you said: one"],
      ["user", "two"],
      ["agent/worker", "you said: two"],
    ]);
  });

  test.each([
    { ids: "ascending", next: (count: number) => count },
    { ids: "descending", next: (count: number) => 1_000 - count },
  ])("keeps the order of runs that start in the same millisecond, with $ids ids", async ({ next }) => {
    const on = bench({ ids: frozen(next) });
    const runs: string[] = [];
    for (const text of ["one", "two", "three"]) runs.push((await on.post("/runs", runOf(text, inSession))).body.run_id);
    const { body } = await on.get(`/sessions/${SESSION}`);
    const shown = body.history.map((url: string) => url.split("/").at(-1)?.split(".")[0]);
    expect(shown).toEqual([runs[0], runs[0], runs[1], runs[1], runs[2], runs[2]]);
  });

  test("contains only completed runs, and is hidden from other callers", async () => {
    const on = bench();
    await on.post("/runs", runOf("fail", inSession));
    const { body: canceled } = await on.post("/runs", runOf("wait", { ...inSession, mode: "async" }));
    await on.post(`/runs/${canceled.run_id}/cancel`, {});
    await ended(on, canceled.run_id);
    expect((await on.get(`/sessions/${SESSION}`)).body.history).toEqual([]);
    expect((await on.get(`/resources/${canceled.run_id}.0`)).status).toBe(404);
  });

  test("belongs to its caller: the same id of another caller is another session", async () => {
    const on = bench(guarded);
    const { body: mine } = await on.post("/runs", runOf("my secret", inSession), as(ALICE));
    const foreign = await on.get(`/sessions/${SESSION}`, as(BOB));
    expect([foreign.status, foreign.body.code]).toEqual([404, "not_found"]);
    expect((await on.get(`/resources/${mine.run_id}.0`, as(BOB))).status).toBe(404);
    expect((await on.get(`/resources/${mine.run_id}.0`)).status).toBe(401);
    expect((await on.get(`/resources/${mine.run_id}.0`, as(ALICE))).status).toBe(200);
    await on.post("/runs", runOf("bob here", inSession), as(BOB));
    const { body } = await on.get(`/sessions/${SESSION}`, as(BOB));
    expect(JSON.stringify(body)).not.toContain(mine.run_id);
    expect(body.history).toHaveLength(2);
  });

  test("contains the newest runs if there are more than the settings allow", async () => {
    const on = bench({ ids: ticking(), settings: { acp: { sessionRuns: 2 } } });
    const ids: string[] = [];
    for (const text of ["one", "two", "three"]) ids.push((await on.post("/runs", runOf(text, inSession))).body.run_id);
    const { body } = await on.get(`/sessions/${SESSION}`);
    const shown = body.history.map((url: string) => url.split("/").at(-1)?.split(".")[0]);
    expect(shown).toEqual([ids[1], ids[1], ids[2], ids[2]]);
    expect(() => bench({ settings: { acp: { sessionRuns: 0 } } })).toThrow("sessionRuns must be a whole number from 1 to");
  });

  test("reads more runs than fit on one page of the store", async () => {
    const on = bench();
    const total = 60;
    for (let run = 0; run < total; run++) await on.post("/runs", runOf("hello", inSession));
    expect((await on.get(`/sessions/${SESSION}`)).body.history).toHaveLength(2 * total);
  });

  test("an unknown message is not found, and an invalid id is rejected", async () => {
    const on = bench();
    const { body } = await on.post("/runs", runOf("one", inSession));
    expect((await on.get(`/resources/${body.run_id}.2`)).body.code).toBe("not_found");
    expect((await on.get("/resources/nonsense")).status).toBe(422);
    expect((await on.get("/sessions/nonsense")).status).toBe(422);
    expect((await on.get("/sessions/00000000-0000-4000-8000-000000000000")).status).toBe(404);
  });
});
