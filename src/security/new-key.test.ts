import { spawnSync } from "node:child_process";
import { createPublicKey } from "node:crypto";
import { describe, expect, test } from "vitest";
import { type NewKeyKind, newPrivateKey } from "./new-key.js";

const ENOUGH_MS = 60_000;
/** With keys straight from the generator of Node 20.20, most runs of this never ended. */
const EXPORT_MANY = `
  import { newPrivateKey } from ${JSON.stringify(new URL("./new-key.ts", import.meta.url).href)};
  for (let keys = 0; keys < 4_000; keys++) {
    const key = newPrivateKey("Ed25519");
    for (let exports = 0; exports < 4; exports++) key.export({ format: "jwk" });
  }
`;

test(
  "garbage collection during an export does not stop the process",
  () => {
    const args = ["--import", "tsx", "--input-type=module", "-e", EXPORT_MANY];
    const { status, signal, stderr } = spawnSync(process.execPath, args, { timeout: ENOUGH_MS, encoding: "utf8" });
    expect({ status, signal, stderr }).toEqual({ status: 0, signal: null, stderr: "" });
  },
  2 * ENOUGH_MS,
);

describe("a new key is of the kind asked for", () => {
  const FORMS: { readonly [K in NewKeyKind]: object } = {
    Ed25519: { kty: "OKP", crv: "Ed25519" },
    X25519: { kty: "OKP", crv: "X25519" },
    "P-256": { kty: "EC", crv: "P-256" },
    "P-384": { kty: "EC", crv: "P-384" },
    secp256k1: { kty: "EC", crv: "secp256k1" },
    "RSA-3072": { kty: "RSA", e: "AQAB" },
  };
  test.each(Object.keys(FORMS) as NewKeyKind[])("%s", (kind) => {
    expect(createPublicKey(newPrivateKey(kind)).export({ format: "jwk" })).toMatchObject(FORMS[kind]);
  });
});
