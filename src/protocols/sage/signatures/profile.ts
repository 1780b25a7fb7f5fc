import type { SignatureProfile } from "../../../security/signatures/index.js";
import { AUTHOR_HEADER, DID_HEADER, SESSION_HEADER, STREAM_HEADER, TAG, TIMES } from "../wire.js";

/** What binds an answer to one request: its signature covers the rest of it. */
const OF_REQUEST = [
  '"@method";req',
  '"@authority";req',
  '"@path";req',
  '"@query";req',
  { component: '"signature";req', when: "present" as const },
] as const;
const SESSION = { component: SESSION_HEADER, when: "present" as const };
const AUTHOR = { component: AUTHOR_HEADER, when: "present" as const };
const CONTENT_TYPE = { component: "content-type", when: "present" as const };

/**
 * RFC 9421 over the components of the seed, with the query and the answers. A received signature covers at least what is written: less
 * would let somebody on the way change the rest. Inside a session its key may sign. Keys of accounts (secp256k1) have no registered algorithm, and do not sign HTTP.
 */
export const SIGNATURES: SignatureProfile = Object.freeze({
  label: "sage",
  tag: TAG,
  parameters: ["created", "expires", "nonce", "keyid", "alg", "tag"] as const,
  algorithms: ["ed25519", "hmac-sha256"] as const,
  digest: "sha-256" as const,
  digestOfEmptyBody: true,
  request: {
    sign: ["@method", "@authority", "@path", "@query", CONTENT_TYPE, "content-digest", "date", DID_HEADER, SESSION, AUTHOR],
  },
  response: { sign: ["@status", ...OF_REQUEST, CONTENT_TYPE, "content-digest", "date", DID_HEADER] },
  // A stream has no digest: its events are signed one by one, for its id.
  stream: { sign: ["@status", ...OF_REQUEST, CONTENT_TYPE, STREAM_HEADER, "date", DID_HEADER] },
  lifetimeMs: TIMES.lifetimeMs,
  skewMs: TIMES.skewMs,
  comparesDate: true,
});
