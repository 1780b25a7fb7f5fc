import { createCipheriv, createDecipheriv, createHmac, createSecretKey, hash, timingSafeEqual } from "node:crypto";
import { MessageSigner, SignatureVerifier } from "../../../src/internal.js";
import { SageSession } from "../../../src/protocols/sage/session/index.js";
import type { SignatureProfile } from "../../../src/public/auth.js";
import type { RatioDefinition } from "../../harness/conclude.js";

/** What is measured of SAGE: messages that are sealed and signed in a session, handshakes, and the resolution of DIDs. */

/** The latencies of the SAGE design's own table. */
export const CLAIM = { plain: "10 to 50 ms", secured: "100 to 200 ms" } as const;

/** An HTTP echo: verify, open, seal and sign. */
export const ECHO_CASES = [
  {
    key: "sage_echo_300b",
    title: "SAGE session over HTTP that echoes, 300 bytes",
    bytes: 300,
    warmUpMessages: 1_000,
  },
  {
    key: "sage_echo_64kb",
    title: "SAGE session over HTTP that echoes, 64 KB",
    bytes: 64 * 1024,
    warmUpMessages: 200,
  },
] as const;

export type SageKind = "plain" | "short" | "bare" | "session";
export const SERVERS: readonly (readonly [arm: string, kind: SageKind])[] = [
  ["bare primitives", "bare"],
  ["bare primitives again", "bare"],
  ["session", "session"],
];
/** HTTP without any cryptography, and the primitives with one short header field, beside them in full runs. */
export const BESIDE: readonly (readonly [arm: string, kind: SageKind])[] = [
  ["plain http", "plain"],
  ["one field", "short"],
];

/** Without a socket, in one process; no targets. Handshakes are both halves together. */
export const WORK_CASES = [
  {
    key: "sage_handshake",
    title: "SAGE handshakes, both halves",
    floor: "bare hpke",
    arms: ["hpke", "bare four-phase", "four-phase"],
  },
  {
    key: "sage_resolution",
    title: "Resolving a did:sage",
    floor: "embedded, cached",
    arms: ["embedded, not cached", "chain, cached", "chain, not cached"],
  },
] as const;

/**
 * Batches of signed messages, verified in one thread and with threads beside it: of the size from which threads are used, and of a larger
 * one. The process may use every core: wall time is what counts.
 */
export const BATCH_CASES = [256, 1_024].map((size) => ({
  key: `sage_batch_${size}`,
  title: `Verifying a batch of ${size} signed messages of 300 bytes`,
  size,
}));
export const BATCH_ARMS = ["one thread", "one thread again", "threads"] as const;
/** What this machine allows: cores may share what they calculate with. */
export const BOUND_CASE = {
  key: "sage_batch_bound",
  title: "Verifying bare Ed25519 signatures in one process and in two",
} as const;
export const BOUND_ARMS = ["one process", "one process again", "two processes"] as const;
const BATCH_AT_LEAST = 1.7;

const [FLOOR, AGAIN, SESSION] = ["bare primitives", "bare primitives again", "session"] as const;
const SESSION_AT_LEAST = 0.85;

export const SAGE_FLOORS: readonly RatioDefinition[] = [
  ...ECHO_CASES.map(
    ({ key }): RatioDefinition => ({ key: `${key}_bare_vs_bare`, section: key, of: AGAIN, over: FLOOR, metric: "cpuUs" }),
  ),
  ...BATCH_CASES.map(
    ({ key, size }): RatioDefinition => ({
      ...{ key: `batch_verify_${size}_one_vs_one`, section: key },
      ...{ of: "one thread again", over: "one thread", metric: "perSecond" },
    }),
  ),
  {
    ...{ key: "batch_verify_bound_one_vs_one", section: BOUND_CASE.key },
    ...{ of: "one process again", over: "one process", metric: "perSecond" },
  },
];

export const SAGE_RATIOS: readonly RatioDefinition[] = [
  ...ECHO_CASES.flatMap(({ key }): readonly RatioDefinition[] => [
    { key: `${key}_vs_bare`, section: key, of: FLOOR, over: SESSION, metric: "cpuUs", target: { atLeast: SESSION_AT_LEAST } },
    { key: `${key}_vs_plain`, section: key, of: "plain http", over: SESSION, metric: "cpuUs" },
    { key: `${key}_vs_one_field`, section: key, of: "one field", over: SESSION, metric: "cpuUs" },
  ]),
  ...BATCH_CASES.flatMap(({ key, size }): readonly RatioDefinition[] => [
    {
      ...{ key: `batch_verify_${size}_speedup`, section: key, of: "threads", over: "one thread", metric: "perSecond" },
      target: { atLeast: BATCH_AT_LEAST },
    },
    // What the hand-over to the threads costs.
    { key: `batch_verify_${size}_cpu`, section: key, of: "threads", over: "one thread", metric: "cpuUs" },
  ]),
  {
    ...{ key: "batch_verify_bound", section: BOUND_CASE.key },
    ...{ of: "two processes", over: "one process", metric: "perSecond" },
  },
  { key: "sage_hpke_vs_bare", section: "sage_handshake", of: "hpke", over: "bare hpke", metric: "cpuUs" },
  { key: "sage_four_phase_vs_bare", section: "sage_handshake", of: "four-phase", over: "bare four-phase", metric: "cpuUs" },
];

type Fields = Readonly<Record<string, string>>;

/** One side of an echo: makes a message, and reads one. */
export interface Protection {
  write(message: Uint8Array): { readonly headers: Fields; readonly body: Uint8Array };
  /** Throws if it is not by the peer. */
  read(headers: Fields, body: Uint8Array): Uint8Array;
}

/** Both sides know it: the handshake is measured by itself. */
const SECRET = Buffer.alloc(32, 1);
const ASSOCIATED = Buffer.from('{"id":"m-1"}');
const CONTENT_TYPE = "application/octet-stream";
const ADDRESS = "http://127.0.0.1/";
const TARGET = { method: "POST", target: ADDRESS, headers: { "content-type": CONTENT_TYPE } } as const;

export function protectionOf(kind: SageKind, role: "initiator" | "responder"): Protection {
  if (kind === "plain") return { write: (body) => ({ headers: {}, body }), read: (_, body) => body };
  return kind === "session" ? sessionProtection(role) : bareProtection(kind === "bare" ? SIGNED_FIELDS : ONE_FIELD);
}

const KEY = createSecretKey(SECRET);
const [NONCE_BYTES, TAG_BYTES] = [12, 16];
const TAG = { authTagLength: TAG_BYTES } as const;
/** As long as what a record binds, and as what a signature covers. */
const BOUND = Buffer.alloc("sage-record|0.10.0".length + 32 + 1 + 8 + 4 + ASSOCIATED.length);
const BASE = Buffer.alloc(400, "x");

/** Where a bare echo has its digest and its MAC. */
interface BareFields {
  write(digest: string, mac: string): Fields;
  macIn(headers: Fields): string;
}

const ONE_FIELD: BareFields = { write: (_, mac) => ({ "x-mac": mac }), macIn: (headers) => headers["x-mac"] ?? "" };
/** As many bytes as a session sends: what Node needs for the fields of RFC 9421 is not the work of who signs. */
const SIGNATURE_INPUT = `sig1=("@method" "@authority" "@path" "@query" "content-type" "content-digest");created=1800000000;expires=1800000300;nonce="${"n".repeat(22)}";keyid="k0";alg="hmac-sha256";tag="ute-sage-1"`;
const MAC_FROM = "sig1=:".length;
const SIGNED_FIELDS: BareFields = {
  write: (digest, mac) => ({
    "content-type": CONTENT_TYPE,
    "content-digest": `sha-256=:${digest}:`,
    "signature-input": SIGNATURE_INPUT,
    signature: `sig1=:${mac}:`,
  }),
  macIn: ({ signature = "" }) => signature.slice(MAC_FROM, -1),
};

/** The same primitives and nothing else: ChaCha20-Poly1305, SHA-256 of the body, HMAC over a base with it. */
function bareProtection(fields: BareFields): Protection {
  let number = 0;
  const nonce = Buffer.alloc(NONCE_BYTES);
  const base = Buffer.from(BASE);
  const macOf = (digest: string): Buffer => {
    base.write(digest, 0, "latin1");
    return createHmac("sha256", KEY).update(base).digest();
  };
  const digestOf = (body: Uint8Array): string => hash("sha256", body, "base64");
  return {
    write(message) {
      nonce.writeUInt32BE(number++, 8);
      const cipher = createCipheriv("chacha20-poly1305", KEY, nonce, TAG);
      cipher.setAAD(BOUND, { plaintextLength: message.length });
      const body = Buffer.concat([nonce, cipher.update(message), cipher.final(), cipher.getAuthTag()]);
      const digest = digestOf(body);
      return { headers: fields.write(digest, macOf(digest).toString("base64")), body };
    },
    read(headers, body) {
      const mac = Buffer.from(fields.macIn(headers), "base64");
      if (!timingSafeEqual(macOf(digestOf(body)), mac)) throw new Error("not by the peer");
      const end = body.length - TAG_BYTES;
      const decipher = createDecipheriv("chacha20-poly1305", KEY, body.subarray(0, NONCE_BYTES), TAG);
      decipher.setAAD(BOUND, { plaintextLength: end - NONCE_BYTES }).setAuthTag(body.subarray(end));
      const opened = decipher.update(body.subarray(NONCE_BYTES, end));
      decipher.final();
      return opened;
    },
  };
}

/** HTTP message signatures with the session's key, over what a request has: the same in both directions. */
const PROFILE: SignatureProfile = {
  label: "sig1",
  tag: "ute-sage-1",
  parameters: ["created", "expires", "nonce", "keyid", "alg"],
  algorithms: ["hmac-sha256"],
  digest: "sha-256",
  request: { sign: ["@method", "@authority", "@path", "@query", "content-type", { component: "content-digest", when: "body" }] },
  lifetimeMs: 300_000,
  skewMs: 30_000,
};
const MESSAGES = 1_000;

/** A new session after a thousand messages, as its limits demand. The handshake between them is not counted. */
function sessionProtection(role: "initiator" | "responder"): Protection {
  let used = 0;
  let current = sessionOf(role, 0);
  const verifier = new SignatureVerifier(PROFILE);
  const next = (): Signing => {
    const session = Math.floor(used / MESSAGES);
    if (session !== current.number) current = sessionOf(role, session);
    return current;
  };
  const write: Protection["write"] = (message) => {
    const { session, signer } = next();
    const body = session.encrypt(message, ASSOCIATED);
    const headers = signer.request(TARGET, body);
    if (headers instanceof Promise) throw new Error("the key signs at once");
    const { "signature-input": input = "", signature = "", "content-digest": digest = "" } = headers;
    return { headers: { "content-type": CONTENT_TYPE, "signature-input": input, signature, "content-digest": digest }, body };
  };
  const read: Protection["read"] = (headers, body) => {
    const { session } = next();
    const request = { method: "POST", target: ADDRESS, headers };
    const keys = (keyId: string) => (keyId === session.keyId ? session.verificationKey() : undefined);
    const verified = verifier.verify({ message: { request }, kind: "request", hasBody: true, nowMs: Date.now(), keys });
    if (verified instanceof Promise) throw new Error("the key was there at once");
    verifier.checkBody(verified, body);
    session.confirm();
    return session.decrypt(body, ASSOCIATED);
  };
  // An initiator writes first and reads the answer; for a responder it is the other way round.
  const counted = <A extends readonly unknown[], R>(run: (...given: A) => R) => {
    return (...given: A): R => {
      const result = run(...given);
      used++;
      return result;
    };
  };
  return role === "initiator" ? { write, read: counted(read) } : { write: counted(write), read };
}

interface Signing {
  readonly number: number;
  readonly session: SageSession;
  readonly signer: MessageSigner;
}

function sessionOf(role: "initiator" | "responder", number: number): Signing {
  const transcript = Buffer.alloc(32);
  transcript.writeUInt32BE(number);
  const dids = ["did:sage:local:0xa", "did:sage:local:0xb"] as const;
  const [ownDid, peerDid] = role === "initiator" ? dids : [dids[1], dids[0]];
  const start = { secret: SECRET, transcript, role, keyId: `k${number}`, ownDid, peerDid, pinned: [], pendingMs: 300_000 };
  const session = new SageSession({ ...start, now: Date.now });
  return { number, session, signer: new MessageSigner({ profile: PROFILE, key: session.signingKey(), now: Date.now }) };
}
