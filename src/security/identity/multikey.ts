import type { Maybe } from "../../envelope/index.js";
import { decodeBase58, encodeBase58 } from "./base58.js";
import type { KeyKind, PublicKey } from "./identity.js";
import { compressedBytes, keyBytes } from "./public-key.js";

/** The multicodec prefixes of public keys, as varints (github.com/multiformats/multicodec, table.csv). */
const CODECS = [
  ["Ed25519", 0xed, 0x01],
  ["X25519", 0xec, 0x01],
  ["secp256k1", 0xe7, 0x01],
  ["P-256", 0x80, 0x24],
] as const satisfies readonly (readonly [KeyKind, number, number])[];

/** The multibase prefix of base58btc, the only base that Multikey and did:key allow. */
const BASE58BTC = "z";

/** The prefix and a compressed point: the longest of these keys. */
const MAX_BYTES = 2 + 33;

/** A key as `publicKeyMultibase` of a Multikey: `z6Mk…`. */
export function encodeMultikey(key: Pick<PublicKey, "kind" | "bytes">): string {
  const codec = CODECS.find(([kind]) => kind === key.kind);
  const prefix = codec === undefined ? [] : codec.slice(1).map(Number);
  return BASE58BTC + encodeBase58(Uint8Array.from([...prefix, ...compressedBytes(key)]));
}

/** Undefined if the text is no multikey of a known kind. Points must be compressed. */
export function decodeMultikey(text: string): Maybe<Pick<PublicKey, "kind" | "bytes">> {
  const decoded = decodeMultibase(text);
  const codec = decoded && CODECS.find(([, first, second]) => decoded[0] === first && decoded[1] === second);
  if (decoded === undefined || codec === undefined || decoded.length > MAX_BYTES) return undefined;
  const [kind] = codec;
  const bytes = keyBytes(kind, decoded.subarray(2));
  return bytes === undefined ? undefined : { kind, bytes };
}

/** The bytes of a multibase text in base58btc. */
export function decodeMultibase(text: string): Maybe<Uint8Array> {
  return text.startsWith(BASE58BTC) ? decodeBase58(text.slice(1)) : undefined;
}
