import type { KeyObject } from "node:crypto";
import { AgentError, isObject, type JsonObject, type Maybe } from "../envelope/index.js";
import type { Link } from "../transport/exchange.js";
import { readJson } from "../transport/json.js";
import { DEFAULT_LIMITS } from "../transport/limits.js";
import { signingInput, unsigned, withoutEmpty } from "./card-signature.js";
import { canonicalJson, hasDuplicateMembers } from "./json-canonical.js";
import { DEFAULT_KEY_LIMITS, remoteKeys } from "./jwt-keys.js";
import {
  algorithmsOf,
  jwkOf,
  type KeyText,
  readPublicKey,
  type SigningAlgorithm,
  thumbprint,
  verifyBytes,
} from "./signing-key.js";

/** A trusted key and the name of its holder. */
export interface TrustedKey {
  /** The holder of the key, for reports. */
  readonly name: string;
  /** PEM (SPKI) or JWK. */
  readonly key: KeyText;
  /** Default: that of the JWK. Without one, the key is tried for any `kid`. */
  readonly kid?: Maybe<string>;
  /** Default: that of the JWK, or else those that fit the key. Others are refused. */
  readonly algorithms?: Maybe<readonly SigningAlgorithm[]>;
}

/** Which card signatures are trusted. */
export interface CardTrust {
  /** Trusted public keys. Default: none. */
  readonly keys?: Maybe<readonly TrustedKey[]>;
  /** Trusted key set URLs (JWKS), compared literally with a signature's `jku`. No other URL is fetched. */
  readonly trustedJku?: Maybe<readonly string[]>;
  /** Refuses cards without a trusted signature before using them. Default: false. */
  readonly require?: Maybe<boolean>;
}

/** The result of a card check. Anyone can sign a card: only `verified` identifies the signer. */
export type CardSignatureResult =
  | { readonly result: "unsigned" }
  /** `problem`: why a key set that might contain the key could not be read. */
  | { readonly result: "unknown"; readonly kids: readonly string[]; readonly problem?: Maybe<string> }
  /**
   * `partly`: the signature covers the card without its empty members. What those declare is then unsigned, in particular the
   * schemes of a security requirement without scopes.
   */
  | { readonly result: "verified"; readonly by: string; readonly partly?: true };

/** Throws `bad_signature` for a card that differs from what a trusted key signed, `downgrade_refused` for a missing signature. */
export type CardCheck = (bytes: Maybe<Uint8Array>) => Promise<CardSignatureResult>;

/** More than any key rotation needs. */
const MAX_SIGNATURES = 16;

/** Reads the key set at a trusted `jku`, bounded and cached. */
export type KeysAt = (jku: string) => Promise<readonly JsonObject[]>;

/** Key sets at these URLs only, fetched on demand, bounded and cached. */
export function publishedKeys(urls: readonly string[], link: Link, now: () => number): KeysAt {
  const sources = new Map(urls.map((url) => [url, remoteKeys({ url, link, now, limits: DEFAULT_KEY_LIMITS })]));
  return async (jku) => (await sources.get(jku)?.current())?.keys ?? [];
}

/** Creates the check of card signatures for a trust configuration. */
export function createCardCheck(trust: CardTrust = {}, keysAt?: KeysAt): CardCheck {
  const keys = (trust.keys ?? []).map(importKey);
  const sets = new Set(trust.trustedJku ?? []);

  /** The keys of the trusted sets that the signatures refer to. */
  async function fetchKeys(claims: readonly Claim[]): Promise<Published> {
    const found: ImportedKey[] = [];
    let problem: Maybe<string>;
    for (const jku of new Set(claims.flatMap(({ header }) => (typeof header?.["jku"] === "string" ? [header["jku"]] : [])))) {
      if (!sets.has(jku) || keysAt === undefined) continue;
      try {
        found.push(...importSet(await keysAt(jku), jku));
      } catch (thrown) {
        problem = `the key set at ${jku} could not be read: ${AgentError.from(thrown).message}`;
      }
    }
    return { keys: found, problem };
  }

  return async (bytes) => {
    const document = bytes === undefined || bytes.length === 0 ? undefined : readJson(bytes, DEFAULT_LIMITS);
    const claims = isObject(document) ? readClaims(document) : [];
    const result = await evaluate(bytes, document, claims);
    if (trust.require === true && result.result !== "verified") throw untrustedCard(result);
    return result;
  };

  async function evaluate(bytes: Maybe<Uint8Array>, document: unknown, claims: readonly Claim[]): Promise<CardSignatureResult> {
    if (claims.length === 0 || !isObject(document) || bytes === undefined) return { result: "unsigned" };
    if (hasDuplicateMembers(bytes)) throw badSignature("the signed card has a duplicate member");
    const published = await fetchKeys(claims);
    const all = [...keys, ...published.keys];
    const payloads = payloadsOf(document);
    const outcomes = claims.map((claim) => tryKeys(claim, all, payloads));
    const matching = outcomes.filter((outcome) => outcome.kind === "good");
    const best = matching.find(({ whole }) => whole) ?? matching[0];
    if (best !== undefined) return { result: "verified", by: best.by, ...(best.whole ? {} : { partly: true }) };
    const mismatch = outcomes.find((outcome) => outcome.kind === "wrong");
    if (mismatch !== undefined)
      throw badSignature(`the card does not match the signature of ${mismatch.by}: ${mismatch.because}`);
    return { result: "unknown", kids: claims.flatMap(({ kid }) => kid ?? []), problem: published.problem };
  }
}

interface Published {
  readonly keys: readonly ImportedKey[];
  readonly problem: Maybe<string>;
}

interface ImportedKey {
  readonly name: string;
  readonly kid: string;
  /** The kid was configured; a derived one need not be the one the signer uses. */
  readonly hasConfiguredKid: boolean;
  readonly key: KeyObject;
  readonly algorithms: readonly SigningAlgorithm[];
}

function importKey({ name, key, kid, algorithms }: TrustedKey): ImportedKey {
  const imported = readPublicKey(key);
  const jwk = jwkOf(key);
  const supported = algorithmsOf(imported);
  const pinned: readonly unknown[] = algorithms ?? (typeof jwk?.["alg"] === "string" ? [jwk["alg"]] : supported);
  const accepted = supported.filter((each) => pinned.includes(each));
  if (accepted.length === 0) throw new AgentError("invalid_message", `the key of ${name} does not fit its configured algorithms`);
  const configuredKid = kid ?? (typeof jwk?.["kid"] === "string" ? jwk["kid"] : undefined);
  return {
    name,
    kid: configuredKid ?? thumbprint(imported),
    hasConfiguredKid: configuredKid !== undefined,
    key: imported,
    algorithms: accepted,
  };
}

/** The usable keys of a set; unsupported kinds are skipped. */
function importSet(keys: readonly JsonObject[], url: string): readonly ImportedKey[] {
  return keys.flatMap((key) => {
    try {
      return [importKey({ name: url, key })];
    } catch {
      return [];
    }
  });
}

/** One claimed signature of a card; without a header if that is unreadable. */
interface Claim {
  readonly protected: string;
  readonly signature: Uint8Array;
  readonly header: Maybe<JsonObject>;
  readonly kid: Maybe<string>;
}

const BASE64URL = /^[A-Za-z0-9_-]+$/;

function readClaims(document: JsonObject): readonly Claim[] {
  const { signatures } = document;
  if (!Array.isArray(signatures)) return [];
  if (signatures.length > MAX_SIGNATURES) throw badSignature(`the card has more than ${MAX_SIGNATURES} signatures`);
  return signatures.map((each: unknown) => {
    const { protected: encoded, signature }: JsonObject = isObject(each) ? each : {};
    const header = typeof encoded === "string" ? readHeader(encoded) : undefined;
    return {
      protected: typeof encoded === "string" ? encoded : "",
      signature: Buffer.from(typeof signature === "string" && BASE64URL.test(signature) ? signature : "", "base64url"),
      header,
      kid: typeof header?.["kid"] === "string" ? header["kid"] : undefined,
    };
  });
}

/** Only the protected header counts: the unprotected one is not signed. */
function readHeader(encoded: string): Maybe<JsonObject> {
  if (!BASE64URL.test(encoded)) return undefined;
  const bytes = Buffer.from(encoded, "base64url");
  try {
    const header = readJson(bytes, DEFAULT_LIMITS);
    return isObject(header) && !hasDuplicateMembers(bytes) ? header : undefined;
  } catch {
    return undefined;
  }
}

/** The texts that may have been signed: the document as received, and without its empty members. */
function payloadsOf(document: JsonObject): readonly string[] {
  const whole = unsigned(document);
  try {
    return [...new Set([canonicalJson(whole), canonicalJson(withoutEmpty(whole))])];
  } catch (thrown) {
    throw badSignature(`the card cannot be checked: ${AgentError.from(thrown).message}`);
  }
}

type Outcome =
  | { readonly kind: "good"; readonly by: string; readonly whole: boolean }
  | { readonly kind: "wrong"; readonly by: string; readonly because: string }
  | { readonly kind: "unknown" };

/** A signature that names a trusted key but does not match it is wrong; one without a known `kid` may still match any key. */
function tryKeys(claim: Claim, keys: readonly ImportedKey[], payloads: readonly string[]): Outcome {
  let outcome: Outcome = { kind: "unknown" };
  for (const key of keys) {
    const kidMatches = claim.kid === key.kid;
    if (!kidMatches && key.hasConfiguredKid) continue;
    const attempt = tryKey(claim, key, payloads);
    if ("signed" in attempt) return { kind: "good", by: key.name, whole: attempt.signed === payloads[0] };
    if (kidMatches) outcome = { kind: "wrong", by: key.name, because: attempt.because };
  }
  return outcome;
}

function tryKey(
  { header, protected: encoded, signature }: Claim,
  key: ImportedKey,
  payloads: readonly string[],
): { readonly signed: string } | { readonly because: string } {
  if (header === undefined) return { because: "the signature header is unreadable" };
  // RFC 7515 §4.1.11: unknown critical parameters must be refused; none is supported.
  if (header["crit"] !== undefined || header["b64"] !== undefined)
    return { because: "the signature requires an unsupported extension" };
  const algorithm = key.algorithms.find((each) => each === header["alg"]);
  if (algorithm === undefined) return { because: `its key is used with ${key.algorithms.join(" or ")} only` };
  const signed = payloads.find((payload) => verifyBytes(algorithm, key.key, signingInput(encoded, payload), signature));
  return signed === undefined ? { because: "the signature does not match" } : { signed };
}

function untrustedCard(result: Exclude<CardSignatureResult, { readonly result: "verified" }>): AgentError {
  return new AgentError("downgrade_refused", `a card signed by a trusted key is required, and ${describeCardSignature(result)}`, {
    sent: "no",
  });
}

function badSignature(message: string): AgentError {
  return new AgentError("bad_signature", message, { sent: "no" });
}

const MAX_LISTED_KIDS = 4;
const MAX_KID_CHARS = 64;

/** A result as a sentence, for messages. */
export function describeCardSignature(result: CardSignatureResult): string {
  if (result.result === "unsigned") return "the card is not signed";
  if (result.result === "verified") {
    const rest = result.partly === true ? "; its empty members, and what they name, are not covered" : "";
    return `the card is signed by ${result.by}, a trusted key${rest}`;
  }
  const kids = result.kids.slice(0, MAX_LISTED_KIDS).map((kid) => JSON.stringify(kid.slice(0, MAX_KID_CHARS)));
  const kidList = kids.length === 0 ? "" : ` (kid ${kids.join(", ")})`;
  return `the card is signed, but not by a trusted key${kidList}${result.problem === undefined ? "" : `; ${result.problem}`}`;
}
