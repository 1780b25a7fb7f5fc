import { generateKeyPairSync } from "node:crypto";
import { expect, test } from "vitest";
import { makeRequest } from "../../transport/request.js";
import { signBase } from "./algorithms.js";
import { PLAIN_SIGNATURES, type SignatureProfile } from "./profile.js";
import { MessageSigner } from "./sign.js";
import { SignatureVerifier } from "./verify.js";

const ORDER = 0xffffffff_ffffffff_ffffffff_fffffffe_baaedce6_af48a03b_bfd25e8c_d0364141n;

test("the higher s of a secp256k1 signature counts only where the profile says so", async () => {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "secp256k1" });
  const request = makeRequest({ method: "GET", url: "https://agent.example/" });
  const key = {
    keyId: "k",
    algorithm: "es256k" as const,
    sign(base: Uint8Array) {
      const lower = Buffer.from(signBase("es256k", privateKey, base));
      const higher = ORDER - BigInt(`0x${lower.subarray(32).toString("hex")}`);
      return Buffer.concat([lower.subarray(0, 32), Buffer.from(higher.toString(16).padStart(64, "0"), "hex")]);
    },
  };
  const fields = await new MessageSigner({ profile: PLAIN_SIGNATURES, key, now: () => 0 }).request(request, request.body);
  const verify = async (profile: SignatureProfile) =>
    new SignatureVerifier(profile).verify({
      message: { request: { method: "GET", target: request.target, headers: { ...request.headers, ...fields } } },
      kind: "request",
      hasBody: false,
      nowMs: 0,
      keys: () => ({ algorithm: "es256k", key: publicKey }),
    });
  await expect(verify(PLAIN_SIGNATURES)).rejects.toMatchObject({ problem: "wrong" });
  await expect(verify({ ...PLAIN_SIGNATURES, eitherS: true })).resolves.toMatchObject({ keyId: "k" });
});
