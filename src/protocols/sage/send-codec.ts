import type { Envelope, OperationOf, Proof } from "../../envelope/index.js";
import type { SendCodec } from "../protocol.js";
import { readSigned, writeSigned } from "./codec.js";
import { SageError } from "./errors.js";
import { proofIn, SCHEME, withoutSecurity } from "./message/message-proof.js";
import { securityOf } from "./message/security.js";
import { sameContent } from "./message/signed-message.js";
import { EXTENSION_URI, TIMES } from "./wire.js";

/** Keys, clock and ids come from outside, so a codec by itself writes the text of a message that nobody signed yet. */
const NOBODY = `did:sage:local:0x${"0".repeat(40)}`;
const KEY_ID = `${NOBODY}#key-1`;
const CREATED = 0;
const NONCE = "00000000-0000-4000-8000-000000000000";
/** As long as a signature by Ed25519. */
const NO_SIGNATURE = new Uint8Array(64);

/** A message with what its author signs, as the messages of the protocol below. The place of the signature is empty, and not verified. */
export function sendCodecOver(inner: SendCodec): SendCodec {
  return {
    write: (send) => inner.write({ ...send, envelope: withSigned(send.envelope) }),
    read: (text) => asSigned(inner.read(text)),
  };
}

function withSigned(envelope: Envelope): Envelope {
  const { id, role, intent, content, dst } = envelope;
  const signed = writeSigned({
    ...{
      id,
      role,
      intent,
      did: NOBODY,
      kid: KEY_ID,
      recipient: dst === "" ? NOBODY : dst,
      nonce: NONCE,
      parts: content,
      requestHash: undefined,
    },
    ...{ created: CREATED, expires: CREATED + TIMES.lifetimeMs / 1_000 },
  });
  const proof: Proof = { scheme: SCHEME, signer: NOBODY, keyId: KEY_ID, signed, signature: NO_SIGNATURE };
  const metadata = { ...envelope.metadata, [EXTENSION_URI]: { security: securityOf(proof, CREATED) } };
  return { ...envelope, metadata, proofs: [proof] };
}

/** What the author signs is the message; what is beside it must say the same. Throws SageError. */
function asSigned(send: OperationOf<"send">): OperationOf<"send"> {
  const { envelope } = send;
  const proof = proofIn(envelope);
  if (proof === undefined) throw new SageError("sig.missing", "the message has no signature");
  const { id, role, intent, parts, recipient } = readSigned(proof.signed);
  if (id !== envelope.id || role !== envelope.role || intent !== envelope.intent || !sameContent(parts, envelope.content))
    throw new SageError("content.mismatch", "the message says something else than its author signed");
  return { ...send, envelope: { ...envelope, dst: recipient, content: parts, metadata: withoutSecurity(envelope.metadata) } };
}
