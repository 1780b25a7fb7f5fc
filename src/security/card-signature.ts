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
  /** The header as base64url of its JSON; it is part of what is signed. */
  readonly protected: string;
  readonly signature: string;
}

export interface CardSignerOptions {
  /** A private key: PEM (PKCS#8) or JWK. */
  readonly key: KeyText;
  /** How readers find the public half. Default: that of the JWK, else its RFC 7638 thumbprint. */
  readonly kid?: Maybe<string>;
  /** Default: that of the JWK, else what suits the key. */
  readonly algorithm?: Maybe<SigningAlgorithm>;
  /** Where the public half is published, for readers who trust that address. */
  readonly jku?: Maybe<string>;
}

/** Signs cards with one key. Several signers side by side let the key change without a day on which nobody can check. */
export interface CardSigner {
  readonly algorithm: SigningAlgorithm;
  readonly kid: string;
  /** The public half, ready to stand in a JWKS. */
  readonly publicJwk: JsonObject;
  /** Over a payload in canonical form. */
  sign(payload: string): CardSignature;
}

export function cardSigner({ key, kid, algorithm, jku }: CardSignerOptions): CardSigner {
  const privateKey = readPrivateKey(key);
  const jwk = jwkOf(key);
  const name = kid ?? textOr(jwk?.["kid"], thumbprint(privateKey));
  const able = algorithmsOf(privateKey);
  const wanted = algorithm ?? jwk?.["alg"] ?? able[0];
  const chosen = able.find((each) => each === wanted);
  if (chosen === undefined)
    throw new AgentError("invalid_message", `this key signs with ${able.join(" or ")}, not with ${String(wanted)}`);
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

/** What the signature is over (RFC 7515 §5.1). */
export function signingInput(header: string, payload: string): Uint8Array {
  return Buffer.from(`${header}.${encodeText(payload)}`, "ascii");
}

function encodeText(text: string): string {
  return Buffer.from(text, "utf8").toString("base64url");
}

function textOr(value: unknown, otherwise: string): string {
  return typeof value === "string" && value !== "" ? value : otherwise;
}

/**
 * The signatures of one key over a card document: over the text as it is and, where that is another text, over `view`
 * without its empty members, because some readers drop these before they check. `view` is what such readers see of the
 * document; it is less than the document where that holds the members of two versions.
 */
export function signCard(document: JsonObject, signer: CardSigner, view: JsonObject = document): readonly CardSignature[] {
  const whole = unsigned(plainCopy(document));
  refuseEmpty(whole);
  const payloads = new Set([canonicalJson(whole), canonicalJson(withoutEmpty(unsigned(plainCopy(view))))]);
  return Array.from(payloads, (payload) => signer.sign(payload));
}

/** Keys that sign side by side. Each may sign a document twice, and readers take 16 signatures at most. */
const MAX_SIGNERS = 8;
/** Documents whose signatures are remembered: cards of a few agents in a few forms, for a few callers. */
const MAX_SIGNED_DOCUMENTS = 1_000;

/** The signatures of all keys over a document. Signing costs; the same text is signed once. */
export function cardSignatures(
  signers: readonly CardSigner[],
): (document: JsonObject, view?: JsonObject) => readonly CardSignature[] {
  if (signers.length > MAX_SIGNERS) throw new AgentError("too_large", `at most ${MAX_SIGNERS} keys sign a card`);
  const known = new Map<string, readonly CardSignature[]>();
  return (document, view) => {
    if (signers.length === 0) return [];
    // By digest: what one caller may see is not kept here, nor does a large card make a large key.
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

/** The document that is signed: all of it but the signatures. */
export function unsigned(document: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(document).filter(([name]) => name !== "signatures"));
}

/** As it will be written: members that are undefined are not there. */
function plainCopy(document: JsonObject): JsonObject {
  return JSON.parse(JSON.stringify(document)) as JsonObject; // the JSON of an object is an object
}

/** The document as readers see it that take an empty text, list or object for an absent one, down to the last level. */
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

/** Members a card must have; on the way to a reader an empty one may get lost, and with it the signature. */
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
    throw new AgentError("invalid_message", `${field} is empty; a card that is signed says something there`, { field });
  }
}
