import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  type Plan,
  planByRule,
  promptInput,
  questionEntries,
  questionsOf,
  runBench,
  scenarios,
  TEAM_PROMPTS,
  teamData,
  verifyFolder,
} from "../../bench/protocols/index.js";
import { openProtocols } from "../helpers/open-protocols.js";
import { options, testPlan, withFolder } from "./stage.js";

const LONG = 300_000;
const SEED = 11;
const questions = [...planByRule(questionsOf({ levels: [1, 2], perLevel: 2, seed: SEED }), SEED)];

function docqaPlan(budgetMs: number, disturb?: Plan["conditions"][number]["disturb"]): Plan {
  const plan = testPlan({
    scenario: scenarios.docqa,
    protocols: openProtocols.slice(0, 2).map(({ id }) => id),
    controls: false,
    settings: {
      agents: 4,
      requests: questions.length,
      dispatch: "named",
      topology: "mesh",
      behaviour: "docqa",
      budgetMs,
      messageTimeoutMs: 2 * budgetMs,
      payloadBytes: 0,
      seed: SEED,
    },
  });
  const conditions = plan.conditions.map((condition) => (disturb === undefined ? condition : { ...condition, disturb }));
  return { ...plan, questions, conditions };
}

const MORE = {
  entries: questionEntries(questions, SEED),
  dataFor: teamData,
  inputs: Object.values(TEAM_PROMPTS).map(promptInput),
};

describe("teams of agents", { timeout: LONG }, () => {
  it("are right over every protocol, and judged the same again", () =>
    withFolder(async (folder) => {
      // Long enough for the busiest machine: nobody waits for it here.
      const { docqa, checks, runs, plan } = await runBench(options(folder, docqaPlan(100_000), MORE));
      expect(runs.map(({ status, invalid }) => [status, invalid])).toEqual([
        ["complete", []],
        ["complete", []],
      ]);
      expect(checks).toMatchObject({ witness: { passed: true }, fairness: { passed: true }, replay: { passed: true } });
      expect(docqa?.arms.map(({ success, quality }) => [success.hits, success.of, quality])).toEqual([
        [4, 4, 5],
        [4, 4, 5],
      ]);
      expect(docqa?.pairs).toMatchObject([{ questions: 4, onlyA: 0, onlyB: 0, p: null }]);
      for (const { messages, disturbed, agents } of docqa?.runs ?? []) {
        // Start, port, fee or master: two. Start, two ports, fee and three notices: seven. Two starts, two ports, two fees: six.
        expect([messages, disturbed]).toEqual([2 + 2 + 7 + 6, 0]);
        expect(agents.map(({ agent, steps }) => [agent, steps])).toEqual([
          ["agent-1", 4],
          ["agent-2", 4],
          ["agent-3", 2],
          ["agent-4", 2],
        ]);
      }
      expect(plan.questions).toEqual(questions);
      expect((await verifyFolder(join(folder, "result"))).differences).toEqual([]);
    }));

  it("are right about nothing if one message of each question is lost", () =>
    withFolder(async (folder) => {
      const plan = docqaPlan(1_000, { kind: "drop", count: 1 });
      const { docqa } = await runBench(options(folder, plan, MORE));
      expect(docqa?.arms.map(({ success }) => [success.hits, success.of])).toEqual([
        [0, 4],
        [0, 4],
      ]);
      expect(docqa?.arms.map(({ quality }) => (quality ?? 5) < 4)).toEqual([true, true]);
    }));
});
