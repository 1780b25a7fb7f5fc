import { AgentError, type Maybe } from "../../../envelope/index.js";
import type { LocalIdentity, PublicKey } from "../../../security/identity/index.js";
import { checkedSageDid } from "./did-sage.js";

/** An account of a chain. Its private key stays in the identity. */
export interface Account {
  readonly address: string;
  readonly key: PublicKey;
  /** ECDSA over the Keccak-256 of the bytes: r, s and the recovery bit, with the smaller s. */
  signKeccak(bytes: Uint8Array): Promise<{ readonly r: Uint8Array; readonly s: Uint8Array; readonly yParity: 0 | 1 }>;
  /** ECDSA over the SHA-256 of the bytes, 64 bytes. */
  sign(bytes: Uint8Array): Promise<Uint8Array>;
}

/** `node:crypto` has no Keccak-256 and recovers no keys. Each is loaded with its first use: a start that recovers none does not pay for it. */
const keccakOfNoble = () => import("@noble/hashes/sha3.js");
const curveOfNoble = () => import("@noble/curves/secp256k1.js");

export async function keccak(bytes: Uint8Array): Promise<Uint8Array> {
  return (await keccakOfNoble()).keccak_256(bytes);
}

/** The last 20 bytes of the Keccak-256 of the point. */
export async function addressOf(point: Uint8Array): Promise<string> {
  return `0x${Buffer.from((await keccak(point.subarray(1))).subarray(12)).toString("hex")}`;
}

/** The account that signed these bytes, as the chain computes it; undefined if the signature is none, or has the larger s. */
export async function recoverAddress(bytes: Uint8Array, signature: Uint8Array, yParity: number): Promise<Maybe<string>> {
  const { secp256k1 } = await curveOfNoble();
  if (signature.length !== 64 || (yParity !== 0 && yParity !== 1)) return undefined;
  try {
    const parsed = secp256k1.Signature.fromBytes(signature, "compact").addRecoveryBit(yParity);
    if (parsed.hasHighS()) return undefined;
    return await addressOf(parsed.recoverPublicKey(await keccak(bytes)).toBytes(false));
  } catch {
    return undefined;
  }
}

/** The account of an identity: the secp256k1 key of which its DID is made. */
export async function accountOf(identity: LocalIdentity): Promise<Account> {
  const { account: address } = checkedSageDid(identity.did);
  for (const key of identity.keys().filter(({ kind }) => kind === "secp256k1")) {
    if ((await addressOf(key.bytes)) !== address) continue;
    return {
      address,
      key,
      sign: async (bytes) => identity.sign(key.id, bytes),
      signKeccak: async (bytes) => withParity(bytes, await identity.sign(key.id, bytes, "keccak256"), address),
    };
  }
  throw new AgentError(
    "not_found",
    `${identity.did} has no usable secp256k1 key of this account; make one with koine sage create`,
    {
      field: "identity",
      sent: "no",
    },
  );
}

async function withParity(bytes: Uint8Array, signature: Uint8Array, address: string) {
  const yParity = (await recoverAddress(bytes, signature, 0)) === address ? 0 : 1;
  return { r: signature.subarray(0, 32), s: signature.subarray(32), yParity } as const;
}
