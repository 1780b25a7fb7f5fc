import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import {
  DECISION_FIELDS,
  type Decision,
  defaultCandidates,
  lintDecision,
  parseScenarioText,
  type RouterSettings,
  route,
  type Scenario,
} from "../../src/router/index.js";

async function corpus(name: string): Promise<readonly Scenario[]> {
  const text = readFileSync(new URL(`../../bench/routerbench/corpus/${name}.jsonl`, import.meta.url), "utf8");
  const { scenarios, excluded } = await parseScenarioText(text, `${name}.jsonl`);
  expect(excluded).toEqual([]);
  return scenarios;
}

/** The linter's findings for the decisions, each checked against the input of its own module. */
function problemsOf(scenarios: readonly Scenario[], decisions: readonly Decision[]): readonly string[] {
  const modules = scenarios.flatMap((scenario) => scenario.modules.map((module) => ({ scenario, module })));
  expect(decisions).toHaveLength(modules.length);
  return decisions.flatMap((decision, index) => {
    const { scenario, module } = modules[index] ?? {};
    const input = [...(module?.passages ?? []).map(({ text }) => text), scenario?.description ?? ""];
    const misplaced = decision.module_id === module?.id && decision.scenario_id === scenario?.id ? [] : ["misplaced"];
    const linted = lintDecision(decision, { input, features: defaultCandidates() });
    return [...misplaced, ...linted].map((problem) => `${decision.module_id}: ${problem}`);
  });
}

const SETTINGS: Readonly<Record<string, RouterSettings>> = {
  "as it is": {},
  "with a ranking": { ranking: ["ANP", "Agora", "ACP", "A2A"] },
  "for the whole scenario": { scope: "scenario" },
  "with a default": { abstain: { kind: "default", protocol: "ACP" } },
  "without stance, phrases and locks": { without: ["stance", "phrases", "locks"] },
  "without priority and narrative": { without: ["priority", "narrative"] },
};

describe.each(["scenarios", "paraphrases"])("decisions over the corpus of %s", (name) => {
  for (const [how, settings] of Object.entries(SETTINGS))
    it(`pass the linter, ${how}`, async () => {
      const scenarios = await corpus(name);
      const { decisions } = await route(scenarios, settings);
      expect(decisions.length).toBeGreaterThanOrEqual(80);
      expect(problemsOf(scenarios, decisions)).toEqual([]);
    });

  it("have their members in the order of the list, and survive JSON", async () => {
    const routing = await route(await corpus(name));
    expect(Object.keys(routing)).toEqual(["decisions"]);
    const fields = DECISION_FIELDS.filter((field) => field !== "prompt_sha256");
    expect(fields).toEqual([
      "scenario_id",
      "module_id",
      "selected_protocol",
      "evidence_spans",
      "rationale",
      "margin",
      "abstained",
      "rejected",
    ]);
    expect(routing.decisions.map((decision) => Object.keys(decision))).toEqual(routing.decisions.map(() => fields));
    const rejections = routing.decisions.flatMap(({ rejected }) => rejected);
    expect(rejections.length).toBeGreaterThan(routing.decisions.length);
    expect(new Set(rejections.map((each) => Object.keys(each).join()))).toEqual(new Set(["protocol,because"]));
    expect(JSON.parse(JSON.stringify(routing))).toEqual(routing);
  });

  it("name every candidate once: as the choice, or with the reason why not", async () => {
    for (const { selected_protocol, rejected } of (await route(await corpus(name))).decisions) {
      const named = [...rejected.map(({ protocol }) => protocol), ...(selected_protocol === null ? [] : [selected_protocol])];
      expect(named.sort()).toEqual(["A2A", "ACP", "ANP", "Agora"]);
    }
  });

  it("show evidence if the text decided", async () => {
    const { decisions } = await route(await corpus(name));
    const silent = decisions.filter(({ abstained, evidence_spans }) => !abstained && evidence_spans.length === 0);
    expect(silent).toEqual([]);
  });

  it("never name a protocol, a digit or a figure in their rationale", async () => {
    const { decisions } = await route(await corpus(name));
    const texts = decisions.flatMap(({ rationale, rejected }) => [rationale, ...rejected.map(({ because }) => because)]);
    expect(texts.filter((text) => /\p{N}|\bACP\b|\bANP\b|\bAgora\b/u.test(text))).toEqual([]);
  });
});
