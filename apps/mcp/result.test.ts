import { describe, expect, it } from "vitest";
import { AgentError, newEnvelope, type Part, type Status, type Task } from "../../src/index.js";
import type { CallEnd } from "./call-agent.js";
import { resultOf } from "./result.js";

const MIB = 1024 * 1024;
const noHint = () => undefined;

function taskOf(status: Partial<Status> & Pick<Status, "state">, parts: readonly Part[] = []): Task {
  const artifacts = parts.length === 0 ? [] : [{ id: "a1", name: "report", parts }];
  return { id: "t1", contextId: "c1", status: { at: 0, ...status } as Status, artifacts, history: [] }; // a state and its fields
}

function ended(task: Task, error?: AgentError): CallEnd {
  return { answer: { kind: "task", task }, error, taskId: task.id, session: task.contextId };
}

describe("resultOf", () => {
  it("lists the artifacts of an answer with their types", () => {
    const task = taskOf({ state: "completed" }, [
      { kind: "text", text: "hello" },
      { kind: "raw", bytes: new Uint8Array([1]), mediaType: "audio/wav" },
    ]);
    expect(resultOf(ended(task), noHint)).toEqual({
      content: [
        { type: "text", text: "hello" },
        { type: "audio", data: "AQ==", mimeType: "audio/wav" },
      ],
      structuredContent: {
        state: "completed",
        text: "hello",
        taskId: "t1",
        session: "c1",
        artifacts: [{ id: "a1", name: "report", mediaTypes: ["text/plain", "audio/wav"] }],
      },
    });
  });

  it("omits and reports parts that would exceed the line limit of the official client", () => {
    const parts: Part[] = [
      { kind: "text", text: "\u0000".repeat(900_000) },
      { kind: "raw", bytes: new Uint8Array(2 * MIB), mediaType: "image/png", name: "small.png" },
      { kind: "raw", bytes: new Uint8Array(7 * MIB), mediaType: "image/png", name: "large.png" },
      { kind: "data", data: "x".repeat(3 * MIB), name: "long" },
    ];
    const result = resultOf(ended(taskOf({ state: "completed" }, parts)), noHint);
    expect(Buffer.byteLength(JSON.stringify(result))).toBeLessThan(9 * MIB);
    expect(result.content.map(({ type }) => type)).toEqual(["text", "image"]);
    expect(result.structuredContent).toMatchObject({
      text: expect.stringContaining("(truncated: 500000 characters omitted)"),
      omitted: [expect.stringContaining("large.png"), expect.stringContaining("long")],
    });
  });

  it.each(["file:///etc/passwd", "javascript:alert(1)", "data:text/plain,x"])("does not forward %s", (url) => {
    const result = resultOf(ended(taskOf({ state: "completed" }, [{ kind: "url", url, name: "link" }])), noHint);
    expect(result.content).toEqual([{ type: "text", text: "(omitted: link: its URL is neither http nor https)" }]);
  });

  it.each([
    ["failed", "overloaded", { error: { code: "overloaded", message: "too much" } }],
    ["canceled", "cancelled", {}],
  ] as const)("%s is an error with the code %s", (state, code, fields) => {
    const result = resultOf(ended(taskOf({ state, ...fields })), () => "try again");
    expect(result.isError).toBe(true);
    expect(result.structuredContent).toMatchObject({ state, error: { code, hint: "try again" } });
  });

  it("a rejected task is an error with the reason of the agent, and no hint about credentials", () => {
    const message = newEnvelope(
      { content: "not on Sundays", src: "a", dst: "b", context: {} },
      { now: () => 0, newId: () => "m" },
    );
    const result = resultOf(ended(taskOf({ state: "rejected", message })), () => "use other credentials");
    expect(result.isError).toBe(true);
    expect(textOf(result)).toBe("not on Sundays\n\nThe agent rejected the task.");
    expect(result.structuredContent).toMatchObject({ state: "rejected", error: { code: "forbidden" } });
  });

  it("explains how to wait for a task that continues after an error, and only then", () => {
    const deadline = new AgentError("deadline", "too long");
    expect(textOf(resultOf(ended(taskOf({ state: "working" }), deadline), noHint))).toContain('task "t1"');
    expect(textOf(resultOf(ended(taskOf({ state: "working" }), new AgentError("forbidden", "no")), noHint))).not.toContain("t1");
  });
});

function textOf({ content }: ReturnType<typeof resultOf>): string {
  return content.map((block) => (block.type === "text" ? block.text : "")).join("");
}
