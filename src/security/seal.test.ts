import { describe, expect, it } from "vitest";
import { createSeal, newSecret } from "./seal.js";

const SECRET = new TextEncoder().encode("sixteen bytes or more of secret");
const SAID = "a token that nobody else may read";

describe("a seal", () => {
  it("opens sealed text, also in another process with the same secret, and hides it", () => {
    const sealed = createSeal(SECRET, "tests").close(SAID, "ann");
    expect(createSeal(SECRET, "tests").open(sealed, "ann")).toBe(SAID);
    expect(Buffer.from(sealed.slice(3), "base64url").toString("latin1")).not.toContain("token");
  });

  it("never writes the same text twice", () => {
    const seal = createSeal(SECRET, "tests");
    expect(seal.close(SAID, "ann")).not.toBe(seal.close(SAID, "ann"));
  });

  it("does not open with another secret, purpose or subject", () => {
    const sealed = createSeal(SECRET, "tests").close(SAID, "ann");
    expect(createSeal(newSecret(), "tests").open(sealed, "ann")).toBeUndefined();
    expect(createSeal(SECRET, "other").open(sealed, "ann")).toBeUndefined();
    expect(createSeal(SECRET, "tests").open(sealed, "bob")).toBeUndefined();
  });

  it("stays closed when one bit was touched, wherever it is", () => {
    const seal = createSeal(SECRET, "tests");
    const bytes = Buffer.from(seal.close(SAID, "ann").slice(3), "base64url");
    for (let index = 0; index < bytes.length; index++) {
      const touched = Buffer.from(bytes);
      touched[index] = (touched[index] ?? 0) ^ 1;
      expect(seal.open(`s1.${touched.toString("base64url")}`, "ann")).toBeUndefined();
    }
  });

  it.each(["", "s1.", "s1.AAAA", `s1.${"A".repeat(20_000)}`, SAID])("returns undefined for %j, which was not sealed", (text) => {
    expect(createSeal(SECRET, "tests").open(text, "ann")).toBeUndefined();
  });

  it("requires a secret that cannot be guessed", () => {
    expect(() => createSeal(new Uint8Array(15), "tests")).toThrow("at least 16 bytes");
  });
});
