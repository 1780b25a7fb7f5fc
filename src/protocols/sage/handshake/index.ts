/** Handshakes between two DIDs, without a transport: each step takes and gives a JSON object. */

export { establish, type HandshakeForm, Responder, type Response } from "./establish.js";
export { HandshakeError, type HandshakeReason } from "./handshake-error.js";
export type { Initiation, SignedBy, Step } from "./hpke-form.js";
export type { HandshakeSide } from "./side.js";
