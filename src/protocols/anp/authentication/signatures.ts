import type { SignatureProfile } from "../../../security/signatures/index.js";
import { TIMES } from "../wire.js";

/**
 * HTTP message signatures of ANP-02 1.2. The components and parameters are written in the order in which the verifiers of the SDK
 * rebuild them. A received signature must cover the method, the address and the digest of a body: the SDK does not demand that.
 */
export const SIGNATURES: SignatureProfile = Object.freeze({
  label: "sig1",
  parameters: ["created", "expires", "nonce", "keyid"] as const,
  requiredParameters: ["created", "nonce", "keyid"] as const,
  algorithms: ["ed25519", "ecdsa-p256-sha256", "es256k"] as const,
  digest: "sha-256" as const,
  request: {
    sign: ["@method", "@target-uri", "@authority", { component: "content-digest", when: "body" as const }],
    require: ["@method", "@target-uri", { component: "content-digest", when: "body" as const }],
  },
  lifetimeMs: TIMES.lifetimeMs,
  skewMs: TIMES.skewMs,
  // The SDK does not choose the lower s.
  eitherS: true,
  nonce: { bytes: 16, encoding: "hex" as const },
});

/** What a challenge asks for (RFC 9421 §5.1). */
export const ACCEPT_SIGNATURE = 'sig1=("@method" "@target-uri" "@authority" "content-digest");created;expires;nonce;keyid';
