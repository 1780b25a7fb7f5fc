import type { Maybe } from "../../envelope/index.js";
import type { SignatureAlgorithm } from "./algorithms.js";
import type { DigestAlgorithm } from "./content-digest.js";

/** The parameters of a signature that RFC 9421 §2.3 defines. */
export type SignatureParameter = "created" | "expires" | "nonce" | "alg" | "keyid" | "tag";

/**
 * A component of a profile. `body`: only if there is a body, or the profile has digests of empty ones. `present`: only if the message
 * has it.
 */
export type ProfileComponent = string | { readonly component: string; readonly when: "body" | "present" };

/** The components that one kind of message is signed with. */
export interface SignatureCoverage {
  /** Written, in this order. A component is written as in a signature, `"@method";req`, or without quotes if it has no parameters. */
  readonly sign: readonly ProfileComponent[];
  /** The least that a received signature must cover. Default: what is written. */
  readonly require?: Maybe<readonly ProfileComponent[]>;
  /** A received signature must not cover anything else. Default: it may. */
  readonly exact?: Maybe<boolean>;
}

/** What a protocol demands of its signatures. The same profile signs and verifies. */
export interface SignatureProfile {
  /** The label of written signatures. */
  readonly label: string;
  /** Only signatures with this label count. Default: any label. */
  readonly onlyLabel?: Maybe<boolean>;
  /**
   * Written as the parameter `tag`, last unless `parameters` has its place. Only signatures with this tag count. Default: no tag; then
   * there must be exactly one signature.
   */
  readonly tag?: Maybe<string>;
  /** Written, in this order. */
  readonly parameters: readonly SignatureParameter[];
  /** What a received signature must have. Default: all that are written. */
  readonly requiredParameters?: Maybe<readonly SignatureParameter[]>;
  readonly algorithms: readonly SignatureAlgorithm[];
  readonly digest: DigestAlgorithm;
  /** An empty body has a digest, too. Default: no. */
  readonly digestOfEmptyBody?: Maybe<boolean>;
  readonly request: SignatureCoverage;
  /** Default: responses are not signed. */
  readonly response?: Maybe<SignatureCoverage>;
  /** Of a response whose body is a stream, which has no digest. Default: a stream is not signed. */
  readonly stream?: Maybe<SignatureCoverage>;
  /** From `created` to `expires`; of a signature without `expires`, its longest age. */
  readonly lifetimeMs: number;
  /** How much clocks may differ. */
  readonly skewMs: number;
  /** The field Date, where it is covered, is as old as `created`, but for the skew. Default: they are not compared. */
  readonly comparesDate?: Maybe<boolean>;
  /** Either s of a secp256k1 signature counts, for senders that do not write the lower one. Default: the lower one only. */
  readonly eitherS?: Maybe<boolean>;
  /** Random bytes of a nonce, and how they are written. Default: 16 bytes in base64url. */
  readonly nonce?: Maybe<{ readonly bytes: number; readonly encoding: "base64url" | "hex" }>;
}

const MIN_COVERAGE: readonly ProfileComponent[] = [
  "@method",
  "@target-uri",
  { component: "content-type", when: "present" },
  { component: "content-digest", when: "body" },
];

/** Requests signed by a configured key: method, address, content type and body, once, within five minutes. */
export const PLAIN_SIGNATURES: SignatureProfile = Object.freeze({
  label: "sig1",
  parameters: ["created", "expires", "nonce", "keyid"] as const,
  algorithms: ["ed25519", "ecdsa-p256-sha256", "ecdsa-p384-sha384", "es256k", "rsa-pss-sha512", "hmac-sha256"] as const,
  digest: "sha-256" as const,
  request: { sign: MIN_COVERAGE },
  lifetimeMs: 300_000,
  skewMs: 30_000,
});
