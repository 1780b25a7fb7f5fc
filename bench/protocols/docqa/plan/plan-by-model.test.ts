import { expect, it } from "vitest";
import { PlanError } from "./compile-team.js";
import { planByModel } from "./plan-by-model.js";
import { questionsOf } from "./plan-teams.js";

const questions = questionsOf({ levels: [1], perLevel: 1, seed: 4 });
const GOOD = {
  task_type: "general_qa",
  complexity: "low",
  required_tools: ["browser_use", "create_chat_completion"],
  agents: [
    { tool: "browser_use", name: "Finder", role: "finds the port" },
    { tool: "create_chat_completion", name: "Writer", role: "answers" },
  ],
  estimated_steps: 2,
  domain_areas: ["shipping"],
};

/** Replies with these in turn, and keeps what it was asked. */
function modelOf(...replies: readonly string[]) {
  const asked: string[] = [];
  const answer = async (prompt: string): Promise<string> => replies[asked.push(prompt) - 1] ?? "";
  return { asked, planner: { model: { answer }, name: "planner-1", signal: new AbortController().signal } };
}

it("makes a team of what the model proposes, in a code fence too", async () => {
  const { asked, planner } = modelOf(`Here it is:\n\`\`\`json\n${JSON.stringify(GOOD)}\n\`\`\``);
  const [planned] = await planByModel(questions, 4, planner);
  expect(planned?.team).toMatchObject({ planner: "planner-1", complexity: "low", task_id: "L1-Q1" });
  expect(planned?.team.agents.map(({ name, tools }) => [name, tools])).toEqual([
    ["Finder", ["browser_use", "search_documents"]],
    ["Writer", ["create_chat_completion", "read_table"]],
  ]);
  expect(asked[0]).toContain(questions[0]?.text);
  expect(asked[0]).not.toMatch(/\{\{/);
});

it("tells the model what was wrong with its reply", async () => {
  const wrong = { ...GOOD, agents: GOOD.agents.toReversed() };
  const { asked, planner } = modelOf("no", JSON.stringify(wrong), JSON.stringify(GOOD));
  await planByModel(questions, 4, planner);
  expect(asked).toHaveLength(3);
  expect(asked[1]).toContain("the reply is no JSON object");
  expect(asked[2]).toContain("create_chat_completion belongs to the last agent");
});

it("gives up rather than plan by rule", async () => {
  const { asked, planner } = modelOf(JSON.stringify({ ...GOOD, complexity: "high" }));
  await expect(planByModel(questions, 4, planner)).rejects.toThrow(PlanError);
  await expect(planByModel(questions, 4, planner)).rejects.toThrow("planner-1 planned no team for L1-Q1 that can be executed");
  expect(asked[1]).toContain("high means 6 to 64 steps, not 2");
});
