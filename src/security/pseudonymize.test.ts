import { createHmac } from "node:crypto";
import { describe, expect, it } from "vitest";
import { createPseudonymizer } from "./pseudonymize.js";

const SECRET = Buffer.from("0123456789abcdef0123456789abcdef");

describe("createPseudonymizer()", () => {
  it("creates an HMAC-SHA-256 in the form of a version 8 UUID", () => {
    const mac = createHmac("sha256", SECRET).update('["agent","session","owner","c-1"]').digest("hex");
    const veiled = createPseudonymizer("agent", SECRET)("owner", "session", "c-1");
    expect(veiled).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(veiled.replaceAll("-", "").slice(0, 12)).toBe(mac.slice(0, 12));
  });

  it("covers names with characters that JSON escapes", () => {
    const [agent, owner, value] = ['a"', "o\n", "c-\\ é 😀"];
    const mac = createHmac("sha256", SECRET)
      .update(JSON.stringify([agent, "src", owner, value]))
      .digest("hex");
    const veiled = createPseudonymizer(agent, SECRET)(owner, "src", value);
    expect(veiled.replaceAll("-", "").slice(0, 12)).toBe(mac.slice(0, 12));
  });

  it("is stable for processes that share the secret, and different for others", () => {
    expect(createPseudonymizer("agent", SECRET)("o", "key", "1")).toBe(createPseudonymizer("agent", SECRET)("o", "key", "1"));
    expect(createPseudonymizer("agent")("o", "key", "1")).not.toBe(createPseudonymizer("agent")("o", "key", "1"));
  });

  it("never maps two callers, agents or kinds to the same pseudonym, also where their concatenation is equal", () => {
    const veil = createPseudonymizer("agent", SECRET);
    const names = [
      veil("ann", "session", "c-1"),
      veil("bob", "session", "c-1"),
      veil("ann", "key", "c-1"),
      veil("an", "session", "nc-1"),
      veil('ann","', "session", "c-1"),
      createPseudonymizer("other", SECRET)("ann", "session", "c-1"),
    ];
    expect(new Set(names).size).toBe(names.length);
  });

  it("refuses a secret that could be guessed", () => {
    expect(() => createPseudonymizer("agent", Buffer.from("short"))).toThrow(TypeError);
  });
});
