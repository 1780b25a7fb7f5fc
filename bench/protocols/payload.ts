import { createHash } from "node:crypto";
import { chance } from "../harness/chance.js";

/** The business payload of a request: its number, then text. The same for the same seed and number, whatever the protocol. */
export function payloadOf(seed: number, seq: number, bytes: number): string {
  const head = numbered(seq, "");
  const random = chance((seed ^ Math.imul(seq + 1, SPREAD)) >>> 0);
  let text = head;
  while (text.length < Math.max(bytes, head.length + 1)) text += ALPHABET[Math.floor(random() * ALPHABET.length)];
  return text;
}

/** Text with the number of its request in front. */
export function numbered(seq: number, text: string): string {
  return `#${seq} ${text}`;
}

/** An odd number near 2^32 / φ: neighbouring numbers get unrelated seeds. */
const SPREAD = 0x9e3779b1;
const ALPHABET = "abcdefghijklmnopqrstuvwxyz     ";

/** The number of a request, or undefined for text that is none of ours. */
export function seqOf(payload: string): number | undefined {
  const digits = /^#(\d{1,13}) /.exec(payload)?.[1];
  return digits === undefined ? undefined : Number(digits);
}

/** Identifies a payload or an answer; also the key of a recorded model output. */
export function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

/** A message to another agent: its id, then text. */
export function peerMessage(id: string, text: string): string {
  return `~${id} ${text}`;
}

/** The id and the text of a message of another agent, or undefined for any other. */
export function readPeerMessage(payload: string): { readonly id: string; readonly text: string } | undefined {
  const [head, id] = /^~(\S{1,200}) /.exec(payload) ?? [];
  return head === undefined || id === undefined ? undefined : { id, text: payload.slice(head.length) };
}
