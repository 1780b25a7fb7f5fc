import { describe, expect, it } from "vitest";
import { sentencesOf } from "../text/clauses.js";
import { trustOf } from "./focus.js";

const trusts = (text: string): readonly number[] => trustOf(text, sentencesOf(text));

describe("trustOf()", () => {
  it("fully trusts a plain text", () => {
    expect(trusts("The bell rings. The door opens.")).toEqual([1, 1]);
    expect(trusts("")).toEqual([]);
  });

  it("trusts background less than the point", () => {
    const [approach = 1, point, after] = trusts("The bell rings. This module opens the door. It shuts it too.");
    expect(approach).toBeLessThan(1);
    expect([point, after]).toEqual([1, 1]);
  });

  it("hardly trusts a sentence that the next one retracts", () => {
    const [said = 1, , last] = trusts("The bell rings. That is another team's affair. The door opens.");
    expect(said).toBeLessThan(0.5);
    expect(last).toBe(1);
  });

  it("reads a no after a question as its answer, and after a statement as a new one", () => {
    const [asked = 1] = trusts("Should the bell ring? No. The door opens.");
    const [stated] = trusts("The bell rings. No visitor waits.");
    expect(asked).toBeLessThan(0.5);
    expect(stated).toBe(1);
  });
});
