import type { Call } from "../../src/envelope/index.js";
import { type RecordProfile, SEALED_RECORDS } from "../../src/security/sealed-records/index.js";
import type { SignatureProfile } from "../../src/security/signatures/index.js";

/**
 * Secured toy 1: the session toy, sealed and with identities.
 *
 *   GET  /secured-toy          { "secured-toy": 1, agents, url, did }
 *   POST /secured-toy          one operation with one answer; request and response signed (RFC 9421), the request once per challenge
 *   WebSocket /secured-toy     subprotocol `secured-toy.1`
 *     client   { hello, signature }    hello: JSON text { did, keyId, to, ephemeral, nonce, at }
 *     server   { hello, signature }    hello: JSON text { did, keyId, ephemeral }; the signature also covers the client's hello
 *     both     base64url of sealed records, in order; inside them the messages of the session toy
 *
 * Bytes and signatures of authors (`Envelope.proofs`) are in data parts: see `carried.ts`.
 */
export const PATH = "/secured-toy";
export const SUBPROTOCOL = "secured-toy.1";
export const VIA = { protocol: "secured-toy", version: "1", binding: "WS" } as const;
/** A challenge of the server, covered by the signature of the request that answers it. */
export const CHALLENGE = "secured-toy-challenge";
/** How long a challenge and a hello are accepted, and how much clocks may differ. */
export const LIFETIME_MS = 60_000;
export const SKEW_MS = 5_000;

export const RECORDS: RecordProfile = {
  ...SEALED_RECORDS,
  labels: { record: "secured-toy|1", initiatorKey: "secured-toy-client|1", responderKey: "secured-toy-server|1" },
  // A WebSocket keeps the order.
  window: 0,
};

export const SIGNATURES: SignatureProfile = {
  label: "toy",
  onlyLabel: true,
  tag: "secured-toy-1",
  parameters: ["created", "expires", "nonce", "keyid", "tag"],
  algorithms: ["ed25519", "ecdsa-p256-sha256", "es256k"],
  digest: "sha-256",
  request: { sign: ["@method", "@target-uri", "content-type", "content-digest", { component: CHALLENGE, when: "present" }] },
  response: { sign: ["@status", "content-digest", '"@method";req', { component: '"signature";req', when: "present" }] },
  lifetimeMs: LIFETIME_MS,
  skewMs: SKEW_MS,
};

/** The codec is that of the session toy, and what it loses is lost here. */
export function ownLosses(call: Call): Call {
  return call.derive({ reportLoss: (loss) => call.reportLoss({ ...loss, protocol: VIA.protocol }) });
}
