import { describe, expect, test } from "vitest";
import { AgentError } from "../envelope/index.js";
import {
  blame,
  DecodeProblem,
  kindOf,
  optional,
  readArray,
  readBoolean,
  readInteger,
  readObject,
  readString,
  readStrings,
  readText,
} from "./fields.js";

const problemOf = (run: () => unknown): string => {
  try {
    run();
  } catch (thrown) {
    return thrown instanceof DecodeProblem ? thrown.message : `another error: ${thrown}`;
  }
  return "nothing was thrown";
};

describe("readers", () => {
  test("return matching values", () => {
    expect(readObject({ a: 1 }, "x")).toEqual({ a: 1 });
    expect(readString("", "x")).toBe("");
    expect(readText("a", "x")).toBe("a");
    expect(readBoolean(false, "x")).toBe(false);
    expect(readInteger("-12", "x")).toBe(-12);
    expect(readInteger(9007199254740991, "x")).toBe(9007199254740991);
    expect(readStrings(["a", "b"], "x")).toEqual(["a", "b"]);
    expect(optional(null, "x", readString)).toBeUndefined();
    expect(optional("a", "x", readString)).toBe("a");
  });

  test.each([
    [() => readObject([], "message"), "message must be an object, not an array"],
    [() => readObject(undefined, "message"), "message is missing; an object is expected"],
    [() => readString(1, "message.id"), "message.id must be a string, not a number"],
    [() => readString(null, "message.id"), "message.id is missing; a string is expected"],
    [() => readText("", "message.id"), "message.id must not be empty"],
    [() => readBoolean("true", "final"), "final must be true or false, not a string"],
    [() => readInteger(1.5, "size"), "size must be a whole number, not a fraction"],
    [() => readInteger("1e3", "size"), "size must be a whole number, not a string"],
    [() => readInteger("12345678901234567890", "size"), "size must be a whole number, not a string"],
    [() => readArray({}, "parts", readString), "parts must be an array, not an object"],
    [() => readStrings(["a", 2], "tags"), "tags[1] must be a string, not a number"],
  ])("names the field: %#", (run, want) => {
    expect(problemOf(run)).toBe(want);
  });
});

describe("blame", () => {
  test("uses the given error code", () => {
    const problem = new DecodeProblem("parts[0]", "has no content");
    expect(blame(problem, "bad_peer")).toMatchObject({ code: "bad_peer", facts: { field: "parts[0]" } });
    expect(blame(problem, "invalid_message")).toMatchObject({ code: "invalid_message", message: "parts[0] has no content" });
  });

  test("a protocol error code overrides invalid_message, not bad_peer", () => {
    const problem = new DecodeProblem("parts[0]", "is of an unknown kind", "unsupported_content");
    expect(blame(problem, "invalid_message").code).toBe("unsupported_content");
    expect(blame(problem, "bad_peer").code).toBe("bad_peer");
  });

  test("leaves other errors alone", () => {
    const error = new AgentError("deadline", "late");
    expect(blame(error, "bad_peer")).toBe(error);
    expect(blame(new Error("oops"), "bad_peer").code).toBe("internal");
  });
});

describe("kindOf", () => {
  test("names the kind of a value", () => {
    expect([null, [], {}, "", 1, 1.5, true, undefined].map(kindOf)).toEqual([
      "null",
      "an array",
      "an object",
      "a string",
      "a number",
      "a fraction",
      "a boolean",
      "undefined",
    ]);
  });
});
