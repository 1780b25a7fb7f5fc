import { isObject, type JsonObject, type Maybe } from "../../envelope/index.js";
import { DecodeProblem, optional, readText } from "../../transport/fields.js";
import { readTimestamp } from "../../transport/timestamp.js";
import { decodeBase58 } from "./base58.js";
import type { KeyKind, PublicKey } from "./identity.js";
import { decodeMultibase, decodeMultikey } from "./multikey.js";
import { hasPrivatePart, keyBytes, keyOfJwk } from "./public-key.js";

/** The known types of verification methods, with the kind of key they hold; `any`: the key says it itself. */
const TYPES: { readonly [type: string]: KeyKind | "any" } = {
  Multikey: "any",
  JsonWebKey: "any",
  JsonWebKey2020: "any",
  Ed25519VerificationKey2018: "Ed25519",
  Ed25519VerificationKey2020: "Ed25519",
  EcdsaSecp256k1VerificationKey2019: "secp256k1",
  EcdsaSecp256r1VerificationKey2019: "P-256",
  X25519KeyAgreementKey2019: "X25519",
  X25519KeyAgreementKey2020: "X25519",
};

const MATERIAL = ["publicKeyMultibase", "publicKeyJwk", "publicKeyBase58", "publicKeyHex"] as const;

/** The key of a verification method, without id and uses. Undefined for types and curves that are not known here. */
export function keyOfMethod(method: JsonObject, path: string): Maybe<Pick<PublicKey, "kind" | "bytes">> {
  const type = readText(method["type"], `${path}.type`);
  const members = MATERIAL.filter((each) => Object.hasOwn(method, each));
  const jwk = method["publicKeyJwk"];
  if (Object.hasOwn(method, "privateKeyJwk") || (isObject(jwk) && hasPrivatePart(jwk)))
    throw new DecodeProblem(path, "contains a private key; whoever reads the document has it");
  const kind = TYPES[type];
  if (kind === undefined) return undefined;
  const [member] = members;
  if (member === undefined) throw new DecodeProblem(path, "has no public key");
  if (members.length > 1) throw new DecodeProblem(path, `has its key in more than one form: ${members.join(", ")}`);
  if (member === "publicKeyHex") return undefined; // not defined for any of these types
  const key = member === "publicKeyJwk" ? keyOfJwk(jwk) : keyOfText(member, method[member], kind);
  if (key === undefined && isOtherCurve(jwk, kind)) return undefined;
  if (key === undefined) throw new DecodeProblem(`${path}.${member}`, `is not a valid ${type} key`);
  if (kind !== "any" && key.kind !== kind)
    throw new DecodeProblem(`${path}.${member}`, `is a ${key.kind} key, but its type is ${type}`);
  return key;
}

/** Some documents write the bytes of a key without their multicodec prefix. Then the type of the method says what they are. */
function keyOfText(
  member: "publicKeyMultibase" | "publicKeyBase58",
  text: unknown,
  kind: KeyKind | "any",
): Maybe<Pick<PublicKey, "kind" | "bytes">> {
  if (typeof text !== "string") return undefined;
  const prefixed = member === "publicKeyMultibase" ? decodeMultikey(text) : undefined;
  if (prefixed !== undefined || kind === "any") return prefixed;
  const decoded = member === "publicKeyMultibase" ? decodeMultibase(text) : decodeBase58(text);
  const bytes = decoded && keyBytes(kind, decoded);
  return bytes && { kind, bytes };
}

/** Curves that a JWK may name, but no key here can use. */
const OTHER_CURVES: ReadonlySet<unknown> = new Set(["P-384", "P-521", "Ed448", "X448", "BLS12381_G1", "BLS12381_G2"]);

function isOtherCurve(jwk: unknown, kind: KeyKind | "any"): boolean {
  return kind === "any" && isObject(jwk) && (OTHER_CURVES.has(jwk["crv"]) || jwk["kty"] === "RSA");
}

/** Until when a method is valid (Controlled Identifiers 1.0 §2.2): the earlier of `expires` and `revoked`. */
export function endOfMethod(method: JsonObject, path: string): Maybe<number> {
  const expires = optional(method["expires"], `${path}.expires`, readTimestamp);
  const revoked = optional(method["revoked"], `${path}.revoked`, readTimestamp);
  return expires === undefined || revoked === undefined ? (expires ?? revoked) : Math.min(expires, revoked);
}
