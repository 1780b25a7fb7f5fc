import { describe, expect, it } from "vitest";
import { sentencesOf } from "../text/clauses.js";
import { trustOf } from "./focus.js";

const trusts = (text: string): readonly number[] => trustOf(text, sentencesOf(text));

describe("trustOf()", () => {
  it("takes a plain text at its word", () => {
    expect(trusts("The bell rings. The door opens.")).toEqual([1, 1]);
    expect(trusts("")).toEqual([]);
  });

  it("takes what stands before the point less seriously than the point", () => {
    const [approach = 1, point, after] = trusts("The bell rings. This module opens the door. It shuts it too.");
    expect(approach).toBeLessThan(1);
    expect([point, after]).toEqual([1, 1]);
  });

  it("hardly believes what the next sentence takes back", () => {
    const [said = 1, , last] = trusts("The bell rings. That is another team's affair. The door opens.");
    expect(said).toBeLessThan(0.5);
    expect(last).toBe(1);
  });

  it("takes a no after a question for the answer, and after a statement for a new thought", () => {
    const [asked = 1] = trusts("Should the bell ring? No. The door opens.");
    const [stated] = trusts("The bell rings. No visitor waits.");
    expect(asked).toBeLessThan(0.5);
    expect(stated).toBe(1);
  });
});
