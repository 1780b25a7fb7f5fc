import { describe, expect, test } from "vitest";
import { answerOf } from "./answer.js";
import { type Envelope, NO_CONTEXT, NO_META } from "./envelope.js";
import { TaskFold } from "./fold.js";
import { textPart } from "./part.js";
import type { Artifact, Task } from "./task.js";

function said(id: string, role: "user" | "agent" = "agent"): Envelope {
  return { id, ts: 0, src: "", dst: "", intent: "", role, content: [textPart(id)], context: NO_CONTEXT, meta: NO_META };
}
const artifact = (id: string, ...texts: readonly string[]): Artifact => ({ id, parts: texts.map(textPart) });
const START: Task = {
  id: "t",
  contextId: "c",
  status: { state: "submitted", at: 1 },
  artifacts: [],
  history: [said("ask", "user")],
};
const OF_TASK = { taskId: "t", contextId: "c" };
const texts = (task: Task): readonly string[][] =>
  task.artifacts.map(({ parts }) => parts.map((part) => (part.kind === "text" ? part.text : "?")));

describe("TaskFold", () => {
  test("appends to an artifact, or replaces it", () => {
    const fold = new TaskFold(START);
    const put = (put: Artifact, append: boolean): void =>
      fold.apply({ kind: "artifact", ...OF_TASK, artifact: put, append, last: false });
    put(artifact("a", "1"), false);
    put(artifact("a", "2"), true);
    put(artifact("b", "x"), true);
    put(artifact("b", "y"), false);
    expect(texts(fold.snapshot())).toEqual([["1", "2"], ["y"]]);
  });

  test("moves a status message to the history with the next status", () => {
    const fold = new TaskFold(START);
    fold.apply({ kind: "status", ...OF_TASK, status: { state: "working", at: 2, message: said("busy") } });
    expect(fold.snapshot().history.map(({ id }) => id)).toEqual(["ask"]);
    fold.addMessage(said("more", "user"));
    fold.apply({ kind: "status", ...OF_TASK, status: { state: "completed", at: 3 } });
    const task = fold.snapshot();
    expect(task.history.map(({ id }) => id)).toEqual(["ask", "more", "busy"]);
    expect(task.status).toEqual({ state: "completed", at: 3 });
  });

  test("starts over from a whole task", () => {
    const fold = new TaskFold({ ...START, artifacts: [artifact("old", "o")] });
    fold.apply({ kind: "task", task: { ...START, artifacts: [artifact("new", "n")], history: [] } });
    expect(texts(fold.snapshot())).toEqual([["n"]]);
    expect(fold.snapshot().history).toEqual([]);
  });

  test("returns snapshots that later events do not change", () => {
    const fold = new TaskFold({ ...START, artifacts: [artifact("a", "1")] });
    const before = fold.snapshot();
    fold.apply({ kind: "artifact", ...OF_TASK, artifact: artifact("a", "2"), append: true, last: true });
    fold.addMessage(said("late", "user"));
    expect(texts(before)).toEqual([["1"]]);
    expect(before.history).toHaveLength(1);
    expect(START.history).toHaveLength(1);
  });
});

describe("answerOf()", () => {
  test("is the artifacts, else the status message, else the agent's last message", () => {
    const message = said("status");
    const history = [said("first"), said("last"), said("you", "user")];
    const done = { state: "completed", at: 2, message } as const;
    expect(answerOf({ ...START, status: done, history, artifacts: [artifact("a", "1"), artifact("b", "2")] })).toEqual([
      textPart("1"),
      textPart("2"),
    ]);
    expect(answerOf({ ...START, status: done, history })).toEqual([textPart("status")]);
    expect(answerOf({ ...START, history })).toEqual([textPart("last")]);
    expect(answerOf(START)).toEqual([]);
  });
});
