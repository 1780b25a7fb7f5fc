import { createCipheriv, createDecipheriv, createSecretKey } from "node:crypto";
import { SEALED_RECORDS, SealedChannel } from "../../../src/internal.js";
import type { RatioDefinition } from "../../harness/conclude.js";

/** What is measured of sealed sessions: messages that are opened, sealed again and sent back. */
export interface SealedCase {
  /** The section, and the start of the published keys. */
  readonly key: string;
  readonly title: string;
  readonly bytes: number;
  readonly warmUpMessages: number;
}

export const SEALED_CASES: readonly SealedCase[] = [
  { key: "sealed_echo_300b", title: "Sealed session that echoes, 300 bytes", bytes: 300, warmUpMessages: 2_500 },
  { key: "sealed_echo_64kb", title: "Sealed session that echoes, 64 KB", bytes: 64 * 1024, warmUpMessages: 600 },
];
/** Whole calls are made with short messages only: large ones measure the same as the echo. */
export const CALL_CASE = "sealed_echo_300b";

export const [FLOOR, AGAIN, SEALED] = ["aes ws", "aes ws again", "sealed session"] as const;
const SEALED_AT_LEAST = 0.8;

export const SEALED_FLOORS: readonly RatioDefinition[] = SEALED_CASES.map(({ key }) => ({
  key: `${key}_aes_vs_aes`,
  section: key,
  of: AGAIN,
  over: FLOOR,
  metric: "cpuUs",
}));

export const SEALED_RATIOS: readonly RatioDefinition[] = SEALED_CASES.map(({ key }) => ({
  key: `${key}_vs_aes`,
  section: key,
  of: FLOOR,
  over: SEALED,
  metric: "cpuUs",
  target: { atLeast: SEALED_AT_LEAST },
}));

/** Which server a load process talks to. */
export type SealedKind = "bare" | "records";

/** Seals and opens the messages of one side. */
export interface Sealing {
  seal(message: Uint8Array): Uint8Array;
  open(sealed: Uint8Array): Uint8Array;
}

/** Both sides know them: the handshake is not measured. */
const [SECRET, TRANSCRIPT] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
/** Imported once, as our records do. */
const KEY = createSecretKey(SECRET);
const NOTHING = new Uint8Array(0);
const [NONCE_BYTES, TAG_BYTES] = [12, 16];
const TAG = { authTagLength: TAG_BYTES } as const;
/** As long as what a record binds. */
const BOUND = Buffer.alloc(SEALED_RECORDS.labels.record.length + TRANSCRIPT.length + 1 + 8 + 4);

export function sealingOf(kind: SealedKind, role: "initiator" | "responder"): Sealing {
  return kind === "bare" ? bareSealing() : recordSealing(role);
}

/** The cipher and nothing else: a fixed key and a counted nonce. */
function bareSealing(): Sealing {
  let number = 0;
  return {
    seal(message) {
      const nonce = Buffer.alloc(NONCE_BYTES);
      nonce.writeUInt32BE(number++, 8);
      const cipher = createCipheriv("aes-256-gcm", KEY, nonce, TAG);
      cipher.setAAD(BOUND, { plaintextLength: message.length });
      return Buffer.concat([nonce, cipher.update(message), cipher.final(), cipher.getAuthTag()]);
    },
    open(sealed) {
      const end = sealed.length - TAG_BYTES;
      const decipher = createDecipheriv("aes-256-gcm", KEY, sealed.subarray(0, NONCE_BYTES), TAG);
      decipher.setAAD(BOUND, { plaintextLength: end - NONCE_BYTES }).setAuthTag(sealed.subarray(end));
      const opened = decipher.update(sealed.subarray(NONCE_BYTES, end));
      decipher.final();
      return opened;
    },
  };
}

function recordSealing(role: "initiator" | "responder"): Sealing {
  const profile = { ...SEALED_RECORDS, window: 0 };
  const channel = new SealedChannel({ secret: SECRET, transcript: TRANSCRIPT, role, profile, now: Date.now });
  return { seal: (message) => channel.seal(message, NOTHING), open: (sealed) => channel.open(sealed, NOTHING) };
}
