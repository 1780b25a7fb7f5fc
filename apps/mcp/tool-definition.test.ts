import { describe, expect, it } from "vitest";
import { agent } from "../../src/index.js";
import { toolDefinition } from "./tool-definition.js";

const cardOf = (description: string) => agent({ name: "desk", description, handle: () => "" }).card;

describe("toolDefinition", () => {
  it("strips what is obeyed, hides or turns text around, and keeps lines", () => {
    const { description } = toolDefinition("desk", cardOf("one\u001b[2J\u202etwo\u200b\nthree\u{e0041}"), undefined);
    expect(description).toBe('Sends a message to the agent "desk". It says of itself: one[2Jtwo\nthree');
  });

  it("is bounded however long a card is, and never ends within a character", () => {
    const skills = Array.from({ length: 100 }, (_, index) => ({
      id: `s${index}`,
      name: "😀".repeat(500),
      description: "😀".repeat(5000),
      tags: [],
    }));
    const card = { ...cardOf("😀".repeat(100_000)), skills };
    const { description = "" } = toolDefinition("desk", card, undefined);
    expect(description.length).toBeLessThanOrEqual(2000);
    expect(description).not.toMatch(/\p{Surrogate}/u);
  });

  it("tells of one skill with its examples", () => {
    const skill = { id: "sum", name: "Sums", description: "Adds numbers", tags: [], examples: ["1 and 1"] };
    const tool = toolDefinition("desk_sum", cardOf("A desk"), skill);
    expect(tool.title).toBe("desk: Sums");
    expect(tool.description).toBe(
      'Asks the agent "desk" for its skill "Sums". It says of it: Adds numbers\nFor example:\n- 1 and 1',
    );
  });
});
