import { readdirSync, readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { protocols } from "../../../src/public/protocols.js";
import { defaultCandidates, featureRows, parseScenarioText, rankingFromResults, route } from "../../../src/router/index.js";
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

it.each([
  ["fail-storm", "searcher"],
  ["safety", "doctor"],
])("calls in %s the agents that are called in the protocol that was chosen for the %s", async (scenario, module) => {
  const routing = await chooseProtocols(scenario, candidates);
  expect(await chooseProtocols(scenario, candidates)).toEqual(routing);
  const chosen = routing.decisions.find((each) => each.module === module)?.protocol;
  expect(candidates).toContain(chosen);
  expect(routerArm(scenario, routing)).toEqual({ id: "router", protocol: chosen, implementation: "koine", features: "envelope" });
});

it("has an identity in an arm whose protocol is spoken between identities", async () => {
  const needs = protocols.filter(({ needsIdentity }) => needsIdentity === true).map(({ id }) => id);
  expect(needs).not.toEqual([]);
  for (const protocol of needs) {
    const decisions = [{ module: "searcher", protocol, rationale: "" }];
    expect(routerArm("fail-storm", { decisions })).toMatchObject({ protocol, identities: true });
  }
});

it("lets priors of a result decide where the text leaves a tie, and nowhere else", async () => {
  const ties = readFileSync(new URL("../../routerbench/fixtures/ties.jsonl", import.meta.url), "utf8");
  const { scenarios } = await parseScenarioText(ties, "ties.jsonl", { answers: true });
  const rows = featureRows().filter(({ id }) => candidates.includes(id));
  const chosen = async (best: string) => {
    const priors = { protocols: rows.map(({ id }) => ({ protocol: id, success: id === best ? 1 : 0.5, p50Us: 1_000 })) };
    const { decisions } = await route(scenarios, { candidates: rows, ranking: rankingFromResults(priors) });
    return decisions[0]?.selected_protocol?.toLowerCase();
  };
  for (const best of candidates) expect(await chosen(best)).toBe(best);
  // What the text decides stays.
  const decided = await chooseProtocols("docqa", candidates);
  expect(await chooseProtocols("docqa", candidates, candidates.toReversed())).toEqual(decided);
  // Two protocols are made for doctors: the priors say which.
  const all = featureRows().map(({ id }) => id);
  const chosenFor = async (ranking: readonly string[]) =>
    new Set((await chooseProtocols("safety", all, ranking)).decisions.map(({ protocol }) => protocol));
  expect(await chosenFor(all)).not.toEqual(await chosenFor(all.toReversed()));
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
