import type { JSONWebKeySet, JWTPayload, JWTVerifyOptions, LocalJWKSet } from "jose";
import { AgentError } from "../envelope/index.js";
import { bearerRefusal } from "./bearer-token.js";
import type { KeySet, KeySource } from "./jwt-keys.js";

type Jose = typeof import("jose");
type Verify = (token: string) => Promise<JWTPayload>;

/** Only signatures by a private key: a public key must never serve as a shared secret. */
export const SIGNATURE_ALGORITHMS = [
  "RS256",
  "RS384",
  "RS512",
  "PS256",
  "PS384",
  "PS512",
  "ES256",
  "ES384",
  "ES512",
  "EdDSA",
  "Ed25519",
] as const;
export const SECRET_ALGORITHMS = ["HS256", "HS384", "HS512"] as const;

let loading: Promise<Jose> | undefined;
/** Loaded with the first token: most agents never see one. */
function loadJose(): Promise<Jose> {
  loading ??= import("jose");
  return loading;
}

/** Verifies with a secret that both sides were given. */
export function verifyWithSecret(secret: string, options: () => JWTVerifyOptions): Verify {
  const key = new TextEncoder().encode(secret);
  return async (token) => {
    const jose = await loadJose();
    return refusing(jose, async () => (await jose.jwtVerify(token, key, options())).payload);
  };
}

/** Verifies with the keys of an issuer; a token by a key we lack makes us look for newer ones, once. */
export function verifyWithKeys(source: KeySource, options: () => JWTVerifyOptions): Verify {
  const finders = new WeakMap<KeySet, LocalJWKSet>();

  function finderOf(jose: Jose, set: KeySet): LocalJWKSet {
    const finder = finders.get(set) ?? jose.createLocalJWKSet(set as unknown as JSONWebKeySet); // checked where they were fetched
    finders.set(set, finder);
    return finder;
  }

  async function verify(jose: Jose, token: string, set: KeySet): Promise<JWTPayload> {
    try {
      return (await jose.jwtVerify(token, finderOf(jose, set), options())).payload;
    } catch (thrown) {
      if (thrown instanceof jose.errors.JWKSMultipleMatchingKeys) return verifyWithEach(jose, token, thrown, options());
      throw thrown;
    }
  }

  return async (token) => {
    const jose = await loadJose();
    const set = await source.current();
    return refusing(jose, async () => {
      try {
        return await verify(jose, token, set);
      } catch (thrown) {
        const newer = thrown instanceof jose.errors.JWKSNoMatchingKey ? await source.newerThan(set) : undefined;
        if (newer === undefined) throw thrown;
        return verify(jose, token, newer);
      }
    });
  };
}

/**
 * A token that names no key, and an issuer with several: each is tried, and one that cannot be used is passed over. Their
 * number is limited where they are fetched.
 */
async function verifyWithEach(
  jose: Jose,
  token: string,
  candidates: InstanceType<Jose["errors"]["JWKSMultipleMatchingKeys"]>,
  options: JWTVerifyOptions,
): Promise<JWTPayload> {
  for await (const key of candidates) {
    try {
      return (await jose.jwtVerify(token, key, options)).payload;
    } catch (thrown) {
      const { JOSEError, JWSSignatureVerificationFailed } = jose.errors;
      const isRightKey = thrown instanceof JOSEError && !(thrown instanceof JWSSignatureVerificationFailed);
      if (isRightKey) throw thrown;
    }
  }
  throw new jose.errors.JWSSignatureVerificationFailed();
}

async function refusing(jose: Jose, verify: () => Promise<JWTPayload>): Promise<JWTPayload> {
  try {
    return await verify();
  } catch (thrown) {
    if (thrown instanceof AgentError) throw thrown;
    // The platform's own words are about a key it cannot use: one that the issuer publishes, and the token names.
    throw thrown instanceof jose.errors.JOSEError ? refusalOf(jose, thrown) : invalid("the key of the token cannot be used");
  }
}

/** What is wrong with the token, in words that repeat nothing of it. */
function refusalOf({ errors }: Jose, error: InstanceType<Jose["errors"]["JOSEError"]>): AgentError {
  if (error instanceof errors.JWTExpired) return invalid("the token has expired");
  if (error instanceof errors.JWTClaimValidationFailed) return invalid(claimProblem(error.claim, error.reason));
  if (error instanceof errors.JWSSignatureVerificationFailed) return invalid("the signature of the token is not right");
  if (error instanceof errors.JWKSNoMatchingKey) return invalid("the token is signed with a key that its issuer does not have");
  if (error instanceof errors.JOSEAlgNotAllowed || error instanceof errors.JOSENotSupported)
    return invalid("the token is signed in a way that is not accepted here");
  return invalid("the token is not a JWT that can be read");
}

const CLAIM_PROBLEMS: { readonly [claim: string]: string } = {
  nbf: "the token is not valid yet",
  aud: "the token is meant for another audience",
  iss: "the token comes from another issuer",
  iat: "the token is too old",
};

/** Claim names in our own words or as they were configured: only those are ever required. */
function claimProblem(claim: string, reason: string): string {
  if (reason === "missing") return `the token has no ${claim} claim`;
  return reason === "check_failed"
    ? (CLAIM_PROBLEMS[claim] ?? `the ${claim} claim of the token is not right`)
    : `the ${claim} claim of the token cannot be read`;
}

function invalid(description: string): AgentError {
  return bearerRefusal("invalid_token", description);
}
