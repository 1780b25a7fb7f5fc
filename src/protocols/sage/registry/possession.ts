import { RecentMap } from "../../../envelope/index.js";
import { sha256 } from "../../../security/hashes.js";
import { type LocalIdentity, type PublicKey, verifySignature, verifyWithX25519 } from "../../../security/identity/index.js";
import { addressOf, recoverAddress } from "../identity/account.js";
import type { NewKey, RegistryKeyKind } from "./registry.js";

/** SAGE 0.10.0: what a key signs to prove its possession, each part after its length in two bytes. */
const PREFIX = "sage-pop-0.10.0";
const ALGORITHMS = {
  Ed25519: "ed25519",
  X25519: "x25519",
  secp256k1: "sage-secp256k1-keccak256",
} as const satisfies Record<RegistryKeyKind, string>;
const RECOVERY_OFFSET = 27;

/** The place of a key: a proof is good for one key under one name in one record of one registry. */
export interface KeyPlace {
  readonly registry: string;
  readonly agent: string;
  readonly name: string;
}

export function challengeOf(
  place: KeyPlace,
  { kind, bytes }: { readonly kind: RegistryKeyKind; readonly bytes: Uint8Array },
): Uint8Array {
  const parts = [place.registry, place.agent, place.name, ALGORITHMS[kind]].map((text) => Buffer.from(text));
  return Buffer.concat([Buffer.from(PREFIX), ...[...parts, bytes].flatMap((part) => [lengthOf(part), part])]);
}

function lengthOf(part: Uint8Array): Uint8Array {
  return Uint8Array.from([part.length >> 8, part.length & 0xff]);
}

/** A key of an identity with its proof, under the name that its id ends with. */
export async function provenKey(identity: LocalIdentity, key: PublicKey, registry: string, agent: string): Promise<NewKey> {
  const { kind, bytes } = key;
  if (kind === "P-256") throw new TypeError("a registry has no P-256 keys");
  const name = key.id.slice(identity.did.length + 1);
  const challenge = challengeOf({ registry, agent, name }, { kind, bytes });
  const signature = await identity.prove(key.id, challenge);
  if (kind !== "secp256k1") return { name, kind, bytes, proof: signature };
  const yParity = (await recoverAddress(challenge, signature, 0)) === (await addressOf(bytes)) ? 0 : 1;
  return { name, kind, bytes, proof: Uint8Array.from([...signature, RECOVERY_OFFSET + yParity]) };
}

/** Proofs that were valid, by the digest of all that they are about: a record is read every few seconds, and recovering a key takes longest. */
const proven = new RecentMap<true>(10_000);

/** Whether the private half of the key made its proof. */
export async function isProvenKey(place: KeyPlace, key: Pick<NewKey, "kind" | "bytes" | "proof">): Promise<boolean> {
  const challenge = challengeOf(place, key);
  const digest = Buffer.from(sha256(Buffer.concat([challenge, key.proof]))).toString("base64");
  if (proven.get(digest) === true) return true;
  const isValid = await isProof(challenge, key);
  if (isValid) proven.set(digest, true);
  return isValid;
}

async function isProof(challenge: Uint8Array, key: Pick<NewKey, "kind" | "bytes" | "proof">): Promise<boolean> {
  switch (key.kind) {
    case "Ed25519": {
      const { kind, bytes } = key;
      return verifySignature({ id: "", kind, bytes, uses: ["assertion"] }, "assertion", challenge, key.proof);
    }
    case "X25519":
      return verifyWithX25519(key.bytes, challenge, key.proof);
    case "secp256k1":
      if (key.proof.length !== 65) return false;
      return (
        (await recoverAddress(challenge, key.proof.subarray(0, 64), (key.proof[64] ?? 0) - RECOVERY_OFFSET)) ===
        (await addressOf(key.bytes))
      );
  }
}
