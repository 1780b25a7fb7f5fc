import type { JsonObject, Maybe } from "../../../envelope/index.js";
import { authenticationKey, didOfUrl, type Identity, keyObjectOf, type PeerKeySource } from "../../../security/identity/index.js";
import { canonicalJson } from "../../../security/json-canonical.js";
import { MessageSigner, SignatureError, type SignatureProfile, SignatureVerifier } from "../../../security/signatures/index.js";
import { readObject, readText } from "../../../transport/fields.js";
import { algorithmOf, messageKeyOf } from "../identity/own-identity.js";
import { SIGNATURES } from "./signatures.js";

/** P1 §7: who wrote a message, whichever relays carried it. The components are fixed. */
const ORIGIN: SignatureProfile = Object.freeze({
  ...SIGNATURES,
  request: { sign: ["@method", "@target-uri", "content-digest"], exact: true },
});
export const ORIGIN_SCHEME = "anp-rfc9421-origin-proof-v1";

const verifier = new SignatureVerifier(ORIGIN);

/** A message as its author signs it: without `id` and without the proof. */
export interface SignedCall {
  readonly method: string;
  readonly meta: JsonObject;
  readonly body: JsonObject;
}

/** The member `auth` of a message. */
export async function writeOriginProof(call: SignedCall, identity: Identity, now: () => number): Promise<JsonObject> {
  const signer = new MessageSigner({ profile: ORIGIN, key: messageKeyOf(identity), now });
  const fields = await signer.request({ method: call.method, target: targetOf(call), headers: {} }, bytesOf(call));
  return {
    scheme: ORIGIN_SCHEME,
    origin_proof: {
      contentDigest: fields["content-digest"],
      signatureInput: fields["signature-input"],
      signature: fields["signature"],
    },
  };
}

/** What a proof proves. `nonce` is to be accepted once. */
export interface Origin {
  readonly did: string;
  readonly keyId: string;
  readonly nonce: Maybe<string>;
  readonly fromMs: number;
  readonly untilMs: number;
}

/** Checks the proof of a message. Throws SignatureError. */
export async function checkOriginProof(call: SignedCall, auth: JsonObject, source: PeerKeySource): Promise<Origin> {
  if (auth["scheme"] !== ORIGIN_SCHEME) throw new SignatureError("missing", `auth.scheme must be ${ORIGIN_SCHEME}`);
  const proof = readObject(auth["origin_proof"], "auth.origin_proof");
  const text = (name: string): string => readText(proof[name], `auth.origin_proof.${name}`);
  const headers = {
    "content-digest": text("contentDigest"),
    "signature-input": text("signatureInput"),
    signature: text("signature"),
  };
  const verified = await verifier.verify({
    message: { request: { method: call.method, target: targetOf(call), headers } },
    kind: "request",
    hasBody: true,
    nowMs: source.now(),
    keys: (keyId) => keyOf(keyId, source),
  });
  verifier.checkBody(verified, bytesOf(call));
  const { keyId, nonce, fromMs, untilMs } = verified;
  return { did: didOfUrl(keyId), keyId, nonce, fromMs, untilMs };
}

async function keyOf(keyId: string, source: PeerKeySource) {
  const key = await authenticationKey(keyId, source);
  const algorithm = key && algorithmOf(key.kind);
  return key === undefined || algorithm === undefined ? undefined : { algorithm, key: keyObjectOf(key) };
}

/** `anp://<kind>/<DID>`. */
function targetOf({ meta }: SignedCall): string {
  const target = readObject(meta["target"], "meta.target");
  return `anp://${readText(target["kind"], "meta.target.kind")}/${encodeURIComponent(readText(target["did"], "meta.target.did"))}`;
}

function bytesOf({ method, meta, body }: SignedCall): Uint8Array {
  return new TextEncoder().encode(canonicalJson({ method, meta, body }));
}
