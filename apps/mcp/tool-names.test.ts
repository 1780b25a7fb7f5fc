import { describe, expect, it } from "vitest";
import { safeName, UniqueNames } from "./tool-names.js";

describe("safeName", () => {
  it.each([
    ["Travel Planner", "Travel_Planner"],
    ["a/b:c.d", "a_b_c_d"],
    ["Café", "Cafe"],
    ["__x__", "x"],
    ["x".repeat(80), "x".repeat(48)],
    ["旅行", undefined],
    ["", undefined],
  ])("%j is %j", (text, name) => expect(safeName(text)).toBe(name));
});

describe("UniqueNames", () => {
  it("assigns a unique, case-insensitive, permanent name to each key", () => {
    const book = new UniqueNames(["taken"]);
    expect(book.nameFor("1", "echo")).toBe("echo");
    expect(book.nameFor("2", "Echo")).toBe("Echo_2");
    expect(book.nameFor("3", "taken")).toBe("taken_2");
    expect(book.nameFor("4", "旅行")).toBe("agent");
    expect(book.nameFor("1", "renamed meanwhile")).toBe("echo");
  });

  it("stays within the length limit when it appends a number", () => {
    const book = new UniqueNames();
    book.nameFor("1", "x".repeat(60));
    expect(book.nameFor("2", "x".repeat(60))).toBe(`${"x".repeat(46)}_2`);
  });
});
