import { type Maybe, RecentMap } from "../../../envelope/index.js";
import { sha256 } from "../../../security/hashes.js";
import { type PublicKey, verifySignature } from "../../../security/identity/index.js";
import { hasLowS } from "../../../security/signatures/index.js";
import { addressOf } from "../identity/account.js";
import { toHex } from "./operations.js";

/** One record of a log, and the signature that it came with. */
export interface SignedRecord {
  readonly account: string;
  readonly publicKey: Uint8Array;
  /** The registry, the number, the account, the operation and the time. */
  readonly signed: Uint8Array;
  readonly signature: Uint8Array;
}

/**
 * Signatures that were valid, by the digest of all that they are about. Each connection of a process may read the log for itself, and
 * verifying it takes longest. Whether a signature is valid does not change: a revocation is a record of its own.
 */
const valid = new RecentMap<true>(10_000);

/** The key that signed the record, which is that of its account. `known`: the key that signed an earlier one. Throws Error if it did not. */
export async function signerOf(record: SignedRecord, known: Maybe<PublicKey>): Promise<PublicKey> {
  const { account, publicKey, signed, signature } = record;
  // A second signature of the same record would be another record to those who compare logs.
  if (!hasLowS(signature)) throw new Error("its signature is the twin with the larger s");
  const isKnown = known !== undefined && Buffer.compare(known.bytes, publicKey) === 0;
  // One object for all records of an account: the key is imported once.
  const key: PublicKey = isKnown ? known : { id: "", kind: "secp256k1", bytes: publicKey, uses: ["assertion"] };
  const digest = digestOf(record);
  if (valid.get(digest) === true) return key;
  const isOwn = isKnown || (await addressOf(publicKey)) === account;
  if (!isOwn || !verifySignature(key, "assertion", signed, signature)) throw new Error("it is not signed by its account");
  valid.set(digest, true);
  return key;
}

/** The members cannot run into each other: their JSON has no line feed. */
function digestOf({ account, publicKey, signed, signature }: SignedRecord): string {
  const head = Buffer.from(`${JSON.stringify([account, toHex(publicKey), toHex(signature)])}\n`);
  return Buffer.from(sha256(Buffer.concat([head, signed]))).toString("base64");
}
