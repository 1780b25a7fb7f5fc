import { readdirSync, readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { defaultCandidates, featureRows, parseScenarioText, rankingFromResults } from "../../../src/router/index.js";
import { RECIPES } from "../docqa/plan/recipes.js";
import { chooseProtocols, routerArm } from "./choose.js";
import { priorsOf } from "./priors.js";

const FOLDER = new URL("./scenarios/", import.meta.url);
const texts = readdirSync(FOLDER).map((file) => ({ file, text: readFileSync(new URL(file, FOLDER), "utf8") }));
const candidates = defaultCandidates().map(({ id }) => id);

it.each(texts)("$file is a scenario that names no protocol", async ({ file, text }) => {
  const { scenarios, excluded } = await parseScenarioText(text, file);
  expect(scenarios).toHaveLength(1);
  expect(excluded).toEqual([]);
  for (const { id, name } of featureRows())
    for (const word of [id, name]) expect(text.toLowerCase()).not.toMatch(new RegExp(`\\b${word.toLowerCase()}\\b`));
});

it("chooses a protocol for every role of a team, and the same again", async () => {
  const routing = await chooseProtocols("docqa", candidates);
  expect(await chooseProtocols("docqa", candidates)).toEqual(routing);
  const roles = new Set(Object.values(RECIPES).flatMap(({ steps }) => steps.map(({ role }) => role)));
  const { assign = {} } = routerArm("docqa", routing);
  expect(new Set(Object.keys(assign))).toEqual(roles);
  for (const protocol of Object.values(assign)) expect(candidates).toContain(protocol);
  expect(new Set(Object.values(assign)).size).toBeGreaterThan(1);
});

it("calls the workers of a queue in the protocol that was chosen for them", async () => {
  const routing = await chooseProtocols("streaming-queue", candidates);
  const arm = routerArm("streaming-queue", routing);
  expect(arm.assign).toBeUndefined();
  expect(arm.protocol).toBe(routing.decisions.find(({ module }) => module === "worker")?.protocol);
});

it("chooses only what is measured", async () => {
  const [only = ""] = candidates;
  const { decisions } = await chooseProtocols("docqa", [only]);
  expect(new Set(decisions.map(({ protocol }) => protocol))).toEqual(new Set([only]));
  await expect(chooseProtocols("echo", candidates)).rejects.toThrow("the router has no text about echo");
});

it("writes priors that the router reads as a ranking", () => {
  const [a = "", b = "", c = ""] = candidates;
  const arm = (id: string, protocol: string) => ({ id, protocol, implementation: "koine", features: "envelope" }) as const;
  const measured = (id: string, answered: number, mean: number) => ({
    arm: id,
    condition: "first",
    success: { answered, sent: 10 },
    metrics: { p50Us: { mean } },
  });
  const priors = priorsOf({
    plan: {
      conditions: [{ id: "first" }],
      arms: [arm(a, a), arm(b, b), arm(c, c), arm(`${c} signed`, c), arm("router", b), { ...arm("again", a), control: "same" }],
    },
    arms: [measured(a, 10, 300), measured(b, 10, 200), measured(c, 9, 100), measured("router", 10, 1)],
  } as never);
  expect(priors.protocols).toEqual([
    { protocol: a, success: 1, p50Us: 300 },
    { protocol: b, success: 1, p50Us: 200 },
    { protocol: c, success: 0.9, p50Us: 100 },
  ]);
  // By success first, then by latency.
  expect(rankingFromResults(priors).map((name) => name.toLowerCase())).toEqual([b, a, c]);
});
