import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { LEVELS, MAX_PER_LEVEL } from "../data/questions.js";
import { analyseByRule, compileTeam, PlanError, type ProposedAgent } from "./compile-team.js";
import { FINAL_TOOL, RECOMMENDED_AGENTS, TEAM, teamProblems } from "./manifest.js";
import { planByRule, questionsOf } from "./plan-teams.js";

const questions = questionsOf({ levels: LEVELS, perLevel: MAX_PER_LEVEL, seed: 4 });
const planned = planByRule(questions, 4);

describe("a team by rule", () => {
  it("is one that the schema and the rules allow, of 2, 4 or 8 agents by level", () => {
    for (const { team, level } of planned) {
      expect(TEAM.safeParse(JSON.parse(JSON.stringify(team))).success).toBe(true);
      expect(teamProblems(team)).toEqual([]);
      expect(team.agents).toHaveLength(RECOMMENDED_AGENTS[level]);
      expect(team.complexity).toBe({ 1: "low", 2: "medium", 3: "high" }[level]);
    }
    expect(planByRule(questions, 4)).toEqual(planned);
  });

  it("answers last and once, and needs facts of others to do so", () => {
    for (const { team } of planned) {
      const calls = team.agents.flatMap(({ steps }) => steps.flatMap((step) => step.calls.map(({ tool }) => tool)));
      expect(calls.indexOf(FINAL_TOOL)).toBe(calls.length - 1);
      expect(team.workflow.message_flow.some(({ to }) => to === team.workflow.final)).toBe(true);
    }
  });

  it("has no answer in it", () => {
    for (const { team, answer, given } of planned) {
      const told = Object.values(given).some((value) => value.includes(answer));
      expect(told || !JSON.stringify([team.question, team.workflow]).includes(` ${answer}`)).toBe(true);
    }
  });
});

describe("a proposed team", () => {
  const question = questions.find(({ kind }) => kind === "bill");
  if (question === undefined) throw new Error("no question");
  const analysis = analyseByRule(question);
  const compile = (agents: readonly ProposedAgent[]) =>
    compileTeam(question, { ...analysis, agents }, { planner: "test", seed: 1 });
  const agent = (tool: ProposedAgent["tool"], name: string): ProposedAgent => ({ tool, name, role: "any" });

  it("may have the paper's names of tools, and fewer agents than steps", () => {
    const team = compile([agent("browser_use", "A"), agent("str_replace_editor", "B"), agent(FINAL_TOOL, "C")]);
    expect(team.agents.map(({ id, name, steps }) => [id, name, steps.map(({ step }) => step)])).toEqual([
      ["agent-1", "A", [1, 3]],
      ["agent-2", "B", [2]],
      ["agent-3", "C", [4]],
    ]);
    // The port goes to the reader of tables; the reader of notices knows it already.
    expect(team.workflow.message_flow.map(({ from, to, fact }) => `${from} ${to} ${fact}`)).toEqual([
      "agent-1 agent-2 port",
      "agent-2 agent-3 fee",
      "agent-1 agent-3 notice",
    ]);
  });

  it.each([
    [[agent("browser_use", "A"), agent(FINAL_TOOL, "B")], "no agent has read_table, which step 2 needs"],
    [[agent(FINAL_TOOL, "A"), agent("browser_use", "B")], "create_chat_completion belongs to the last agent"],
    [[agent(FINAL_TOOL, "A"), agent(FINAL_TOOL, "B")], "create_chat_completion belongs to the last agent"],
    [Array.from({ length: 11 }, (_, index) => agent(index === 10 ? FINAL_TOOL : "read_table", "X")), "11 agents"],
  ])("is refused: %j", (agents, problem) => {
    expect(() => compile(agents)).toThrow(PlanError);
    expect(() => compile(agents)).toThrow(problem);
  });
});

it("has a published schema", () => {
  const schema = JSON.parse(readFileSync(new URL("../../../../docs/docqa-team.schema.json", import.meta.url), "utf8"));
  expect(schema).toMatchObject({
    title: "Koine DocQA team",
    type: "object",
    required: expect.arrayContaining(["agents", "workflow"]),
  });
});
