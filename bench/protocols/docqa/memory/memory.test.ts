import { describe, expect, it } from "vitest";
import type { NoteEvent } from "../../result/peer-event.js";
import { planByRule, questionsOf } from "../plan/plan-teams.js";
import { replay } from "./replay.js";
import { type Memory, memoriesOf } from "./step-memory.js";
import { summariseByRule } from "./summary.js";

const [question] = planByRule(questionsOf({ levels: [1], perLevel: 1, seed: 2 }), 2);
if (question === undefined) throw new Error("no question");

const note = (agent: string, kind: string, ns: number, values: NoteEvent["values"]): NoteEvent => ({
  type: "note",
  run: "r",
  agent,
  kind,
  ns,
  seq: 3,
  values,
});
const step = (agent: string, name: string, number: number, [from, to]: readonly [number, number]) =>
  note(agent, "step", to, {
    step: number,
    agent_id: agent,
    agent_name: name,
    task_id: question.id,
    status: "completed",
    started_ns: from,
    ended_ns: to,
    started_at: 1_000,
    ended_at: 1_001,
    cpu_us: 5,
    tokens: 7,
  });
const tool = (agent: string, [ns, number]: readonly [number, number], name: string, result: string) =>
  note(agent, "tool", ns, { step: number, tool: name, given: "{}", result, failure: null });
const message = (to: string, from: string, ns: number, values: NoteEvent["values"]) => ({
  ...note(to, "message", ns, values),
  about: from,
});

/** As the two agents of the first level write them down; sent by their processes in any order. */
const NOTES: readonly NoteEvent[] = [
  step("agent-2", "FeeReader", 2, [50e6, 60e6]),
  tool("agent-2", [52e6, 2], "read_table", "160"),
  tool("agent-2", [58e6, 2], "create_chat_completion", "160"),
  note("agent-2", "answer", 61e6, { task_id: question.id, text: "160" }),
  message("agent-2", "agent-1", 45e6, { fact: "port", value: '"Brisk"', n: 0, last: true, bytes: 90, delivery: "delivered" }),
  message("agent-1", "agent-2", 10e6, { fact: "start", value: "null", n: 0, last: true, bytes: 60, delivery: "delivered" }),
  tool("agent-1", [30e6, 1], "search_documents", `x home port of the ${question.given["ship"]} is Brisk.`),
  step("agent-1", "RegisterReader", 1, [20e6, 40e6]),
];

const memory = (notes: readonly NoteEvent[]): Memory => {
  const found = memoriesOf(notes).get(3);
  if (found === undefined) throw new Error("no memory");
  return found;
};

describe("the memory of a question", () => {
  it("has the steps in the order in which they ended, with what was received and called", () => {
    const { steps, answer, asked } = memory(NOTES);
    expect([asked, answer]).toEqual([3, "160"]);
    expect(steps.map((each) => [each.step, each.agent_id, each.agent_name, each.task_id, each.status])).toEqual([
      [1, "agent-1", "RegisterReader", question.id, "completed"],
      [2, "agent-2", "FeeReader", question.id, "completed"],
    ]);
    expect(steps[1]?.messages.map(({ from, fact, value }) => [from, fact, value])).toEqual([["agent-1", "port", "Brisk"]]);
    expect(steps[1]?.tool_calls.map((call) => call.tool)).toEqual(["read_table", "create_chat_completion"]);
    expect(steps[0]?.timestamps).toEqual({ started_at: 1_000, ended_at: 1_001, started_ns: 20e6, ended_ns: 40e6 });
  });

  it("gives the same answer when it is replayed", async () => {
    expect(await replay(question, memory(NOTES))).toEqual({ answer: "160", differences: [] });
  });

  it("shows in a replay what was changed in it", async () => {
    const changed = NOTES.map((each) =>
      each.values["fact"] === "port" ? { ...each, values: { ...each.values, value: '"Galt"' } } : each,
    );
    expect((await replay(question, memory(changed))).differences).toEqual(["agent-1 sent another port to agent-2"]);
    const lost = NOTES.filter((each) => each.values["fact"] !== "port");
    const { answer, differences } = await replay(question, memory(lost));
    expect(answer).toBeUndefined();
    expect(differences).toEqual(["agent-2 no longer makes 2 of its tool calls"]);
    const unused = NOTES.filter((each) => each.values["tool"] !== "create_chat_completion");
    expect((await replay(question, memory(unused))).differences).toEqual(["agent-2 makes a tool call that is not in the memory"]);
  });

  it("is summed up by rule", () => {
    expect(summariseByRule(question, memory(NOTES))).toBe(
      `Asked: ${question.text} Answer: 160. 2 of 2 steps were completed in 40.0 ms: port Brisk (RegisterReader).`,
    );
    const early = memory(NOTES.filter(({ agent }) => agent === "agent-1"));
    expect(summariseByRule(question, early)).toContain(
      "Answer: none. 1 of 2 steps were completed in 20.0 ms. Not taken: FeeReader (step 2).",
    );
  });
});
