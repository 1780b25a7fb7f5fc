import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { readSeedMessage, readSignatureText, writeSeedMessage, writeSignatureText } from "../codec.js";

/** The samples of the seed, as it writes them. */
const TEXT = 'keyid="key-abc123", algorithm="ed25519", created=1705315800, signature="YmFzZTY0"';
const MESSAGE = JSON.parse(readFileSync(new URL("../fixtures/seed-message.json", import.meta.url), "utf8")) as {
  readonly security: { readonly did: string };
};

describe("the text form of a signature", () => {
  test("is read and written as in the seed", () => {
    const read = readSignatureText(TEXT);
    expect(read).toEqual({ keyId: "key-abc123", algorithm: "ed25519", created: 1_705_315_800, signature: "YmFzZTY0" });
    expect(writeSignatureText(read)).toBe(TEXT);
  });

  test("may be broken into lines and have a nonce, as the header of the seed", () => {
    const header = `keyid="key-abc123", algorithm="ed25519", created=1705315800,
           signature="MEUCIQDx7q", nonce="random-nonce-xyz"`;
    expect(readSignatureText(header)).toMatchObject({ keyId: "key-abc123", signature: "MEUCIQDx7q", nonce: "random-nonce-xyz" });
  });

  test("has the end and the nonce of a signature over a whole message", () => {
    const whole = `${TEXT}, expires=1705316100, nonce="n-1"`;
    expect(readSignatureText(whole)).toMatchObject({ created: 1_705_315_800, expires: 1_705_316_100, nonce: "n-1" });
    expect(writeSignatureText(readSignatureText(whole))).toBe(whole);
  });

  test.each([
    ["", "signature.created"],
    ['keyid="a"', "signature.created"],
    [`${TEXT}, keyid="b"`, "signature"],
    [TEXT.replace("created=1705315800", 'created="soon"'), "signature.created"],
    [TEXT.replace("YmFzZTY0", "not base64!"), "signature.signature"],
    [`${TEXT}, expires="later"`, "signature.expires"],
    [`${TEXT}; x`, "signature"],
    ['keyid="a\\"b", algorithm="ed25519", created=1, signature="YQ=="', "signature"],
    ["x".repeat(5_000), "signature"],
  ])("refuses %j", (text, field) => {
    expect(() => readSignatureText(text)).toThrow(expect.objectContaining({ field }));
  });
});

describe("a message of the seed", () => {
  test("is read and written as in the seed, with and without security", () => {
    expect(writeSeedMessage(readSeedMessage(MESSAGE))).toEqual(MESSAGE);
    const { security: _security, ...plain } = MESSAGE;
    expect(readSeedMessage(plain).security).toBeUndefined();
    expect(writeSeedMessage(readSeedMessage(plain))).toEqual(plain);
    const bare = { message_id: "m", role: "agent", parts: [{ kind: "data", data: { n: 1 } }] };
    expect(writeSeedMessage(readSeedMessage(bare))).toEqual(bare);
  });

  test.each([
    [{ ...MESSAGE, role: "system" }, "role"],
    [{ ...MESSAGE, message_id: undefined }, "message_id"],
    [{ ...MESSAGE, parts: [{ kind: "file" }] }, "parts[0].kind"],
    [{ ...MESSAGE, security: { ...MESSAGE.security, did: 7 } }, "security.did"],
    [{ ...MESSAGE, security: "sage" }, "security"],
  ])("names the member that is wrong", (message, field) => {
    expect(() => readSeedMessage(message)).toThrow(expect.objectContaining({ field }));
  });

  test("has no form for bytes", () => {
    const raw = { ...readSeedMessage(MESSAGE), parts: [{ kind: "raw" as const, bytes: new Uint8Array(1) }] };
    expect(() => writeSeedMessage(raw)).toThrow("raw");
  });
});
