import type { KeyObject } from "node:crypto";
import { AgentError, isObject, type JsonObject, type Maybe } from "../envelope/index.js";
import { readJson } from "../transport/json.js";
import { DEFAULT_LIMITS } from "../transport/limits.js";
import { signingInput, unsigned, withoutEmpty } from "./card-signature.js";
import { canonicalJson, hasDuplicateMembers } from "./json-canonical.js";
import {
  algorithmsOf,
  jwkOf,
  type KeyText,
  readPublicKey,
  type SigningAlgorithm,
  thumbprint,
  verifyBytes,
} from "./signing-key.js";

/** A key whose signatures mean something here, and the name of whom it belongs to. */
export interface TrustedKey {
  readonly name: string;
  /** PEM (SPKI) or JWK. */
  readonly key: KeyText;
  /** Default: that of the JWK; without any, the key is tried whatever name a signature gives. */
  readonly kid?: Maybe<string>;
  /** Default: that of the JWK, else what suits the key. No other is taken. */
  readonly algorithms?: Maybe<readonly SigningAlgorithm[]>;
}

/** Whose signatures on cards count. */
export interface CardTrust {
  readonly keys?: Maybe<readonly TrustedKey[]>;
  /** Addresses of key sets (JWKS), exactly as a signature's `jku` writes them. No other is ever fetched. */
  readonly trustedJku?: Maybe<readonly string[]>;
  /** A card that no trusted key signed is refused before anything it says is acted on. */
  readonly require?: Maybe<boolean>;
}

/** Anybody can sign his own card: only `verified` says by whom. */
export type CardSignatureResult =
  | { readonly result: "unsigned" }
  /** `problem`: why a key set that might have the key could not be read. */
  | { readonly result: "unknown"; readonly kids: readonly string[]; readonly problem?: Maybe<string> }
  /**
   * `partly`: signed as readers see it that drop empty members. What those name is then anybody's word: which schemes a
   * security requirement without scopes asks for, above all.
   */
  | { readonly result: "verified"; readonly by: string; readonly partly?: true };

/** Throws `bad_signature` for a card that is not what a trusted key signed, `downgrade_refused` for want of a signature. */
export type CardCheck = (bytes: Maybe<Uint8Array>) => Promise<CardSignatureResult>;

/** More signatures than any change of keys needs. */
const MAX_SIGNATURES = 16;

/** Reads the key set at a trusted `jku`; bounds and caches what it reads. */
export type KeysAt = (jku: string) => Promise<readonly JsonObject[]>;

export function createCardCheck(trust: CardTrust = {}, keysAt?: KeysAt): CardCheck {
  const keys = (trust.keys ?? []).map(importKey);
  const sets = new Set(trust.trustedJku ?? []);

  /** The keys of the sets that the signatures name, of those that are trusted. */
  async function publishedKeys(claims: readonly Claim[]): Promise<Published> {
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
    const document = bytes === undefined || bytes.length === 0 ? undefined : readJson(bytes, DEFAULT_LIMITS.jsonDepth);
    const claims = isObject(document) ? readClaims(document) : [];
    const verdict = await judge(bytes, document, claims);
    if (trust.require === true && verdict.result !== "verified") throw notGoodEnough(verdict);
    return verdict;
  };

  async function judge(bytes: Maybe<Uint8Array>, document: unknown, claims: readonly Claim[]): Promise<CardSignatureResult> {
    if (claims.length === 0 || !isObject(document) || bytes === undefined) return { result: "unsigned" };
    if (hasDuplicateMembers(bytes)) throw badSignature("a signed card must not have a member twice, and this one has");
    const published = await publishedKeys(claims);
    const all = [...keys, ...published.keys];
    const payloads = payloadsOf(document);
    const outcomes = claims.map((claim) => tryKeys(claim, all, payloads));
    const good = outcomes.filter((outcome) => outcome.kind === "good");
    const best = good.find(({ whole }) => whole) ?? good[0];
    if (best !== undefined) return { result: "verified", by: best.by, ...(best.whole ? {} : { partly: true }) };
    const wrong = outcomes.find((outcome) => outcome.kind === "wrong");
    if (wrong !== undefined) throw badSignature(`the card is not what ${wrong.by} signed: ${wrong.because}`);
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
  /** The kid was configured; one we made up ourselves need not be the one the signer uses. */
  readonly named: boolean;
  readonly key: KeyObject;
  readonly algorithms: readonly SigningAlgorithm[];
}

function importKey({ name, key, kid, algorithms }: TrustedKey): ImportedKey {
  const imported = readPublicKey(key);
  const jwk = jwkOf(key);
  const able = algorithmsOf(imported);
  const pinned: readonly unknown[] = algorithms ?? (typeof jwk?.["alg"] === "string" ? [jwk["alg"]] : able);
  const taken = able.filter((each) => pinned.includes(each));
  if (taken.length === 0) throw new AgentError("invalid_message", `the key of ${name} is of another kind than its algorithms`);
  const given = kid ?? (typeof jwk?.["kid"] === "string" ? jwk["kid"] : undefined);
  return { name, kid: given ?? thumbprint(imported), named: given !== undefined, key: imported, algorithms: taken };
}

/** The keys of a set that can be used; one of a kind that is not used here is passed over. */
function importSet(keys: readonly JsonObject[], url: string): readonly ImportedKey[] {
  return keys.flatMap((key) => {
    try {
      return [importKey({ name: url, key })];
    } catch {
      return [];
    }
  });
}

/** One signature as the card claims it; without a header where that cannot be read. */
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

/** Only the protected header counts: what stands beside it can be changed by anybody on the way. */
function readHeader(encoded: string): Maybe<JsonObject> {
  if (!BASE64URL.test(encoded)) return undefined;
  const bytes = Buffer.from(encoded, "base64url");
  try {
    const header = readJson(bytes, DEFAULT_LIMITS.jsonDepth);
    return isObject(header) && !hasDuplicateMembers(bytes) ? header : undefined;
  } catch {
    return undefined;
  }
}

/** What may have been signed: the text as it came, then as readers see it that drop empty members. */
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

/** A signature that names a trusted key and is not by it is wrong; one that names no key of ours may still be by one. */
function tryKeys(claim: Claim, keys: readonly ImportedKey[], payloads: readonly string[]): Outcome {
  let outcome: Outcome = { kind: "unknown" };
  for (const key of keys) {
    const meant = claim.kid === key.kid;
    if (!meant && key.named) continue;
    const tried = tryKey(claim, key, payloads);
    if ("signed" in tried) return { kind: "good", by: key.name, whole: tried.signed === payloads[0] };
    if (meant) outcome = { kind: "wrong", by: key.name, because: tried.because };
  }
  return outcome;
}

function tryKey(
  { header, protected: encoded, signature }: Claim,
  key: ImportedKey,
  payloads: readonly string[],
): { readonly signed: string } | { readonly because: string } {
  if (header === undefined) return { because: "the signature's header cannot be read" };
  // RFC 7515 §4.1.11: who does not understand what is critical must refuse; nothing critical is understood here.
  if (header["crit"] !== undefined || header["b64"] !== undefined)
    return { because: "the signature demands what is not known here" };
  const algorithm = key.algorithms.find((each) => each === header["alg"]);
  if (algorithm === undefined) return { because: `its key is used with ${key.algorithms.join(" or ")} only` };
  const signed = payloads.find((payload) => verifyBytes(algorithm, key.key, signingInput(encoded, payload), signature));
  return signed === undefined ? { because: "the signature does not fit" } : { signed };
}

function notGoodEnough(verdict: Exclude<CardSignatureResult, { readonly result: "verified" }>): AgentError {
  return new AgentError("downgrade_refused", `a card signed by a trusted key is required, and ${sentenceOf(verdict)}`, {
    sent: "no",
  });
}

function badSignature(message: string): AgentError {
  return new AgentError("bad_signature", message, { sent: "no" });
}

const SHOWN_KIDS = 4;
const SHOWN_KID_CHARS = 64;

/** What a verdict means, for people. */
export function sentenceOf(verdict: CardSignatureResult): string {
  if (verdict.result === "unsigned") return "the card is not signed";
  if (verdict.result === "verified") {
    const rest = verdict.partly === true ? "; its empty members, and what they name, are not covered" : "";
    return `the card is signed by ${verdict.by}, whose key is trusted here${rest}`;
  }
  const kids = verdict.kids.slice(0, SHOWN_KIDS).map((kid) => JSON.stringify(kid.slice(0, SHOWN_KID_CHARS)));
  const which = kids.length === 0 ? "" : ` (kid ${kids.join(", ")})`;
  return `the card is signed, but by no key that is trusted here${which}${verdict.problem === undefined ? "" : `; ${verdict.problem}`}`;
}
