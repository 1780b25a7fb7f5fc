import { sha256 } from "../../../security/hashes.js";
import { canonicalJson } from "../../../security/json-canonical.js";
import { expand, sessionSecret } from "../../../security/sealed-records/index.js";
import { SharedSecret } from "../../../security/signatures/index.js";
import { base64urlOf, did, exactly, type Shaped, suiteNamed, text, uuid4 } from "./message-shape.js";

/** The handshake of one round trip of SAGE 0.10.0: its messages and its key schedule. */

export const VERSION = "0.10.0";
export const INIT_TASK = "hpke/init@0.10.0";
export const SUITE = "hpke-base+x25519+hkdf-sha256";
export const COMBINER = "e2e-x25519-hkdf-v1";
export const COMPLETE_LABEL = "sage-hpke-complete|0.10.0";
const COMPLETE_TASK = "hpke/complete@0.10.0";
const LABELS = {
  info: "sage-hpke-info|0.10.0\n",
  export: "sage-hpke-export|0.10.0\n",
  combiner: "sage-hpke-combiner|0.10.0",
  ack: "sage-hpke-ack|0.10.0",
} as const;

const BINDING = {
  v: exactly(VERSION),
  ctx: uuid4,
  initDid: did,
  respDid: did,
  initKid: text,
  respKid: text,
  kemKid: text,
  suite: suiteNamed(SUITE),
  combiner: suiteNamed(COMBINER),
  nonce: base64urlOf(16),
} as const;

/** What the encapsulated key is bound to. */
export type Binding = Shaped<typeof BINDING>;

export const INIT = { ...BINDING, task: exactly(INIT_TASK), enc: base64urlOf(32), ephC: base64urlOf(32) } as const;
export type Init = Shaped<typeof INIT>;

export const TRANSCRIPT = { ...INIT, ephS: base64urlOf(32), kid: uuid4 } as const;
export type Transcript = Shaped<typeof TRANSCRIPT>;

/** Without the transcript, which has a shape of its own. */
export const COMPLETE = {
  v: exactly(VERSION),
  task: exactly(COMPLETE_TASK),
  transcript: (value: unknown): unknown => value,
  ackTagB64: base64urlOf(32),
  sigB64: base64urlOf(64),
} as const;

/** What the responder signs. */
export function completion(transcript: Transcript, ackTagB64: string) {
  return { v: VERSION, task: COMPLETE_TASK, transcript, ackTagB64 } as const;
}

export function infoOf({ v, ctx, initDid, respDid, initKid, respKid, kemKid, suite, combiner, nonce }: Binding): Uint8Array {
  const binding: Binding = { v, ctx, initDid, respDid, initKid, respKid, kemKid, suite, combiner, nonce };
  return Buffer.from(LABELS.info + canonicalJson(binding));
}

export function exportContextOf(info: Uint8Array): Uint8Array {
  return Buffer.concat([Buffer.from(LABELS.export), sha256(info)]);
}

/** What both sides compute. */
export interface Schedule {
  readonly th: Uint8Array;
  readonly seed: Uint8Array;
  readonly ack: Acknowledgement;
}

export function hpkeSchedule(transcript: Transcript, exporter: Uint8Array, shared: Uint8Array): Schedule {
  const th = sha256(canonicalJson(transcript));
  const seed = sessionSecret(Buffer.concat([exporter, shared]), th, LABELS.combiner);
  return { th, seed, ack: new Acknowledgement(seed, th, LABELS.ack) };
}

/** Proves that its side has computed the secret. */
export class Acknowledgement {
  readonly #key: SharedSecret;
  readonly #th: Uint8Array;

  constructor(seed: Uint8Array, th: Uint8Array, label: string) {
    this.#key = new SharedSecret(expand(seed, label, th));
    this.#th = th;
  }

  tag(): Uint8Array {
    return this.#key.sign(this.#th);
  }

  /** In constant time. */
  matches(tag: Uint8Array): boolean {
    return this.#key.verify(this.#th, tag);
  }
}
