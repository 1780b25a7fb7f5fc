import { describe, expect, it } from "vitest";
import type { Behaviour } from "../../behaviours/behaviour.js";
import { LEVELS } from "../data/questions.js";
import { judge } from "../judge/judge.js";
import { planByRule, questionsOf } from "../plan/plan-teams.js";
import { confineProblem } from "../tools/confine.js";
import { NO_ANSWER, teamBehaviour } from "./behaviour.js";
import type { TeamData } from "./team-data.js";

const LONG = 120_000;
const SEED = 9;
const levels = confineProblem() === undefined ? LEVELS : LEVELS.slice(0, 2);
const planned = planByRule(questionsOf({ levels, perLevel: 2, seed: SEED }), SEED);

interface Noted {
  readonly agent: string;
  readonly kind: string;
  readonly values: Readonly<Record<string, unknown>>;
}

/** Agents that call each other directly. The next message is delivered when the last one is acknowledged. */
function network(more: Partial<TeamData> = {}) {
  const data: TeamData = {
    worldSeed: SEED,
    teams: planned.map(({ team, given }) => ({ team, given })),
    budgetMs: 60_000,
    ...more,
  };
  const notes: Noted[] = [];
  const names = Array.from({ length: 8 }, (_, index) => `agent-${index + 1}`);
  const members = new Map<string, Behaviour>();
  const signal = new AbortController().signal;
  for (const name of names)
    members.set(
      name,
      teamBehaviour({
        name,
        agents: names,
        data: structuredClone(data),
        model: { answer: async (payload) => payload },
        seed: SEED,
        now: () => 0,
        restarts: 0,
        stateFolder: "",
        // Only the mode of the model is read.
        settings: { model: "null" } as never,
        condition: { id: "closed", load: { loop: "closed", clients: 1 }, faults: [] },
        note: (kind, { values = {} } = {}) => void notes.push({ agent: name, kind, values }),
        peers: {
          names,
          connect: async () => undefined,
          send: async (to, text) => {
            const answer = await members.get(to)?.handle({ payload: text, text, seq: undefined, from: name }, signal);
            return { ok: true, text: answer ?? "" };
          },
        },
      }) as Behaviour,
    );
  const ask = async (index: number): Promise<string> => {
    const team = planned[index]?.team;
    const text = JSON.stringify({ kind: "question", task: team?.task_id });
    return (
      (await members.get(team?.workflow.final ?? "")?.handle({ payload: text, text, seq: index, from: undefined }, signal)) ?? ""
    );
  };
  return { ask, notes };
}

const scoreOf = async (more: Partial<TeamData> = {}): Promise<number> => {
  const { ask } = network(more);
  const answers = await Promise.all(planned.map((_, index) => ask(index)));
  return planned.filter(
    ({ answer }, index) => judge(answer, { answer: answers[index], planned: 1, completed: 1, flawed: 0 }).is_correct,
  ).length;
};

describe("a team", { timeout: LONG }, () => {
  it("answers every question of every level exactly", async () => {
    expect(await scoreOf()).toBe(planned.length);
  });

  it("keeps every step, tool call and message, with the agents of the plan", async () => {
    const { ask, notes } = network();
    const at = planned.findIndex(({ kind }) => kind === "bill");
    await ask(at);
    const steps = notes
      .filter(({ kind }) => kind === "step")
      .map(({ values }) => [values["step"], values["agent_name"], values["status"]]);
    expect(steps).toEqual(
      expect.arrayContaining([
        [1, "RegisterReader", "completed"],
        [2, "FeeReader", "completed"],
        [3, "NoticeReader", "completed"],
        [4, "Accountant", "completed"],
      ]),
    );
    expect(steps).toHaveLength(4);
    const facts = notes
      .filter(({ kind }) => kind === "message")
      .map(({ agent, values }) => `${agent} ${values["fact"]} ${values["n"]}`);
    expect(facts.sort()).toEqual([
      "agent-1 start 0",
      "agent-2 port 0",
      "agent-3 port 0",
      "agent-4 fee 0",
      "agent-4 notice 0",
      "agent-4 notice 1",
      "agent-4 notice 2",
    ]);
    expect(notes.find(({ kind }) => kind === "answer")?.values["text"]).toBe(planned[at]?.answer);
  });

  // Both wait for their budget, so at the same time.
  it.concurrent("answers none if one message of each question is lost", async () => {
    expect(await scoreOf({ budgetMs: 3_000, disturb: { kind: "drop", count: 1, seed: 1 } })).toBe(0);
  });

  it.concurrent("answers none if one message of each question is late", async () => {
    expect(await scoreOf({ budgetMs: 3_000, disturb: { kind: "late", count: 1, seed: 1 } })).toBe(0);
  });

  it("is wrong where the order of messages decides, if they come in another", async () => {
    const { ask } = network({ disturb: { kind: "reorder", count: 1, seed: 1 } });
    for (const [index, question] of planned.entries()) {
      const ordered = ["bill", "spread", "total"].includes(question.kind);
      const answer = await ask(index);
      if (ordered) expect(answer).not.toBe(question.answer);
      else expect(answer).toBe(question.answer);
      expect(answer).not.toBe(NO_ANSWER);
    }
  });

  it("says that it does not know when its budget is over", async () => {
    const { ask } = network({ budgetMs: 1, disturb: { kind: "drop", count: 20, seed: 1 } });
    expect(await ask(0)).toBe(NO_ANSWER);
  });
});
