import { generateKeyPairSync, randomBytes, sign, verify } from "node:crypto";
import { answerCommands } from "../../../harness/worker.js";

/** Verifies Ed25519 signatures and nothing else. Answers with how many in a second. */

answerCommands({ run });

export interface BareVerifyOrder {
  readonly sliceMs: number;
}

/** As many messages as a batch has, each as long as what is signed of one. */
const [MESSAGES, BYTES] = [256, 700];
const { publicKey, privateKey } = generateKeyPairSync("ed25519");
const signed = Array.from({ length: MESSAGES }, () => {
  const base = randomBytes(BYTES);
  return { base, signature: sign(null, base, privateKey) };
});

function run({ sliceMs }: BareVerifyOrder): number {
  const startedAt = performance.now();
  let verified = 0;
  for (; performance.now() - startedAt < sliceMs; verified++) {
    const { base, signature } = signed[verified % MESSAGES] as (typeof signed)[number]; // within
    if (!verify(null, base, publicKey, signature)) throw new Error("not verified");
  }
  return (verified * 1_000) / (performance.now() - startedAt);
}
