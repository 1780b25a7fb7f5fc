import { describe, expect, it } from "vitest";
import { fingerprintOf, isHash, protocolHash } from "./hash.js";

const SAMPLE = "---\nname: Echo\ndescription: ECHO protocol\nmultiround: false\n---\nECHO the JSON body back.\n";

describe("protocolHash()", () => {
  it("changes with every byte: line ends are not normalised", async () => {
    expect(await protocolHash(SAMPLE)).toBe("L9xl1shodRYEKdIIT3ydYkazG8M=");
    expect(await protocolHash(SAMPLE.replaceAll("\n", "\r\n"))).toBe("mISFfEZtoAejB7NFWfE64yt4VR8=");
    expect(await protocolHash("")).toBe("2jmj7l5rSw0yVb/vlWAYkK/YBwk=");
  });
});

describe("fingerprintOf()", () => {
  it("has SHA-256 beside SHA-1", async () => {
    // FIPS 180-2, appendix B.1, in base64.
    expect(await fingerprintOf("abc")).toEqual({
      sha1: "qZk+NkcGgWq6PiVxeFDCbJzQ2J0=",
      sha256: "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=",
    });
  });

  it("hashes one text once", () => {
    expect(fingerprintOf(SAMPLE)).toBe(fingerprintOf(SAMPLE));
  });
});

describe("isHash()", () => {
  it("accepts 20 bytes in base64 only", () => {
    expect(isHash("L9xl1shodRYEKdIIT3ydYkazG8M=")).toBe(true);
    for (const other of ["", "negotiation", "L9xl1shodRYEKdIIT3ydYkazG8M", "L9xl1shodRYEKdIIT3ydYkazG8M=\n", "../../etc/passwd"])
      expect(isHash(other), other).toBe(false);
  });
});
