import { expect, it } from "vitest";
import { openSearcher } from "./searcher.js";

const SIGNAL = new AbortController().signal;

/** A searcher of agent-2 whose model says these things, one after the other. */
function searcherOf(model: "live" | "null", ...said: readonly string[]) {
  const asked: string[] = [];
  const notes: string[] = [];
  const context = {
    name: "agent-2",
    agents: ["agent-1", "agent-2", "agent-3"],
    settings: { model },
    model: {
      answer: async (prompt: string) => {
        asked.push(prompt);
        return said[asked.length - 1] ?? "";
      },
    },
    note: (kind: string) => void notes.push(kind),
  };
  return { searcher: openSearcher(context), asked, notes };
}

it("gives the prompts to a live model, and does what its tool calls say", async () => {
  const { searcher, asked } = searcherOf(
    "live",
    '{"tool": "lookup_fragment", "found": true, "answer": "Orm", "confidence": 0.8}',
    '{"tool": "send_message", "destination": "coordinator", "content": "ANSWER_FOUND: Orm"}',
  );
  const found = await searcher.lookup({ question: "Which river?", fragment: "The river Orm.", seq: 1 }, SIGNAL);
  expect(found).toEqual({ found: true, answer: "Orm", confidence: 0.8 });
  expect(await searcher.report("Which river?", found, SIGNAL)).toBe("ANSWER_FOUND: Orm");
  expect(asked[0]).toContain("You are agent-2");
  expect(asked[0]).toContain("Your neighbours are agent-1 and agent-3");
  expect(asked[0]).toContain("The river Orm.");
  expect(asked[1]).toContain("answer: Orm");
});

it("finds nothing where a model does not call the tool, and notes it", async () => {
  const { searcher, notes } = searcherOf("live", "I think it is Orm.", "Done!");
  const found = await searcher.lookup({ question: "Which river?", fragment: "The river Orm.", seq: 1 }, SIGNAL);
  expect(found).toEqual({ found: false, answer: "", confidence: 0 });
  expect(await searcher.report("Which river?", found, SIGNAL)).toBe("NOT_FOUND");
  expect(notes).toEqual(["unreadable", "unreadable"]);
});

it("asks no model where answers are those of the matcher", async () => {
  const { searcher, asked } = searcherOf("null");
  const found = await searcher.lookup(
    { question: "Which river passes Vell?", fragment: "The river Orm passes Vell.", seq: 1 },
    SIGNAL,
  );
  expect(await searcher.report("", found, SIGNAL)).toBe("ANSWER_FOUND: Orm");
  expect(asked).toEqual([]);
});
