import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { agent, serve } from "../../src/index.js";
import { createWorkspace, koine, type Workspace } from "./koine.js";

/** `koine send --learn` and `koine route --explain --learned`, on one store. */

let workspace: Workspace;
const cleanups: (() => unknown)[] = [];
beforeAll(async () => {
  workspace = await createWorkspace();
});
afterEach(async () => {
  for (const clean of cleanups.splice(0).reverse()) await clean();
});
afterAll(() => workspace.clear());

const echo = agent({ name: "echo", description: "says it again", handle: ({ text }) => text });

test("each call chooses among the feasible protocols, and its outcome is kept and explained", async () => {
  const server = await serve(echo);
  cleanups.push(() => server.close());
  const store = workspace.path("outcomes");
  const learning = ["--feasible", "a2a,acp", "--learn", store, "--context", "tests", "-v"];
  for (let call = 0; call < 2; call++) {
    const { code, stdout, stderr } = await koine(["send", server.url, "hello", ...learning]);
    expect([code, stdout]).toEqual([0, "hello\n"]);
    expect(stderr).toMatch(/(a2a|acp) was chosen among (a2a, acp|acp, a2a)/);
  }
  const explained = await koine(["route", "--requires", "streaming", "--explain", "--learned", store, "--context", "tests"]);
  expect(explained.code).toBe(0);
  // Two outcomes, of one protocol or of both; an older one has faded a little.
  const counts = [...explained.stdout.matchAll(/mean reward 0\.\d\d by (\d\.\d) outcomes, in tests/g)].map(([, count]) =>
    Number(count),
  );
  expect(counts.reduce((sum, count) => sum + count, 0)).toBeCloseTo(2, 1);
});

test("options that would have no effect are refused", async () => {
  const outcomes = await Promise.all([
    koine(["send", "http://127.0.0.1:9", "hello", "--context", "tests"]),
    koine(["route", "--requires", "streaming", "--learned", workspace.path("outcomes"), "--context", "tests"]),
    koine(["route", "--requires", "streaming", "--explain", "--context", "tests"]),
  ]);
  expect(outcomes.map(({ code }) => code)).toEqual([2, 2, 2]);
  expect(outcomes.map(({ stderr }) => stderr.split("\n")[0])).toEqual([
    expect.stringContaining("--context is for --learn"),
    expect.stringContaining("--learned is for --explain"),
    expect.stringContaining("--context is for --learned"),
  ]);
});
