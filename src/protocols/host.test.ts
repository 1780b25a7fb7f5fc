import { describe, expect, test } from "vitest";
import { AgentError } from "../envelope/index.js";
import { DecodeProblem } from "../transport/fields.js";
import { callerError } from "./host.js";

describe("callerError()", () => {
  const notified: unknown[] = [];
  const host = { fault: (thrown: unknown) => void notified.push(thrown) };

  test("reports unexpected errors to the host, and no details to the caller", () => {
    const bug = new TypeError("x is not a function");
    const error = callerError(host, bug);
    expect([error.code, error.message.includes("function"), notified.splice(0)]).toEqual(["internal", false, [bug]]);
  });

  test("does not report expected errors", () => {
    const thrown = new AgentError("not_found", "no such agent");
    expect(callerError(host, thrown)).toBe(thrown);
    expect(callerError(host, new AgentError("internal", "the agent failed", { cause: new Error("told before") })).code).toBe(
      "internal",
    );
    expect(callerError(host, new DecodeProblem("body", "is missing"))).toMatchObject({
      code: "invalid_message",
      facts: { field: "body" },
    });
    expect(notified).toEqual([]);
  });
});
