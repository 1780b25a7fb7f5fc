import { describe, expect, it } from "vitest";
import { agent } from "../../src/index.js";
import { toolDefinition } from "./tool-definition.js";

const cardOf = (description: string) => agent({ name: "desk", description, handle: () => "" }).card;

describe("toolDefinition", () => {
  it("strips control, invisible and bidirectional characters, and keeps line breaks", () => {
    const { description } = toolDefinition("desk", cardOf("one\u001b[2J\u202etwo\u200b\nthree\u{e0041}"), undefined);
    expect(description).toBe('Sends a message to the agent "desk". Its own description: one[2Jtwo\nthree');
  });

  it("bounds the description, and never splits a character", () => {
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

  it("describes one skill with its examples", () => {
    const skill = { id: "sum", name: "Sums", description: "Adds numbers", tags: [], examples: ["1 and 1"] };
    const tool = toolDefinition("desk_sum", cardOf("A desk"), skill);
    expect(tool.title).toBe("desk: Sums");
    expect(tool.description).toBe(
      'Calls the agent "desk" for its skill "Sums". Its own description: Adds numbers\nFor example:\n- 1 and 1',
    );
  });
});
