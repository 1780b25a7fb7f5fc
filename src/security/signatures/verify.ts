import type { KeyObject } from "node:crypto";
import type { Awaitable, Maybe } from "../../envelope/index.js";
import { type SignatureAlgorithm, verifyBase, withLowS } from "./algorithms.js";
import type { SignedMessage } from "./components.js";
import { checkContentDigest } from "./content-digest.js";
import { CoverageRules } from "./coverage.js";
import type { SignatureProfile } from "./profile.js";
import { type ReceivedSignature, readSignature } from "./read-signatures.js";
import { signatureBase } from "./sign.js";
import { SignatureError } from "./signature-error.js";

const DATE = '"date"';

/** The public key of a signer. Its algorithm decides; a signature that names another one is refused. */
export interface VerificationKey {
  readonly algorithm: SignatureAlgorithm;
  /** Of the kind that the algorithm takes: see `checkKey`. */
  readonly key: KeyObject;
}

/** Finds the key that a signature names. Undefined: there is none. Throws if it cannot be looked up now. */
export type KeyLookup<K extends VerificationKey> = (keyId: string) => Awaitable<Maybe<K>>;

/** A signature that verified over the head of a message. The body is not checked yet. */
export interface VerifiedSignature<K extends VerificationKey = VerificationKey> {
  readonly key: K;
  readonly keyId: string;
  readonly label: string;
  readonly nonce: Maybe<string>;
  /** Milliseconds: accepted from and until, with the skew. */
  readonly fromMs: number;
  readonly untilMs: number;
  /** The Content-Digest that it covers. */
  readonly digest: Maybe<string>;
}

/** What a message is: the stream of a response has no digest. */
export type MessageKind = "request" | "response" | "stream";

export interface VerificationOrder<K extends VerificationKey> {
  readonly message: SignedMessage;
  readonly kind: MessageKind;
  /** As far as the head says. */
  readonly hasBody: boolean;
  readonly nowMs: number;
  readonly keys: KeyLookup<K>;
}

/** Verifies the signatures of one profile. */
export class SignatureVerifier<K extends VerificationKey = VerificationKey> {
  readonly #profile: SignatureProfile;
  readonly #rules: { readonly [kind in MessageKind]: Maybe<CoverageRules> };
  readonly #required: NonNullable<SignatureProfile["requiredParameters"]>;

  constructor(profile: SignatureProfile) {
    this.#profile = profile;
    this.#rules = {
      request: new CoverageRules(profile.request),
      response: profile.response && new CoverageRules(profile.response),
      stream: profile.stream && new CoverageRules(profile.stream),
    };
    this.#required = [
      ...(profile.requiredParameters ?? profile.parameters),
      ...(profile.tag === undefined ? [] : (["tag"] as const)),
    ];
  }

  /** Checks syntax, coverage, time, key and signature, in this order. */
  verify({ message, kind, hasBody, nowMs, keys }: VerificationOrder<K>): Awaitable<VerifiedSignature<K>> {
    const rules = this.#rules[kind];
    if (rules === undefined) throw new SignatureError("coverage", `this profile does not sign a ${kind}`);
    const received = readSignature((message.response ?? message.request).headers, this.#profile);
    const keyId = this.#checkParameters(received);
    const needsDigest = kind !== "stream" && (hasBody || this.#profile.digestOfEmptyBody === true);
    const hasDigest = rules.check(received.components, message, needsDigest);
    const times = this.#checkTimes(received, nowMs);
    if (this.#profile.comparesDate === true) checkDate(received, message, this.#profile.skewMs);
    const key = keys(keyId);
    const finish = (found: Maybe<K>): VerifiedSignature<K> => {
      const { label, nonce } = received;
      const verified = this.#checkSignature(received, message, found);
      const { fromMs, untilMs } = times;
      const digest = hasDigest ? (message.response ?? message.request).headers["content-digest"] : undefined;
      return { key: verified, keyId, label, nonce, fromMs, untilMs, digest };
    };
    return key instanceof Promise ? key.then(finish) : finish(key);
  }

  /** Checks the body of a verified message. A body without a covered digest is refused. */
  checkBody({ digest }: VerifiedSignature<K>, body: Uint8Array): void {
    if (digest !== undefined) checkContentDigest(digest, body);
    else if (body.length > 0 || this.#profile.digestOfEmptyBody === true)
      throw new SignatureError("digest_missing", "the body is not covered by the signature: Content-Digest is missing");
  }

  #checkParameters(received: ReceivedSignature): string {
    for (const name of this.#required)
      if (received[name] === undefined) throw new SignatureError("missing_parameter", `the signature has no parameter ${name}`);
    if (received.keyid === undefined) throw new SignatureError("missing_parameter", "the signature has no parameter keyid");
    return received.keyid;
  }

  #checkTimes({ created, expires }: ReceivedSignature, nowMs: number): { readonly fromMs: number; readonly untilMs: number } {
    const { lifetimeMs, skewMs } = this.#profile;
    if (created === undefined) throw new SignatureError("missing_parameter", "the signature has no parameter created");
    const createdMs = created * 1_000;
    const expiresMs = expires === undefined ? createdMs + lifetimeMs : expires * 1_000;
    if (expiresMs <= createdMs) throw new SignatureError("bad_time", "the signature expires before it was created");
    if (expiresMs - createdMs > lifetimeMs)
      throw new SignatureError("bad_time", `the signature is valid for more than ${lifetimeMs / 1_000} seconds`);
    const [fromMs, untilMs] = [createdMs - skewMs, expiresMs + skewMs];
    if (fromMs > nowMs) throw new SignatureError("not_yet_valid", "the signature was created in the future");
    if (untilMs <= nowMs) throw new SignatureError("expired", "the signature has expired");
    return { fromMs, untilMs };
  }

  #checkSignature(received: ReceivedSignature, message: SignedMessage, key: Maybe<K>): K {
    if (key === undefined) throw new SignatureError("unknown_key", "the key of the signature is not known");
    const { algorithm } = key;
    if (received.alg !== undefined && received.alg !== algorithm)
      throw new SignatureError("algorithm", `the signature names another algorithm than its key has (${algorithm})`);
    if (!this.#profile.algorithms.includes(algorithm))
      throw new SignatureError("algorithm", `signatures with ${algorithm} are not accepted`);
    const base = signatureBase(received.components, message, received.text);
    const { signature } = received;
    const lower = this.#profile.eitherS === true && algorithm === "es256k" ? withLowS(signature) : signature;
    if (!verifyBase(algorithm, key.key, base, lower))
      throw new SignatureError("wrong", "the signature does not match the message");
    return key;
  }
}

/** Two times that disagree: one of them is not when the message was written. */
function checkDate({ components, created = 0 }: ReceivedSignature, { request, response }: SignedMessage, skewMs: number): void {
  const { date = "" } = (response ?? request).headers;
  if (!components.some(({ key }) => key === DATE)) return;
  const dateMs = Date.parse(date);
  if (new Date(dateMs).toUTCString() !== date) throw new SignatureError("bad_time", "the field Date is not a date of HTTP");
  if (Math.abs(dateMs - created * 1_000) > skewMs)
    throw new SignatureError(
      "bad_time",
      `the field Date and the time of the signature differ by more than ${skewMs / 1_000} seconds`,
    );
}
