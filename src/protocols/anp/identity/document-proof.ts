import { AgentError, type Awaitable, isObject, type JsonObject } from "../../../envelope/index.js";
import { sha256 } from "../../../security/hashes.js";
import { type Identity, type PublicKey, verifySignature } from "../../../security/identity/index.js";
import { decodeMultibase } from "../../../security/identity/multikey.js";
import { canonicalJson } from "../../../security/json-canonical.js";
import { writeTimestamp } from "../../../transport/timestamp.js";

/** The proof suites of DID documents: that of W3C for Ed25519, and that of ANP for secp256k1 (ANP-03 §3.2). */
const SUITES = { Ed25519: "eddsa-jcs-2022", secp256k1: "didwba-jcs-ecdsa-secp256k1-2025" } as const;

const SIGNATURE_BYTES = 64;

/**
 * Adds a proof in the form of the SDK, because released readers accept no other: the options without the document's `@context`, the
 * signature in base64url.
 */
export function addProof(document: JsonObject, identity: Identity, key: PublicKey, nowMs: number): Awaitable<JsonObject> {
  const suite = key.kind === "Ed25519" || key.kind === "secp256k1" ? SUITES[key.kind] : undefined;
  if (suite === undefined) throw new AgentError("internal", `a ${key.kind} key cannot prove a DID document`);
  const options: JsonObject = {
    type: "DataIntegrityProof",
    created: `${writeTimestamp(nowMs).slice(0, 19)}Z`,
    verificationMethod: key.id,
    proofPurpose: "assertionMethod",
    cryptosuite: suite,
  };
  const finish = (signature: Uint8Array): JsonObject => ({
    ...document,
    proof: { ...options, proofValue: Buffer.from(signature).toString("base64url") },
  });
  const signature = identity.sign(key.id, signedBytes(options, document));
  return signature instanceof Promise ? signature.then(finish) : finish(signature);
}

/** Checks the proof of a document by this key, in the form of the SDK or that of W3C. Throws `bad_peer`. */
export function checkProof(document: JsonObject, key: PublicKey): void {
  const { proof, ...rest } = document;
  if (!isObject(proof)) throw refused("has no proof");
  const { proofValue, ...options } = proof;
  const suite = key.kind === "Ed25519" || key.kind === "secp256k1" ? SUITES[key.kind] : undefined;
  if (proof["type"] !== "DataIntegrityProof" || proof["cryptosuite"] !== suite)
    throw refused("has a proof of a type that is not supported");
  if (proof["proofPurpose"] !== "assertionMethod") throw refused("has a proof for another purpose");
  const by = proof["verificationMethod"];
  if (by !== key.id && by !== key.id.slice(key.id.indexOf("#"))) throw refused("has a proof by another key than the DID names");
  if (typeof proofValue !== "string") throw refused("has a proof without a value");
  const w3c = decodeMultibase(proofValue);
  const isW3c = w3c?.length === SIGNATURE_BYTES;
  // W3C Data Integrity EdDSA §3.3.1 copies the context of the document into the options; the SDK does not.
  const context = document["@context"];
  const signed = signedBytes(isW3c && context !== undefined ? { ...options, "@context": context } : options, rest);
  const signature = isW3c ? w3c : Buffer.from(proofValue, "base64url");
  if (!verifySignature(key, "assertion", signed, signature)) throw refused("has a proof that is wrong");
}

function signedBytes(options: JsonObject, document: JsonObject): Uint8Array {
  return Buffer.concat([sha256(canonicalJson(defined(options))), sha256(canonicalJson(document))]);
}

function defined(options: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
}

function refused(what: string): AgentError {
  return new AgentError("bad_peer", `the DID document ${what}`);
}
