import { readFile } from "node:fs/promises";
import { beforeAll, describe, expect, it } from "vitest";
import { type Decision, parseScenarioText, route } from "../../src/router/index.js";

const CORPUS = ["scenarios", "paraphrases", "blind", "unseen", "wordings"];

interface Answered {
  readonly decision: Decision;
  readonly label: string;
}

async function answered(name: string): Promise<readonly Answered[]> {
  const text = await readFile(new URL(`../../bench/routerbench/corpus/${name}.jsonl`, import.meta.url), "utf8");
  const { scenarios } = await parseScenarioText(text, name, { answers: true });
  const labels = scenarios.flatMap(({ modules }) => modules.map(({ label = "" }) => label));
  const asked = scenarios.map((scenario) => ({ ...scenario, modules: scenario.modules.map(({ label: _, ...rest }) => rest) }));
  const { decisions } = await route(asked);
  return decisions.map((decision, index) => ({ decision, label: labels[index] ?? "" }));
}

describe("the margin of a decision", () => {
  let all: readonly Answered[] = [];
  beforeAll(async () => {
    all = (await Promise.all(CORPUS.map(answered))).flat();
  });

  const sharesOf = (least: number) => {
    const sure = all.filter(({ decision }) => decision.margin >= least);
    const right = sure.filter(({ decision, label }) => decision.selected_protocol === label);
    return { coverage: sure.length / all.length, accuracy: right.length / sure.length };
  };

  it("means from one half on that at least 99 of 100 are right, on the project's own scenarios", () => {
    expect(all).toHaveLength(740);
    const { coverage, accuracy } = sharesOf(0.5);
    expect(accuracy).toBeGreaterThanOrEqual(0.99);
    expect(coverage).toBeGreaterThan(0.75);
  });

  it("orders decisions: the higher it must be, the more are right", () => {
    const accuracies = [0, 0.25, 0.5].map((least) => sharesOf(least).accuracy);
    expect(accuracies).toEqual(accuracies.toSorted((a, b) => a - b));
  });
});
