import { describe, expect, it } from "vitest";
import { boundedContext, CONTEXT_CHARACTERS, contextKey } from "./context-key.js";

describe("contextKey()", () => {
  it("is readable, and independent of the order of capabilities", () => {
    const key = contextKey({ capabilities: ["streaming", "idempotency"], peer: "loopback" });
    expect(key).toBe("idempotency+streaming|loopback");
    expect(contextKey({ capabilities: ["idempotency", "streaming", "idempotency"], peer: "loopback" })).toBe(key);
  });

  it("distinguishes peers and capabilities", () => {
    const keys = [
      contextKey({ capabilities: [], peer: "public" }),
      contextKey({ capabilities: [], peer: "private" }),
      contextKey({ capabilities: ["streaming"], peer: "public" }),
      contextKey({ capabilities: [], peer: "streaming|public" }),
    ];
    expect(new Set(keys).size).toBe(keys.length);
  });
});

describe("boundedContext()", () => {
  it("keeps a plain context as it is", () => {
    const longest = "a".repeat(CONTEXT_CHARACTERS);
    expect(boundedContext(longest)).toBe(longest);
  });

  it("bounds any other input, and still distinguishes it", () => {
    const odd = [
      "",
      "x".repeat(1_000_000),
      `${"x".repeat(999_999)}y`,
      "Public",
      "public\0",
      "\ud800",
      "\udbff",
      "naïve",
      "../..~",
      "x".repeat(201),
    ];
    const bounded = odd.map(boundedContext);
    expect(new Set(bounded).size).toBe(odd.length);
    for (const each of bounded) {
      expect(each.length).toBeLessThanOrEqual(CONTEXT_CHARACTERS);
      expect(each).toMatch(/^[a-z0-9.:+_|/-]*~[0-9a-f]{16}$/);
    }
    expect(odd.map(boundedContext)).toEqual(bounded);
  });
});
