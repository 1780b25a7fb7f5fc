import type { JSONWebKeySet, JWTPayload, JWTVerifyOptions, LocalJWKSet } from "jose";
import { AgentError } from "../envelope/index.js";
import { bearerRefusal } from "./bearer-token.js";
import type { KeySet, KeySource } from "./jwt-keys.js";

type Jose = typeof import("jose");
type Verify = (token: string) => Promise<JWTPayload>;

/** Asymmetric algorithms only: a public key must never serve as a shared secret. */
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

/** Verifies with a shared secret. */
export function verifyWithSecret(secret: string, options: () => JWTVerifyOptions): Verify {
  const key = new TextEncoder().encode(secret);
  return async (token) => {
    const jose = await loadJose();
    return refusing(jose, async () => (await jose.jwtVerify(token, key, options())).payload);
  };
}

/** Verifies with an issuer's keys; an unknown key triggers one refresh. */
export function verifyWithKeys(source: KeySource, options: () => JWTVerifyOptions): Verify {
  const finders = new WeakMap<KeySet, LocalJWKSet>();

  function finderOf(jose: Jose, set: KeySet): LocalJWKSet {
    const finder = finders.get(set) ?? jose.createLocalJWKSet(set as unknown as JSONWebKeySet); // checked when fetched
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
 * For a token without `kid` and an issuer with several keys: tries each and skips unusable ones. Their number is limited when they are
 * fetched.
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
    // Errors of the crypto platform concern an unusable key that the issuer publishes and the token names.
    throw thrown instanceof jose.errors.JOSEError ? refusalOf(jose, thrown) : invalid("the key of the token is not usable");
  }
}

/** Describes why the token is invalid without repeating its content. */
function refusalOf({ errors }: Jose, error: InstanceType<Jose["errors"]["JOSEError"]>): AgentError {
  if (error instanceof errors.JWTExpired) return invalid("the token has expired");
  if (error instanceof errors.JWTClaimValidationFailed) return invalid(claimProblem(error.claim, error.reason));
  if (error instanceof errors.JWSSignatureVerificationFailed) return invalid("the signature of the token is invalid");
  if (error instanceof errors.JWKSNoMatchingKey)
    return invalid("the token is signed with a key that its issuer does not publish");
  if (error instanceof errors.JOSEAlgNotAllowed || error instanceof errors.JOSENotSupported)
    return invalid("the signature algorithm of the token is not accepted");
  return invalid("the token is not a valid JWT");
}

const CLAIM_PROBLEMS: { readonly [claim: string]: string } = {
  nbf: "the token is not valid yet",
  aud: "the token is meant for another audience",
  iss: "the token is from another issuer",
  iat: "the token is too old",
};

/** Claim names are constants or configured: only those are ever required. */
function claimProblem(claim: string, reason: string): string {
  if (reason === "missing") return `the token has no ${claim} claim`;
  return reason === "check_failed"
    ? (CLAIM_PROBLEMS[claim] ?? `the ${claim} claim of the token is invalid`)
    : `the ${claim} claim of the token is unreadable`;
}

function invalid(description: string): AgentError {
  return bearerRefusal("invalid_token", description);
}
