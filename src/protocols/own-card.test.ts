import { describe, expect, test } from "vitest";
import type { Card } from "../envelope/index.js";
import { readOwnCard, writeOwnCard } from "./own-card.js";

const BARE: Card = {
  name: "a",
  description: "d",
  version: "",
  skills: [],
  inputModes: [],
  outputModes: [],
  capabilities: { streaming: true, push: false, extended: false, idempotentSend: false, resume: false, extensions: [] },
  security: { schemes: {}, anyOf: [] },
  interfaces: [],
};
const GUARDED: Card = {
  ...BARE,
  version: "2.1.0",
  capabilities: { ...BARE.capabilities, idempotentSend: true, idempotencyWindowMs: 86_400_000, resume: true },
  security: { schemes: { key: { apiKeySecurityScheme: { location: "header", name: "X-Key" } } }, anyOf: [{ key: ["read"] }] },
};
const wire = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

describe("a card inside another protocol's description", () => {
  test("round-trips", () => {
    expect(readOwnCard(BARE, wire(writeOwnCard(GUARDED)), "own")).toEqual(GUARDED);
  });

  test("is the plain description if the peer adds no members", () => {
    expect(readOwnCard(BARE, undefined, "own")).toBe(BARE);
    expect(readOwnCard(BARE, null, "own")).toBe(BARE);
  });

  test.each([
    [7, "own must be an object, not a number"],
    [{ capabilities: { resume: "yes" } }, "own.capabilities.resume must be true or false, not a string"],
    [{ security: { schemes: { a: 1 } } }, "own.security.schemes.a must be an object, not a number"],
    [{ security: { anyOf: [{ a: "read" }] } }, "own.security.anyOf[0].a must be an array, not a string"],
    [{ security: { anyOf: Array.from({ length: 33 }, () => ({})) } }, "own.security has more than 32 entries"],
  ])("is rejected if it is invalid: %j", (value, problem) => {
    expect(() => readOwnCard(BARE, value, "own")).toThrow(problem);
  });
});
