import { expand, extract } from "../sealed-records/index.js";

/** The key schedule of RFC 9180 in base mode, for DHKEM(X25519, HKDF-SHA256), HKDF-SHA256 and ChaCha20Poly1305. */

export const NONCE_BYTES = 12;
const KEM = Buffer.from([0x00, 0x20]);
const KDF = Buffer.from([0x00, 0x01]);
const AEAD = Buffer.from([0x00, 0x03]);
const KEM_SUITE = Buffer.concat([Buffer.from("KEM"), KEM]);
const HPKE_SUITE = Buffer.concat([Buffer.from("HPKE"), KEM, KDF, AEAD]);
const VERSION = Buffer.from("HPKE-v1");
const MODE_BASE = Uint8Array.of(0);
const EMPTY = new Uint8Array(0);
/** All secrets and keys of this suite are as long as the hash. */
const HASH_BYTES = 32;

/** RFC 9180 §4.1, ExtractAndExpand: the shared secret of an agreement, bound to both public keys. */
export function encapsulatedSecret(agreed: Uint8Array, enc: Uint8Array, recipient: Uint8Array): Uint8Array {
  const prk = labeledExtract(KEM_SUITE, EMPTY, "eae_prk", agreed);
  return labeledExpand(prk, { suite: KEM_SUITE, label: "shared_secret", bytes: HASH_BYTES }, [enc, recipient]);
}

/** What a context is made of. */
export interface HpkeKeys {
  readonly key: Uint8Array;
  readonly baseNonce: Uint8Array;
  readonly exporterSecret: Uint8Array;
}

/** RFC 9180 §5.1, KeySchedule without a pre-shared key. */
export function keySchedule(sharedSecret: Uint8Array, info: Uint8Array): HpkeKeys {
  const context = [
    MODE_BASE,
    labeledExtract(HPKE_SUITE, EMPTY, "psk_id_hash", EMPTY),
    labeledExtract(HPKE_SUITE, EMPTY, "info_hash", info),
  ];
  const secret = labeledExtract(HPKE_SUITE, sharedSecret, "secret", EMPTY);
  const derived = (label: string, bytes: number): Uint8Array =>
    labeledExpand(secret, { suite: HPKE_SUITE, label, bytes }, context);
  return {
    key: derived("key", HASH_BYTES),
    baseNonce: derived("base_nonce", NONCE_BYTES),
    exporterSecret: derived("exp", HASH_BYTES),
  };
}

/** RFC 9180 §5.3: a secret of 32 bytes for another use. */
export function exported(exporterSecret: Uint8Array, context: Uint8Array): Uint8Array {
  return labeledExpand(exporterSecret, { suite: HPKE_SUITE, label: "sec", bytes: HASH_BYTES }, [context]);
}

function labeledExtract(suite: Uint8Array, salt: Uint8Array, label: string, secret: Uint8Array): Uint8Array {
  return extract(salt, Buffer.concat([VERSION, suite, Buffer.from(label), secret]));
}

interface Derivation {
  readonly suite: Uint8Array;
  readonly label: string;
  /** At most one block of the hash: nothing here is longer. */
  readonly bytes: number;
}

function labeledExpand(secret: Uint8Array, { suite, label, bytes }: Derivation, info: readonly Uint8Array[]): Uint8Array {
  return expand(secret, Uint8Array.of(bytes >> 8, bytes & 0xff), VERSION, suite, label, ...info).subarray(0, bytes);
}
