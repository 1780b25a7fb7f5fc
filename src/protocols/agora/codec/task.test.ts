import { describe, expect, it } from "vitest";
import { type Envelope, type State, type Task, textPart } from "../../../envelope/index.js";
import { DecodeProblem } from "../../../transport/fields.js";
import { readTask, reportTaskLosses, shownParts, writeTask } from "./task.js";

const sent: Envelope = {
  id: "m",
  ts: 7,
  src: "a",
  dst: "b",
  intent: "",
  role: "agent",
  content: [textPart("words")],
  context: {},
  meta: {},
};

const task = (more: Partial<Task> = {}): Task => ({
  id: "t-1",
  contextId: "s-1",
  status: { state: "completed", at: 1_767_323_045_678 },
  artifacts: [],
  history: [],
  ...more,
});

/** Encodes, serializes and decodes. */
function across(given: Task, body: string): Task | undefined {
  const wire = JSON.parse(JSON.stringify(writeTask(given, body)));
  return readTask({ receipt: { id: given.id, state: given.status.state }, task: wire }, body);
}

describe("a task in a reply", () => {
  it.each<readonly [string, Task, string]>([
    ["nothing but done", task(), ""],
    ["one text", task({ artifacts: [{ id: "a", parts: [textPart("hi")] }] }), "hi"],
    [
      "artifacts with all they have",
      task({
        metadata: { m: 1 },
        artifacts: [
          {
            id: "a",
            name: "n",
            description: "d",
            parts: [textPart("x"), { kind: "raw", bytes: new Uint8Array([0, 255]) }],
            metadata: { k: [] },
          },
          { id: "b", parts: [{ kind: "data", data: 7, mediaType: "application/json" }], extensions: ["urn:e"] },
        ],
      }),
      "x",
    ],
    ["words of the status", task({ status: { state: "completed", at: 3, message: sent } }), "words"],
    ["words of the history", task({ history: [sent] }), "words"],
    ["a question", task({ status: { state: "input-required", at: 3, message: sent } }), "words"],
    ["why it failed", task({ status: { state: "failed", at: 3, error: { code: "too_large", message: "no" } } }), "no"],
    [
      "what there was before it was canceled",
      task({ status: { state: "canceled", at: 3 }, artifacts: [{ id: "a", parts: [] }] }),
      "the work was canceled",
    ],
    ["work that goes on", task({ status: { state: "working", at: 3, message: sent } }), "The work goes on."],
  ])("round-trips: %s", (_what, given, body) => {
    expect(across(given, body)).toEqual(given);
  });

  it("does not repeat the body", () => {
    const long = "x".repeat(1_000);
    expect(JSON.stringify(writeTask(task({ artifacts: [{ id: "a", parts: [textPart(long)] }] }), long)).length).toBeLessThan(200);
  });

  it("yields to a changed body", () => {
    const wire = { ...writeTask(task({ artifacts: [{ id: "a", name: "n", parts: [textPart("a"), textPart("b")] }] }), "ab") };
    const metadata = { receipt: { id: "t-1", state: "completed" }, task: wire };
    expect(readTask(metadata, "ab")?.artifacts[0]?.name).toBe("n");
    expect(readTask(metadata, "changed")).toBeUndefined();
  });

  it.each<readonly [string, object]>([
    ["no session", { at: 1, artifacts: [] }],
    ["artifacts that are none", { session: "s", at: 1, artifacts: [{ id: 7 }] }],
    ["content that is none", { session: "s", at: 1, artifacts: [{ id: "a", content: 7 }] }],
    ["a message that is none", { session: "s", at: 1, artifacts: [], message: { src: 7 } }],
  ])("names the invalid member: %s", (_what, wire) => {
    expect(() => readTask({ receipt: { id: "t", state: "completed" }, task: { ...wire } }, "")).toThrow(DecodeProblem);
  });

  it("is ignored if the state of the receipt is unknown", () => {
    for (const state of [undefined, "finished"])
      expect(readTask({ receipt: { id: "t", state }, task: { ...writeTask(task(), "") } }, "")).toBeUndefined();
  });
});

describe("the losses of a task for a plain caller", () => {
  const lossesOf = (given: Task, shown = true): readonly string[] => {
    const losses: string[] = [];
    reportTaskLosses(given, shown, ({ path }) => losses.push(path));
    return losses;
  };

  it("are reported by path", () => {
    const artifacts = [
      { id: "a", name: "n", parts: [textPart("x")] },
      { id: "b", parts: [textPart("y")] },
    ];
    expect(lossesOf(task({ artifacts, metadata: { m: 1 }, history: [sent] }))).toEqual([
      "task.metadata",
      "task.artifacts[0].name",
      "task.artifacts[1]",
      "task.history",
    ]);
    expect(lossesOf(task({ artifacts: [{ id: "a", parts: [textPart("x")] }] }))).toEqual([]);
    expect(lossesOf(task({ status: { state: "failed", at: 1 }, artifacts: [{ id: "a", parts: [] }] }), false)).toEqual([
      "task.artifacts[0]",
    ]);
  });
});

describe("the text of a task", () => {
  it.each<readonly [State, string]>([
    ["completed", "xy"],
    ["input-required", "words"],
  ])("in the state %s", (state, expected) => {
    const status = { state, at: 1, message: sent } as Task["status"];
    const shown = shownParts(task({ status, artifacts: [{ id: "a", parts: [textPart("x"), textPart("y")] }] }));
    expect(shown).toEqual([textPart(expected)]);
  });
});
