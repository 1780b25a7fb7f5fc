import { hkdfSha256 } from "../../../security/hashes.js";
import { expand } from "../../../security/sealed-records/key-schedule.js";

/** The keys of a session. */
export interface LegacyKeys {
  /** Seals what the initiator sends, 16 bytes. */
  readonly source: Uint8Array;
  readonly destination: Uint8Array;
  /** 16 hexadecimal digits. */
  readonly secretKeyId: string;
}

const HASH_BYTES = 32;
const KEY_BYTES = 16;
const ID_BYTES = 8;
const ZEROS = new Uint8Array(HASH_BYTES);
const NOTHING = new Uint8Array(0);

/** In the manner of TLS 1.3, but over the two random values alone: nothing else of the handshake is in the keys. */
export function legacyKeys(agreed: Uint8Array, sourceRandom: string, destinationRandom: string): LegacyKeys {
  const context = Buffer.from(sourceRandom + destinationRandom);
  const secret = hkdfSha256(agreed, ZEROS, NOTHING, HASH_BYTES);
  const key = (direction: string): Uint8Array => {
    const traffic = expand(secret, label(`${direction} ap traffic`, context));
    // The label says 32 bytes, and 16 are taken.
    return hkdfSha256(traffic, ZEROS, label("key", traffic), KEY_BYTES);
  };
  const secretKeyId = Buffer.from(hkdfSha256(context, ZEROS, NOTHING, ID_BYTES)).toString("hex");
  return { source: key("s"), destination: key("d"), secretKeyId };
}

function label(name: string, context: Uint8Array): Uint8Array {
  const full = Buffer.from(`als10 ${name}`);
  return Buffer.concat([Buffer.of(0, HASH_BYTES, full.length), full, Buffer.of(context.length), context]);
}
