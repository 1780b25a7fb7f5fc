/**
 * The encrypted session of agent-connect 0.1 to 0.3 (ANP of 2024): JSON text frames, ECDH on P-256, AES-128-GCM. It is switched on by
 * the setting `legacySession`, for peers that have nothing else. `docs/anp.md` lists what it lacks.
 */
export const FRAME_VERSION = "1.0";
export const CIPHER_SUITE = "TLS_AES_128_GCM_SHA256";
export const GROUP = "secp256r1";
export const KEY_TYPE = "EcdsaSecp256r1VerificationKey2019";
/** What the SDK writes, although the curve is another one. Readers ignore it. */
export const PROOF_TYPE = "EcdsaSecp256k1Signature2019";
export const KEY_FRAGMENT = "keys-1";

/** Where the document of a did:all is read. */
export const DOCUMENT_BASE = "/v1/did/";

export const LEGACY_LIMITS = {
  /** One message of the handshake. */
  helloBytes: 8 * 1024,
  /** How old a hello may be, and how far ahead, as in the SDK. */
  skewMs: 30_000,
  /** Between the `finished` of the peer and the own one. */
  tickMs: 20,
  /** The most that a responder waits for the `finished` of its peer before it sends its own; an initiator waits less. */
  finishFirstMs: 1_000,
  peerFinishMs: 100,
  /** After the handshake an initiator is quiet for so long, then asks this often whether the peer reads, and so many times. */
  quietMs: 200,
  readyEveryMs: 250,
  readyTries: 6,
  /** Sessions that are opened for a call, if the peer of the first one does not read. */
  openTries: 2,
  /** The keys of a session are used for so long, whatever the peer offers, and for so many messages in each direction. */
  expiresSeconds: 86_400,
  messages: 65_536,
} as const;

/** The SDK ends a session that was silent for 15 s. */
export const HEARTBEAT_MS = 5_000;
