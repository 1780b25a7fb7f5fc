import { describe, expect, it } from "vitest";
import { readSettings, SETTINGS } from "./settings.js";

describe("readSettings()", () => {
  it("accepts the examples of the help texts, and every setting has one", () => {
    const given = Object.fromEntries(
      SETTINGS.map(({ name, kind, example }) => [name, kind === "text" ? example : (JSON.parse(example) as number | boolean)]),
    );
    expect(readSettings(given)).toEqual(given);
    expect(Object.keys(readSettings(undefined)).sort()).toEqual(SETTINGS.map(({ name }) => name).sort());
  });

  it.each([
    ["dialect", "latin"],
    ["naturalLanguage", true],
    ["conversationMs", "300000"],
    ["conversationMs", 2_147_483_648],
    ["replyWithinMs", 0],
    ["replyWithinMs", 1.5],
    ["maxConversations", 10_001],
    ["implementationThreshold", -1],
    ["conversationIdle", "yes"],
    ["followSources", 1],
    ["unknown", 1],
  ])("rejects %s: %s, and names it", (name, value) => {
    expect(() => readSettings({ [name]: value })).toThrow(
      expect.objectContaining({ code: "invalid_message", facts: { field: name } }),
    );
  });
});
