import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { stormFaults } from "../harness/plan-storm.js";
import { Journal } from "./journal.js";
import { parseItems } from "./jsonl.js";
import { contains, isRight, lookupFragment } from "./matcher.js";
import { readLookup, readSending, SHARD_PROMPTS, writePrompt } from "./prompts.js";
import { readItems, readShards } from "./read-shards.js";

const SOURCE = { kind: "generated", groups: 16, seed: 3 } as const;

describe("questions", () => {
  it("are answered by the one text that has their fact, and by no other of their group", () => {
    const { items } = readItems(SOURCE);
    expect(new Set(items.map(({ question }) => question)).size).toBe(128);
    for (const [index, { question, answer }] of items.entries()) {
      const group = items.slice(index - (index % 8), index - (index % 8) + 8);
      const found = group.filter(({ content }) => lookupFragment(question, content).found);
      expect(found).toEqual([items[index]]);
      expect(lookupFragment(question, items[index]?.content ?? "").answer).toBe(answer);
    }
  });

  it("are dealt so that each text is with one agent, the same for the same seed", () => {
    const { items, fragmentsOf, holderOf } = readShards(SOURCE, 8);
    const dealt = Array.from({ length: 8 }, (_, agent) => fragmentsOf(agent));
    expect(dealt.map((fragments) => fragments.length)).toEqual(Array.from({ length: 8 }, () => 16));
    expect(new Set(dealt.flat().map(({ text }) => text)).size).toBe(128);
    expect(dealt[holderOf(77)]).toContainEqual({ group: 9, text: items[77]?.content });
    expect(readShards(SOURCE, 8).fragmentsOf(2)).toEqual(dealt[2]);
    expect(() => readShards({ ...SOURCE, groups: 1 }, 9)).toThrow("8 questions are too few for 9 agents");
  });

  it("are judged by words: case, punctuation and a longer sentence do not matter, other words do", () => {
    expect(isRight("It was ADA Brandt.", "Ada Brandt")).toBe(true);
    expect(isRight("Ada Falk and Bruno Brandt", "Ada Brandt")).toBe(false);
    expect(contains("anything", "")).toBe(false);
  });
});

describe("a file of questions", () => {
  const hotpot = {
    _id: "h1",
    question: "Which river passes the town of Vell?",
    answer: "Orm",
    context: [["Vell", ["Vell is a town.", "The river Orm passes Vell."]]],
    supporting_facts: [["Vell", 1]],
  };
  const columns = {
    id: "w1",
    question: "Which river passes the town of Vell?",
    answer: "Orm",
    context: { title: ["Vell"], sentences: [["Vell is a town.", "The river Orm passes Vell."]] },
    supporting_facts: { title: ["Vell"], sent_id: [1] },
  };

  it("is read in the forms of HotpotQA and 2WikiMultihopQA, with the sentences that support the answer", () => {
    const plain = { question: "Q?", answer: "yes", content: "Nothing of it." };
    const { items, skipped } = parseItems([hotpot, columns, plain].map((line) => JSON.stringify(line)).join("\n"), "f");
    expect(items.map(({ id, content }) => [id, content])).toEqual([
      ["h1", "The river Orm passes Vell."],
      ["w1", "The river Orm passes Vell."],
    ]);
    expect(skipped).toBe(1);
  });

  it("is refused with the line that is wrong, and where it cannot be read", () => {
    const good = JSON.stringify(hotpot);
    expect(() => parseItems(`${good}\n{"question": 3}`, "f.jsonl")).toThrow("f.jsonl:2: a question has question, answer");
    expect(() => parseItems(`${good}\n\nno`, "f.jsonl")).toThrow("f.jsonl:3: not JSON");
    expect(() => readItems({ kind: "file", path: "/nowhere/f.jsonl", seed: 1 })).toThrow("cannot read /nowhere/f.jsonl");
  });
});

describe("the journal of an agent", () => {
  it("gives fragments and answers back to the next process, and forgets a line that was cut", () => {
    const folder = mkdtempSync(join(tmpdir(), "koine-journal-"));
    try {
      const before = new Journal(folder);
      before.keep([{ group: 4, text: "a fact" }]);
      before.answered("q-1", "ANSWER_FOUND: yes");
      writeFileSync(join(folder, "journal.ndjson"), '{"key":"q-2","ans', { flag: "a" });
      const after = new Journal(folder);
      expect(after.answerOf("q-1")).toBeUndefined();
      expect(after.restore()).toBeGreaterThan(0);
      expect(after.answerOf("q-1")).toBe("ANSWER_FOUND: yes");
      expect(after.answerOf("q-2")).toBeUndefined();
      expect(after.fragments).toEqual([{ group: 4, text: "a fact" }]);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

describe("the prompts", () => {
  it("have every place filled, and show the calls that are read", () => {
    const ring = { agent: "agent-1", previous: "agent-8", next: "agent-2", question: "Q {fragment}?" };
    const search = writePrompt(SHARD_PROMPTS.search, { ...ring, fragment: "a text" });
    expect(search).toContain("Q {fragment}?");
    expect(search).not.toMatch(/\{(agent|previous|next|question)\}/);
    const worker = writePrompt(SHARD_PROMPTS.worker, { ...ring, question: "Q?", found: "true", answer: "A", confidence: "1" });
    expect(readSending(worker.split("\n").find((line) => line.includes("ANSWER_FOUND")) ?? "")).toBe("ANSWER_FOUND: the answer");
    expect(worker).not.toMatch(/\{\w+\}/);
  });

  it("are read strictly: what is not the call of the tool is nothing", () => {
    const call = { tool: "lookup_fragment", found: true, answer: "Orm", confidence: 0.9 };
    expect(readLookup(`Sure.\n${JSON.stringify(call)}`)).toEqual({ found: true, answer: "Orm", confidence: 0.9 });
    expect(readLookup(JSON.stringify({ ...call, answer: "" }))?.found).toBe(false);
    expect(readLookup(JSON.stringify({ ...call, confidence: 7 }))).toBeUndefined();
    expect(readLookup(JSON.stringify({ ...call, tool: "send_message" }))).toBeUndefined();
    expect(readSending('{"tool": "send_message", "destination": "agent-2", "content": "x"}')).toBeUndefined();
    expect(readLookup("found it!")).toBeUndefined();
  });
});

describe("the schedule of a storm", () => {
  const choice = { agents: 8, fraction: 0.375, everyMs: 1_000, forMs: 200, untilMs: 3_000, recoveries: ["journal"] } as const;

  it("kills three of eight in every cycle, the same ones for the same seed", () => {
    const faults = stormFaults({ ...choice, kind: "kill" }, 7);
    expect(faults.map(({ atMs }) => atMs)).toEqual([1_000, 1_000, 1_000, 2_000, 2_000, 2_000]);
    expect(new Set(faults.slice(0, 3).map(({ target }) => target)).size).toBe(3);
    expect(stormFaults({ ...choice, kind: "kill" }, 7)).toEqual(faults);
    expect(stormFaults({ ...choice, kind: "kill" }, 8)).not.toEqual(faults);
  });

  it("cuts all edges of an agent for a partition, and both directions for a link", () => {
    const cut = stormFaults({ ...choice, kind: "partition", fraction: 0.125, untilMs: 2_000 }, 7);
    const [{ victim = "" } = {}] = cut;
    // From and to each of the seven others, and from the caller.
    expect(cut).toHaveLength(15);
    expect(cut.every(({ target, kind }) => kind === "partition" && target.split(">").includes(victim))).toBe(true);
    const [there, back] = stormFaults({ ...choice, kind: "link", fraction: 0.125, untilMs: 2_000 }, 7);
    expect(there).toMatchObject({ kind: "loss", share: 1, victim: there?.target });
    expect(back).toMatchObject({ target: there?.target.split(">").reverse().join(">"), victim: there?.target });
  });
});
