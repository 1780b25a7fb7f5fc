import { createCipheriv, createDecipheriv } from "node:crypto";
import { AgentError, type Awaitable, type Maybe } from "../../envelope/index.js";
import { type EphemeralKey, ephemeralKey } from "../agreement/index.js";
import { encapsulatedSecret, exported, type HpkeKeys, keySchedule, NONCE_BYTES } from "./key-schedule.js";

const CIPHER = "chacha20-poly1305";
const TAG = { authTagLength: 16 } as const;
/** Messages of one context. RFC 9180 allows 2^96 - 1; none of ours has more than one. */
const MAX_MESSAGES = 1_024;

/** The sender's side of a context. */
export interface HpkeSender {
  /** The encapsulated key, 32 bytes, for the recipient. */
  readonly enc: Uint8Array;
  /** Messages are opened in the order in which they were sealed. */
  seal(plaintext: Uint8Array, associated: Uint8Array): Uint8Array;
  /** 32 bytes that only both sides know, others for each `context`. */
  export(context: Uint8Array): Uint8Array;
}

/** The recipient's side of a context. */
export interface HpkeRecipient {
  /** Throws `bad_signature` for a message that was not sealed in this context, with these associated data, in this order. */
  open(ciphertext: Uint8Array, associated: Uint8Array): Uint8Array;
  export(context: Uint8Array): Uint8Array;
}

/**
 * Begins a context for the owner of an X25519 key. Base mode proves nothing about the sender: a signature must. Throws `bad_peer` for a
 * key of small order. `ephemeral`: for test vectors.
 */
export function hpkeSender(recipient: Uint8Array, info: Uint8Array, ephemeral?: Maybe<EphemeralKey>): HpkeSender {
  const own = ephemeral ?? ephemeralKey();
  const { publicBytes: enc } = own;
  const context = new Context(keySchedule(encapsulatedSecret(own.agree(recipient), enc, recipient), info));
  return {
    enc,
    seal: (plaintext, associated) => context.seal(plaintext, associated),
    export: (exporterContext) => context.export(exporterContext),
  };
}

/** An X25519 key that can agree: its owner keeps the private half. */
export interface RecipientKey {
  readonly publicBytes: Uint8Array;
  /** Throws `bad_peer` for a key of small order. */
  agree(peer: Uint8Array): Awaitable<Uint8Array>;
}

/** Opens the context that a sender began. */
export async function hpkeRecipient(enc: Uint8Array, own: RecipientKey, info: Uint8Array): Promise<HpkeRecipient> {
  const context = new Context(keySchedule(encapsulatedSecret(await own.agree(enc), enc, own.publicBytes), info));
  return {
    open: (ciphertext, associated) => context.open(ciphertext, associated),
    export: (exporterContext) => context.export(exporterContext),
  };
}

class Context {
  readonly #keys: HpkeKeys;
  #sequence = 0;

  constructor(keys: HpkeKeys) {
    this.#keys = keys;
  }

  seal(plaintext: Uint8Array, associated: Uint8Array): Uint8Array {
    const cipher = createCipheriv(CIPHER, this.#keys.key, this.#nonce(), TAG);
    cipher.setAAD(associated, { plaintextLength: plaintext.length });
    const ciphertext = Buffer.concat([cipher.update(plaintext), cipher.final(), cipher.getAuthTag()]);
    this.#sequence++;
    return ciphertext;
  }

  open(ciphertext: Uint8Array, associated: Uint8Array): Uint8Array {
    const end = ciphertext.length - TAG.authTagLength;
    if (end < 0) throw refused();
    const decipher = createDecipheriv(CIPHER, this.#keys.key, this.#nonce(), TAG);
    decipher.setAAD(associated, { plaintextLength: end });
    decipher.setAuthTag(ciphertext.subarray(end));
    const plaintext = decipher.update(ciphertext.subarray(0, end));
    try {
      decipher.final();
    } catch {
      plaintext.fill(0); // nobody reads what was not verified
      throw refused();
    }
    this.#sequence++;
    return plaintext;
  }

  export(context: Uint8Array): Uint8Array {
    return exported(this.#keys.exporterSecret, context);
  }

  /** RFC 9180 §5.2: the base nonce with the number of the message in its last bytes. */
  #nonce(): Uint8Array {
    if (this.#sequence >= MAX_MESSAGES) throw new AgentError("expired", `an HPKE context has at most ${MAX_MESSAGES} messages`);
    const nonce = Buffer.from(this.#keys.baseNonce);
    nonce.writeUInt32BE((nonce.readUInt32BE(NONCE_BYTES - 4) ^ this.#sequence) >>> 0, NONCE_BYTES - 4);
    return nonce;
  }
}

function refused(): AgentError {
  return new AgentError("bad_signature", "the sealed message is refused");
}
