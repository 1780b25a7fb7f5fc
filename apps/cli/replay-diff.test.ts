import { describe, expect, it } from "vitest";
import { parseUte, textPart } from "../../src/index.js";
import { ReplayIds } from "./replay.js";
import { changedLines, differences, outcomeOf, recordedOutcome } from "./replay-diff.js";

const answerOf = (...texts: string[]) => ({ state: "completed", parts: texts.map(textPart) });
const data = (value: string) => ({ state: "completed", parts: [{ kind: "data", data: JSON.parse(value) } as const] });

describe("differences", () => {
  it.each([
    ["the same text", answerOf("a"), answerOf("a"), []],
    ["a text cut into pieces", answerOf("one ", "two"), answerOf("one two"), []],
    ["parts that became lines", answerOf("one", "two"), answerOf("one\ntwo"), []],
    ["another text", answerOf("a"), answerOf("b"), ["text"]],
    ["another state", answerOf("a"), { ...answerOf("a"), state: "failed" }, ["state"]],
    ["data in another order of members", data('{"a":1,"b":[{"d":2,"c":3}]}'), data('{"b":[{"c":3,"d":2}],"a":1}'), []],
    ["other data", data('{"a":1}'), data('{"a":2}'), ["parts"]],
    ["data that is missing", data('{"a":1}'), { state: "completed", parts: [] }, ["parts"]],
  ])("%s", (_what, recorded, now, found) => {
    expect(differences(recorded, now).map(({ what }) => what)).toEqual(found);
  });

  it("is shown without the lines that both have", () => {
    expect(changedLines({ what: "text", recorded: "a\nb\nc", now: "a\nx\ny\nc" })).toEqual(["- b", "+ x", "+ y"]);
  });

  it("a bare message is a completed answer; a failed call is its error code", () => {
    const message = parseUte('{"src":"a","dst":"b","content":{"text":"x"},"context":{},"role":"agent"}');
    expect(outcomeOf({ kind: "message", message })).toMatchObject({ state: "completed" });
    const error = { code: "overloaded", message: "later" };
    const note = { kind: "answer", direction: "in", protocol: "", status: "failed", error } as const;
    expect(recordedOutcome({ envelope: message, note })).toEqual({ state: "error:overloaded", parts: [] });
  });
});

describe("ids of a replay", () => {
  const request = (context: object) => parseUte(JSON.stringify({ id: "m", src: "a", dst: "b", content: { text: "x" }, context }));
  const newIds = () => {
    let count = 0;
    return new ReplayIds(() => `new-${++count}`);
  };

  it("maps a session to one new id, and drops the idempotency key", () => {
    const ids = newIds();
    const [first, second] = [1, 2].map(() =>
      ids.envelopeFor(request({ session_id: "s", idempotency_key: "k" }), "me", "you", 5_000),
    );
    expect(first?.context.sessionId).toMatch(/^new-/);
    expect(second?.context.sessionId).toBe(first?.context.sessionId);
    expect(first).toMatchObject({ ts: 5, src: "me", dst: "you", context: { idempotencyKey: undefined } });
  });

  it("maps a follow-up to the replayed task, and skips it if there is none", () => {
    const ids = newIds();
    expect(ids.envelopeFor(request({ task_id: "old" }), "me", "you", 0)).toBeUndefined();
    const answer = request({ task_id: "old", session_id: "s-old" });
    const task = { id: "now", contextId: "s-now", status: { state: "completed", at: 0 }, artifacts: [], history: [] } as const;
    ids.answered(answer, { kind: "task", task });
    expect(ids.envelopeFor(request({ task_id: "old", session_id: "s-old" }), "me", "you", 0)?.context).toMatchObject({
      taskId: "now",
      sessionId: "s-now",
    });
  });
});
