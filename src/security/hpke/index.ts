/** Hybrid public key encryption (RFC 9180), base mode, X25519 with HKDF-SHA256 and ChaCha20Poly1305. */

export { type HpkeRecipient, type HpkeSender, hpkeRecipient, hpkeSender, type RecipientKey } from "./hpke.js";
