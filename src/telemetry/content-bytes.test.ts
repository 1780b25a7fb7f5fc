import { describe, expect, test } from "vitest";
import { type AgentEvent, NO_CONTEXT, NO_META, type Part } from "../envelope/index.js";
import { partsBytes, receivedContentBytes, sentContentBytes, utf8Length } from "./content-bytes.js";

const envelope = { id: "m", ts: 1, src: "a", dst: "b", intent: "", role: "agent", context: NO_CONTEXT, meta: NO_META } as const;
const text = (value: string): Part => ({ kind: "text", text: value, name: "not counted", mediaType: "text/plain" });

describe("utf8Length", () => {
  test.each([
    ["", 0],
    ["abc", 3],
    ["é", 2],
    ["€", 3],
    ["😀", 4],
    ["\ud800", 3],
    ["a\udc00b", 5],
  ])("%j has %i bytes", (value, want) => {
    expect(utf8Length(value)).toBe(want);
  });

  test("a text longer than one step, with pairs on the seams", () => {
    expect(utf8Length(`x${"😀".repeat(20_000)}`)).toBe(80_001);
  });
});

describe("partsBytes", () => {
  test("counts content only", () => {
    const parts: readonly Part[] = [
      text("héllo"),
      { kind: "data", data: { a: [1, "é"] } },
      { kind: "raw", bytes: new Uint8Array(7) },
      { kind: "url", url: "https://x.test/" },
    ];
    expect(partsBytes(parts)).toBe(6 + 14 + 7 + 15); // {"a":[1,"é"]} has 13 characters and 14 bytes
  });
});

describe("content of operations and events", () => {
  test("a send has its message, another operation nothing", () => {
    expect(
      sentContentBytes({ kind: "send", envelope: { ...envelope, content: [text("four")] }, delivery: "answer", task: "auto" }),
    ).toBe(4);
    expect(sentContentBytes({ kind: "task.get", taskId: "a long identifier" })).toBe(0);
  });

  test("a task has its artifacts and its status message; history was counted before", () => {
    const said = { ...envelope, content: [text("12345")] };
    const event: AgentEvent = {
      kind: "task",
      task: {
        id: "t",
        contextId: "c",
        status: { state: "completed", at: 1, message: said },
        artifacts: [{ id: "x", parts: [text("12"), text("3")] }],
        history: [said, said],
      },
    };
    expect(receivedContentBytes(event)).toBe(8);
  });

  test.each<[string, AgentEvent, number]>([
    ["message", { kind: "message", message: { ...envelope, content: [text("123")] } }, 3],
    ["status", { kind: "status", taskId: "t", contextId: "c", status: { state: "working", at: 1 } }, 0],
    [
      "artifact",
      { kind: "artifact", taskId: "t", contextId: "c", artifact: { id: "x", parts: [text("12")] }, append: true, last: false },
      2,
    ],
    ["done", { kind: "done" }, 0],
  ])("%s", (_name, event, want) => {
    expect(receivedContentBytes(event)).toBe(want);
  });
});
