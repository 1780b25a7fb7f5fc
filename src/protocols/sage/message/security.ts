import { encodeBase64, isObject, type JsonObject, type Maybe, type Metadata, type Proof } from "../../../envelope/index.js";
import { readObject, readText } from "../../../transport/fields.js";
import { SageError } from "../errors.js";
import { EXTENSION_URI } from "../wire.js";
import { readSignatureText, writeSignatureText } from "./seed-codec.js";

/** The mode of messages that are sealed in a session. They need no signature. */
const SEALED_MODE = "sage-session";

/** The member `security` of a message, read. */
export interface Security {
  readonly did: string;
  readonly keyId: string;
  readonly signature: Uint8Array;
}

/** The member `security` that belongs to a proof. */
export function securityOf({ signer, keyId, signature }: Proof, created: number): JsonObject {
  const text = writeSignatureText({ keyId, algorithm: "ed25519", created, signature: encodeBase64(signature) });
  return { mode: "sage", signature: text, key_id: keyId, did: signer };
}

/** Undefined if the metadata has no such member. Throws SageError for one that cannot be read. */
export function readSecurity(metadata: Maybe<Metadata>): Maybe<Security> {
  const security = securityIn(metadata);
  if (security === undefined) return undefined;
  try {
    const object = readObject(security, "security");
    if (object["mode"] === SEALED_MODE) return undefined;
    if (object["mode"] !== "sage") throw new Error('its mode is not "sage"');
    const text = readSignatureText(readText(object["signature"], "security.signature"));
    const keyId = readText(object["key_id"], "security.key_id");
    if (text.keyId !== keyId || text.algorithm !== "ed25519") throw new Error("its signature names another key or algorithm");
    return { did: readText(object["did"], "security.did"), keyId, signature: Buffer.from(text.signature, "base64") };
  } catch (thrown) {
    const why = thrown instanceof Error ? thrown.message : "it cannot be read";
    throw new SageError("sig.malformed", `the member security is not valid: ${why}`, { cause: thrown });
  }
}

/** Who sealed a message, and for whom. Nothing is believed of it: the record is sealed for these two, or cannot be opened. */
export interface SealedBy {
  readonly did: string;
  readonly recipient: string;
}

export function withSealedBy({ did, recipient }: SealedBy): Metadata {
  return { [EXTENSION_URI]: { security: { mode: SEALED_MODE, did, recipient } } };
}

/** Throws SageError if the metadata does not say it. */
export function readSealedBy(metadata: Maybe<Metadata>): SealedBy {
  const security = securityIn(metadata);
  try {
    const object = readObject(security, "security");
    return { did: readText(object["did"], "security.did"), recipient: readText(object["recipient"], "security.recipient") };
  } catch (thrown) {
    throw new SageError("message.malformed", "the sealed message does not say who sealed it", { cause: thrown });
  }
}

/** Whether the metadata says that these two have sealed it. As little is believed of that. */
export function saysSealedBy(metadata: Maybe<Metadata>, { did, recipient }: SealedBy): boolean {
  const security = securityIn(metadata);
  return isObject(security) && security["mode"] === SEALED_MODE && security["did"] === did && security["recipient"] === recipient;
}

function securityIn(metadata: Maybe<Metadata>): unknown {
  const own = metadata?.[EXTENSION_URI];
  return isObject(own) ? own["security"] : undefined;
}
