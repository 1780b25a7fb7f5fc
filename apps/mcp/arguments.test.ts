import { describe, expect, it } from "vitest";
import { AgentError } from "../../src/index.js";
import { readArguments } from "./arguments.js";

describe("readArguments", () => {
  it("builds the parts of one message in order", () => {
    const files = [
      { name: "a", base64: "YQ==" },
      { url: "https://x.example/b", mediaType: "text/csv" },
    ];
    expect(readArguments({ message: "hi", data: { n: 1 }, files, task: "", session: "s" })).toEqual({
      content: [
        { kind: "text", text: "hi" },
        { kind: "data", data: { n: 1 } },
        { kind: "raw", bytes: Buffer.from("a"), name: "a" },
        { kind: "url", url: "https://x.example/b", mediaType: "text/csv" },
      ],
      session: "s",
      task: undefined,
    });
  });

  it("accepts an empty message with a task to wait for", () => {
    expect(readArguments({ message: "", task: "t" })).toEqual({ content: [], session: undefined, task: "t" });
  });

  it.each([
    [[], "arguments"],
    [{}, "message"],
    [{ message: "" }, "message"],
    [{ message: "hi", massage: 1 }, "massage"],
    [{ message: "hi", task: 7 }, "task"],
    [{ message: "hi", session: "x".repeat(513) }, "session"],
    [{ message: "hi", data: [1] }, "data"],
    [{ message: "hi", files: {} }, "files"],
    [{ message: "hi", files: Array.from({ length: 17 }, () => ({ url: "https://x.example" })) }, "files"],
    [{ message: "hi", files: [{}] }, "files[0]"],
    [{ message: "hi", files: [{ base64: "YQ==", url: "https://x.example" }] }, "files[0]"],
    [{ message: "hi", files: [{ base64: "not base64!" }] }, "files[0].base64"],
    [{ message: "hi", files: [{ url: "file:///etc/passwd" }] }, "files[0].url"],
    [{ message: "hi", files: [{ url: "https://x.example", name: 1 }] }, "files[0].name"],
  ])("rejects %j and names %s", (given, field) => {
    expect(fieldOf(given)).toBe(field);
  });
});

function fieldOf(given: unknown): string | undefined {
  try {
    readArguments(given);
    return "no error";
  } catch (thrown) {
    return AgentError.from(thrown).facts.field;
  }
}
