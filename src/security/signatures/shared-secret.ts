import { createSecretKey } from "node:crypto";
import { checkKey, signBase, verifyBase } from "./algorithms.js";
import type { MessageSigningKey } from "./sign.js";
import type { VerificationKey } from "./verify.js";

const ALGORITHM = "hmac-sha256";

/** A shared secret of at least 32 bytes, for `hmac-sha256`. JSON and `inspect` do not show it. */
export class SharedSecret {
  readonly #key: VerificationKey;

  constructor(secret: Uint8Array) {
    const key = createSecretKey(secret);
    checkKey(key, ALGORITHM);
    this.#key = { algorithm: ALGORITHM, key };
  }

  sign(bytes: Uint8Array): Uint8Array {
    return signBase(ALGORITHM, this.#key.key, bytes);
  }

  /** In constant time. */
  verify(bytes: Uint8Array, signature: Uint8Array): boolean {
    return verifyBase(ALGORITHM, this.#key.key, bytes, signature);
  }

  /** For `MessageSigner`. */
  signingKey(keyId: string): MessageSigningKey {
    return { keyId, algorithm: ALGORITHM, sign: (base) => this.sign(base) };
  }

  /** For `SignatureVerifier`. */
  verificationKey(): VerificationKey {
    return this.#key;
  }
}
