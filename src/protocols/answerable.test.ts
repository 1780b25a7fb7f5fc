import { describe, expect, test } from "vitest";
import { AgentError } from "../envelope/index.js";
import { DecodeProblem } from "../transport/fields.js";
import { answerable } from "./answerable.js";

describe("answerable()", () => {
  const told: unknown[] = [];
  const host = { fault: (thrown: unknown) => void told.push(thrown) };

  test("tells the host what nobody throws on purpose, and the caller nothing of it", () => {
    const bug = new TypeError("x is not a function");
    const error = answerable(host, bug);
    expect([error.code, error.message.includes("function"), told.splice(0)]).toEqual(["internal", false, [bug]]);
  });

  test("tells it nothing of errors that are answers", () => {
    const thrown = new AgentError("not_found", "no such agent");
    expect(answerable(host, thrown)).toBe(thrown);
    expect(answerable(host, new AgentError("internal", "the agent failed", { cause: new Error("told before") })).code).toBe(
      "internal",
    );
    expect(answerable(host, new DecodeProblem("body", "is missing"))).toMatchObject({
      code: "invalid_message",
      facts: { field: "body" },
    });
    expect(told).toEqual([]);
  });
});
