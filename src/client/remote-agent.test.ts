import { describe, expect, test } from "vitest";
import type { EventOf, Status } from "../envelope/index.js";
import { textOfAnswer } from "./remote-agent.js";

const ended = (status: Status): EventOf<"send"> => ({
  kind: "task",
  task: { id: "t-1", contextId: "", status, artifacts: [{ id: "result", parts: [{ kind: "text", text: "half" }] }], history: [] },
});
const said = (text: string): NonNullable<Status["message"]> => ({
  id: "m-1",
  ts: 0,
  src: "",
  dst: "",
  intent: "",
  role: "agent",
  content: [{ kind: "text", text }],
  context: {},
  meta: {},
});

describe("textOfAnswer()", () => {
  test.each<[Status, string, string]>([
    [{ state: "failed", at: 0, error: { code: "not_found", message: "no file" } }, "not_found", "the task was failed: no file"],
    [
      { state: "failed", at: 0, message: said("sorry"), error: { code: "not_found", message: "no file" } },
      "not_found",
      "the task was failed: sorry",
    ],
    [{ state: "failed", at: 0 }, "internal", "the task was failed"],
    [{ state: "rejected", at: 0, message: said("not my job") }, "forbidden", "the task was rejected: not my job"],
    [{ state: "canceled", at: 0 }, "cancelled", "the task was canceled"],
  ])("of a task that did not end well throws why", (status, code, message) => {
    expect(() => textOfAnswer(ended(status))).toThrow(expect.objectContaining({ code, message }));
  });

  test("of a completed task is its output", () => {
    expect(textOfAnswer(ended({ state: "completed", at: 0 }))).toBe("half");
  });
});
