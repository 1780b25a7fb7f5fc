import { hash } from "node:crypto";
import { AgentError, isObject, type Json, type JsonObject, type Maybe } from "../envelope/index.js";
import { canonicalJson } from "./json-canonical.js";
import {
  algorithmsOf,
  jwkOf,
  type KeyText,
  publicJwk,
  readPrivateKey,
  type SigningAlgorithm,
  signBytes,
  thumbprint,
} from "./signing-key.js";

/** One signature of a card: a JWS (RFC 7515) with detached payload. */
export interface CardSignature extends JsonObject {
  /** The header as base64url of its JSON; part of the signed data. */
  readonly protected: string;
  readonly signature: string;
}

/** Options of `cardSigner`. */
export interface CardSignerOptions {
  /** A private key: PEM (PKCS#8) or JWK. */
  readonly key: KeyText;
  /** Identifies the public key. Default: that of the JWK, or else its RFC 7638 thumbprint. */
  readonly kid?: Maybe<string>;
  /** Default: that of the JWK, or else the one that fits the key. */
  readonly algorithm?: Maybe<SigningAlgorithm>;
  /** Where the public key is published, for readers that trust that URL. */
  readonly jku?: Maybe<string>;
}

/** Signs cards with one key. Several signers side by side allow key rotation without a gap. */
export interface CardSigner {
  readonly algorithm: SigningAlgorithm;
  readonly kid: string;
  /** The public key as a JWKS entry. */
  readonly publicJwk: JsonObject;
  /** Signs a payload in canonical form. */
  sign(payload: string): CardSignature;
}

/** Creates a signer of agent cards from a private key. */
export function cardSigner({ key, kid, algorithm, jku }: CardSignerOptions): CardSigner {
  const privateKey = readPrivateKey(key);
  const jwk = jwkOf(key);
  const name = kid ?? textOr(jwk?.["kid"], thumbprint(privateKey));
  const supported = algorithmsOf(privateKey);
  const requested = algorithm ?? jwk?.["alg"] ?? supported[0];
  const chosen = supported.find((each) => each === requested);
  if (chosen === undefined)
    throw new AgentError("invalid_message", `this key signs with ${supported.join(" or ")}, not with ${String(requested)}`);
  if (jku !== undefined && !/^https?:\/\//.test(jku))
    throw new AgentError("invalid_message", "jku must be an http or https URL", { field: "jku" });
  const header = encodeText(canonicalJson({ alg: chosen, kid: name, typ: "JOSE", ...(jku === undefined ? {} : { jku }) }));
  return {
    algorithm: chosen,
    kid: name,
    publicJwk: { ...publicJwk(privateKey), kid: name, alg: chosen, use: "sig" },
    sign(payload) {
      const bytes = signBytes(chosen, privateKey, signingInput(header, payload));
      return { protected: header, signature: Buffer.from(bytes).toString("base64url") };
    },
  };
}

/** The signed data (RFC 7515 §5.1). */
export function signingInput(header: string, payload: string): Uint8Array {
  return Buffer.from(`${header}.${encodeText(payload)}`, "ascii");
}

function encodeText(text: string): string {
  return Buffer.from(text, "utf8").toString("base64url");
}

function textOr(value: unknown, fallback: string): string {
  return typeof value === "string" && value !== "" ? value : fallback;
}

/**
 * The signatures of one key over a card document: over the document and, if that differs, over `view` without its empty members,
 * because some readers drop these before they verify. `view` is what such readers see of the document; it is smaller if the document
 * contains the members of two versions.
 */
export function signCard(document: JsonObject, signer: CardSigner, view: JsonObject = document): readonly CardSignature[] {
  const whole = unsigned(plainCopy(document));
  refuseEmpty(whole);
  const payloads = new Set([canonicalJson(whole), canonicalJson(withoutEmpty(unsigned(plainCopy(view))))]);
  return Array.from(payloads, (payload) => signer.sign(payload));
}

/** Keys that sign side by side. Each may sign a document twice, and readers accept at most 16 signatures. */
const MAX_SIGNERS = 8;
/** Cached signatures: cards of a few agents in a few forms, for a few callers. */
const MAX_SIGNED_DOCUMENTS = 1_000;

/** The signatures of all keys over a document, cached by content. */
export function cardSignatures(
  signers: readonly CardSigner[],
): (document: JsonObject, view?: JsonObject) => readonly CardSignature[] {
  if (signers.length > MAX_SIGNERS) throw new AgentError("too_large", `at most ${MAX_SIGNERS} keys may sign a card`);
  const known = new Map<string, readonly CardSignature[]>();
  return (document, view) => {
    if (signers.length === 0) return [];
    // Cached by digest: the cache holds no caller-specific content and no large keys.
    const digest = hash("sha256", JSON.stringify(document), "base64");
    let signatures = known.get(digest);
    if (signatures === undefined) {
      signatures = signers.flatMap((signer) => signCard(document, signer, view));
      const [oldest] = known.keys();
      if (known.size >= MAX_SIGNED_DOCUMENTS && oldest !== undefined) known.delete(oldest);
      known.set(digest, signatures);
    }
    return signatures;
  };
}

/** The signed document: everything except the signatures. */
export function unsigned(document: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(document).filter(([name]) => name !== "signatures"));
}

/** As serialised: without undefined members. */
function plainCopy(document: JsonObject): JsonObject {
  return JSON.parse(JSON.stringify(document)) as JsonObject; // the JSON of an object is an object
}

/** The document without empty strings, lists and objects at any level, as some readers see it. */
export function withoutEmpty(document: JsonObject): JsonObject {
  const kept = filled(document);
  return isObject(kept) ? kept : {};
}

function filled(value: Json | undefined): Maybe<Json> {
  if (value === null || value === undefined || value === "") return undefined;
  if (Array.isArray(value)) {
    const items = value.map(filled).filter((item) => item !== undefined);
    return items.length === 0 ? undefined : items;
  }
  if (!isObject(value)) return value;
  const members = Object.entries(value).flatMap(([name, member]) => {
    const kept = filled(member);
    return kept === undefined ? [] : [[name, kept] as const];
  });
  return members.length === 0 ? undefined : Object.fromEntries(members);
}

/** Required members: readers may drop empty ones, which invalidates the signature. */
const REQUIRED = [
  "name",
  "description",
  "version",
  "supportedInterfaces",
  "capabilities",
  "defaultInputModes",
  "defaultOutputModes",
  "skills",
] as const;
const REQUIRED_WITHIN: { readonly [member: string]: readonly string[] } = {
  provider: ["url", "organization"],
  supportedInterfaces: ["url", "protocolBinding", "protocolVersion"],
  skills: ["id", "name", "description", "tags"],
};

function refuseEmpty(document: JsonObject): void {
  refuseEmptyIn(document, REQUIRED, "");
  for (const [member, names] of Object.entries(REQUIRED_WITHIN)) {
    const value = document[member];
    if (!Array.isArray(value)) refuseEmptyIn(value, names, `${member}.`);
    else for (const [index, item] of value.entries()) refuseEmptyIn(item, names, `${member}[${index}].`);
  }
}

function refuseEmptyIn(value: Json | undefined, names: readonly string[], path: string): void {
  if (!isObject(value)) return;
  for (const name of names) {
    if (value[name] === undefined || filled(value[name]) !== undefined) continue;
    const field = `${path}${name}`;
    throw new AgentError("invalid_message", `${field} is empty; a signed card must set it`, { field });
  }
}
