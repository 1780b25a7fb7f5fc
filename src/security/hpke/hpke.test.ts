import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ephemeralKey } from "../agreement/index.js";
import { type HpkeRecipient, type HpkeSender, hpkeRecipient, hpkeSender } from "./hpke.js";
import { encapsulatedSecret, keySchedule } from "./key-schedule.js";

const bytes = (hex: string): Buffer => Buffer.from(hex, "hex");
const hex = (some: Uint8Array): string => Buffer.from(some).toString("hex");
const text = (some: string): Buffer => Buffer.from(some);

/** RFC 9180 A.2.1. */
const RECIPIENT = ephemeralKey(bytes("8057991eef8f1f1af18f4a9491d16a1ce333f695d4db8e38da75975c4478e0fb"));
const EPHEMERAL = ephemeralKey(bytes("f4ec9b33b792c372c1d2c2063507b684ef925b8c75a42dbcbf57d63ccd381600"));
const INFO = bytes("4f6465206f6e2061204772656369616e2055726e");
const PLAINTEXT = bytes("4265617574792069732074727574682c20747275746820626561757479");
const CIPHERTEXTS: ReadonlyMap<number, string> = new Map([
  [0, "1c5250d8034ec2b784ba2cfd69dbdb8af406cfe3ff938e131f0def8c8b60b4db21993c62ce81883d2dd1b51a28"],
  [1, "6b53c051e4199c518de79594e1c4ab18b96f081549d45ce015be002090bb119e85285337cc95ba5f59992dc98c"],
  [2, "71146bd6795ccc9c49ce25dda112a48f202ad220559502cef1f34271e0cb4b02b4f10ecac6f48c32f878fae86b"],
  [4, "63357a2aa291f5a4e5f27db6baa2af8cf77427c7c1a909e0b37214dd47db122bb153495ff0b02e9e54a50dbe16"],
  [255, "18ab939d63ddec9f6ac2b60d61d36a7375d2070c9b683861110757062c52b8880a5f6b3936da9cd6c23ef2a95c"],
  [256, "7a4a13e9ef23978e2c520fd4d2e757514ae160cd0cd05e556ef692370ca53076214c0c40d4c728d6ed9e727a5b"],
]);

const refused = expect.objectContaining({ code: "bad_signature" });

async function contexts(info: Uint8Array = INFO): Promise<{ sender: HpkeSender; recipient: HpkeRecipient }> {
  const sender = hpkeSender(RECIPIENT.publicBytes, info, EPHEMERAL);
  return { sender, recipient: await hpkeRecipient(sender.enc, RECIPIENT, info) };
}

describe("RFC 9180 A.2.1", () => {
  test("has its key schedule", () => {
    expect(hex(RECIPIENT.publicBytes)).toBe("4310ee97d88cc1f088a5576c77ab0cf5c3ac797f3d95139c6c84b5429c59662a");
    expect(hex(EPHEMERAL.publicBytes)).toBe("1afa08d3dec047a643885163f1180476fa7ddb54c6a8029ea33f95796bf2ac4a");
    const agreed = EPHEMERAL.agree(RECIPIENT.publicBytes);
    const shared = encapsulatedSecret(agreed, EPHEMERAL.publicBytes, RECIPIENT.publicBytes);
    expect(hex(shared)).toBe("0bbe78490412b4bbea4812666f7916932b828bba79942424abb65244930d69a7");
    const { key, baseNonce, exporterSecret } = keySchedule(shared, INFO);
    expect([hex(key), hex(baseNonce), hex(exporterSecret)]).toEqual([
      "ad2744de8e17f4ebba575b3f5f5a8fa1f69c2a07f6e7500bc60ca6e3e3ec1c91",
      "5c4d98150661b848853b547f",
      "a3b010d4994890e2c6968a36f64470d3c824c8f5029942feb11e7a74b2921922",
    ]);
  });

  test("has its messages, sealed and opened", async () => {
    const { sender, recipient } = await contexts();
    let compared = 0;
    for (let sequence = 0; sequence <= 256; sequence++) {
      const associated = text(`Count-${sequence}`);
      const ciphertext = sender.seal(PLAINTEXT, associated);
      expect(hex(recipient.open(ciphertext, associated))).toBe(hex(PLAINTEXT));
      const expected = CIPHERTEXTS.get(sequence);
      if (expected === undefined) continue;
      expect(hex(ciphertext)).toBe(expected);
      compared++;
    }
    expect(compared).toBe(6);
  });

  test.each([
    ["", "4bbd6243b8bb54cec311fac9df81841b6fd61f56538a775e7c80a9f40160606e"],
    ["\0", "8c1df14732580e5501b00f82b10a1647b40713191b7c1240ac80e2b68808ba69"],
    ["TestContext", "5acb09211139c43b3090489a9da433e8a30ee7188ba8b0a9a1ccf0c229283e53"],
  ])("exports the same secret for %j on both sides", async (context, secret) => {
    const { sender, recipient } = await contexts();
    expect([hex(sender.export(text(context))), hex(recipient.export(text(context)))]).toEqual([secret, secret]);
  });
});

describe("an HPKE context", () => {
  test("refuses what is altered, in another order, with other data, for another key or another info", async () => {
    const { sender, recipient } = await contexts();
    const first = sender.seal(PLAINTEXT, text("a"));
    const second = sender.seal(PLAINTEXT, text("a"));
    const altered = Uint8Array.from(first);
    altered[3] = (altered[3] ?? 0) ^ 1;
    for (const [ciphertext, associated] of [
      [altered, "a"],
      [first, "b"],
      [second, "a"],
      [first.subarray(0, 15), "a"],
      [new Uint8Array(0), "a"],
    ] as const)
      expect(() => recipient.open(ciphertext, text(associated))).toThrow(refused);
    const otherInfo = await hpkeRecipient(sender.enc, RECIPIENT, text("other"));
    const otherKey = await hpkeRecipient(sender.enc, ephemeralKey(), INFO);
    for (const other of [otherInfo, otherKey]) expect(() => other.open(first, text("a"))).toThrow(refused);
    expect(hex(recipient.open(first, text("a")))).toBe(hex(PLAINTEXT));
    expect(() => recipient.open(first, text("a"))).toThrow(refused);
  });

  test("is a new one each time", () => {
    const [one, other] = [hpkeSender(RECIPIENT.publicBytes, INFO), hpkeSender(RECIPIENT.publicBytes, INFO)];
    expect(hex(one.enc)).not.toBe(hex(other.enc));
    expect(hex(one.export(INFO))).not.toBe(hex(other.export(INFO)));
  });

  test.each(["00".repeat(32), `01${"00".repeat(31)}`, "00".repeat(31)])("refuses %s as a key of either side", async (key) => {
    const bad = expect.objectContaining({ code: "bad_peer" });
    expect(() => hpkeSender(bytes(key), INFO)).toThrow(bad);
    await expect(hpkeRecipient(bytes(key), RECIPIENT, INFO)).rejects.toThrow(bad);
  });

  test("ends before its numbers do", async () => {
    const { sender } = await contexts();
    for (let sequence = 0; sequence < 1_024; sequence++) sender.seal(PLAINTEXT, INFO);
    expect(() => sender.seal(PLAINTEXT, INFO)).toThrow(expect.objectContaining({ code: "expired" }));
  });

  test("carries any message, and opens nothing else", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.uint8Array({ maxLength: 100 }), fc.uint8Array({ maxLength: 40 })), { minLength: 1, maxLength: 5 }),
        fc.uint8Array({ maxLength: 64 }),
        async (messages, foreign) => {
          const { sender, recipient } = await contexts(text("property"));
          for (const [plaintext, associated] of messages) {
            const ciphertext = sender.seal(plaintext, associated);
            expect(() => recipient.open(foreign, associated)).toThrow(refused);
            expect(hex(recipient.open(ciphertext, associated))).toBe(hex(plaintext));
          }
        },
      ),
      { numRuns: 30, seed: 20 },
    );
  });
});
