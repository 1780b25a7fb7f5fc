import type { Maybe } from "../../../envelope/index.js";
import { type RecordProfile, SEALED_RECORDS } from "../../../security/sealed-records/index.js";
import { httpAddress } from "../../../transport/request.js";

/** Koine's session for ANP. `docs/anp.md` specifies it byte by byte, and `fixtures/session.json` has vectors. */

/** The WebSocket subprotocol. */
export const SUBPROTOCOL = "koine.anp.session.v1";
/** The profiles that this version has, best first. Both hellos are signed, and with them what was offered and what was chosen. */
export const PROFILES = ["X25519-HKDF-SHA256-AES256GCM"] as const;
export type SessionProfile = (typeof PROFILES)[number];

/** Domain separation: every hash, signature and key of this session begins with one of these. */
export const LABELS = {
  transcript: "koine-anp-session|1|transcript",
  clientSignature: "koine-anp-session|1|client",
  serverSignature: "koine-anp-session|1|server",
  secret: "koine-anp-session|1|secret",
} as const;

export const RECORDS: RecordProfile = {
  ...SEALED_RECORDS,
  labels: {
    record: "koine-anp-session|1|record",
    initiatorKey: "koine-anp-session|1|client-key",
    responderKey: "koine-anp-session|1|server-key",
  },
  // A WebSocket keeps the order: what is missing or repeated was removed or repeated by somebody.
  window: 0,
  recordBytes: 256 * 1024 + 1,
};

/** Which address of a server a session is bound to. */
export interface SessionAddress {
  /** Host and port as in a URL. */
  readonly authority: string;
  readonly path: string;
}

/** The address in a description: the DID that must be proved there, and, if a relay is in between, the agent's own address. */
export function sessionUrl(rpc: string, did: Maybe<string>, own?: Maybe<SessionAddress>): string {
  const url = rpc.replace(/^http/, "ws");
  if (did === undefined) return url;
  const at = own === undefined ? "" : `&at=${encodeURIComponent(own.authority + own.path)}`;
  return `${url}?did=${encodeURIComponent(did)}${at}`;
}

/** The parts of such an address. */
export function readSessionUrl(url: string): SessionAddress & { readonly did: Maybe<string> } {
  const { host, pathname, searchParams } = new URL(httpAddress(url));
  const [, authority = host, path = pathname] = /^([^/]+)(\/.*)$/.exec(searchParams.get("at") ?? "") ?? [];
  return { did: searchParams.get("did") ?? undefined, authority, path };
}

export const NONCE_BYTES = 32;
export const KEY_BYTES = 32;

export const SESSION_LIMITS = {
  /** One message of the handshake. */
  helloBytes: 8 * 1024,
  /** From the first message to the end of the handshake, on either side. */
  handshakeMs: 10_000,
  /** How much the clocks may differ. */
  skewMs: 60_000,
  /** Handshakes of one network in a minute that did not prove a DID; above it hellos are refused without further work. */
  failedHellos: 60,
  /** One message, over all its records. */
  messageBytes: 16 * 1024 * 1024,
  /** Incomplete messages of all sessions of a server. */
  incompleteBytes: 64 * 1024 * 1024,
  /** Before its end, in records and time, a session takes no further calls. */
  lastRecords: 1_024,
  lastMs: 60_000,
} as const;

/** While calls run, a silent peer is asked this often, and given up after that many questions. */
export const HEARTBEAT = { everyMs: 15_000, missed: 3 } as const;
/** Work that takes longer is confirmed. */
export const RECEIPT_MS = 1_000;
