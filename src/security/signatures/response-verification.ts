import { wholeBody } from "../../transport/body.js";
import type { HttpResponse, RequestSigner } from "../../transport/exchange.js";
import { DEFAULT_LIMITS } from "../../transport/limits.js";
import type { SignatureProfile } from "./profile.js";
import { type KeyLookup, SignatureVerifier, type VerificationKey } from "./verify.js";

export interface ResponseVerification {
  readonly profile: SignatureProfile;
  /** The keys of the peer that was called, and of nobody else. */
  readonly keys: KeyLookup<VerificationKey>;
  /** Milliseconds since the epoch. */
  now(): number;
  /** Default: `DEFAULT_LIMITS.bodyBytes`. */
  readonly bodyBytes?: number;
}

/**
 * The `verify` of a `RequestSigner`: checks the signature of a response, which its profile binds to the request, and then the digest of
 * its whole body. A stream has no digest: only its head is checked, and only if the profile signs streams.
 */
export function responseVerification(parts: ResponseVerification): NonNullable<RequestSigner["verify"]> {
  const { profile, keys, now, bodyBytes = DEFAULT_LIMITS.bodyBytes } = parts;
  const verifier = new SignatureVerifier(profile);
  return async (response, { method, target, headers }) => {
    const isStream = profile.stream !== undefined && response.headers["content-digest"] === undefined;
    const body = isStream ? undefined : await wholeBody(response.body, bodyBytes);
    const verified = await verifier.verify({
      message: { request: { method, target, headers }, response: { status: response.status, headers: response.headers } },
      kind: isStream ? "stream" : "response",
      hasBody: body !== undefined && body.length > 0,
      nowMs: now(),
      keys,
    });
    if (body === undefined) return response;
    verifier.checkBody(verified, body);
    return { ...response, body } satisfies HttpResponse;
  };
}
