import type { RawAnswer, SendReport } from "./members/tasks.js";

const BEARER = /^bearer\s+(\S+)$/i;
/** A token that a server hands out in an answer: RFC 6749, section 5.1. */
const ISSUED = /"access_token"\s*:\s*"([^"]+)"/g;
/** Shorter ones are words, and would be hidden wherever they occur. */
const LEAST_CHARS = 16;

/**
 * The credentials of the members of a target. Evidence shows what was sent, and somebody may publish it: what proves a caller is hidden,
 * character by character, so that lengths and places stay.
 */
export class Secrets {
  readonly #known = new Set<string>();

  add(secret: string): void {
    if (secret.length >= LEAST_CHARS) this.#known.add(secret);
  }

  /** Credentials of a message that a member sent, and those that it got in return. */
  learn({ requests }: Pick<SendReport, "requests">): void {
    for (const { headers, answers } of requests) {
      this.#addBearer(headers);
      for (const answer of answers) this.#learnAnswer(answer);
    }
  }

  hideIn(text: string): string {
    // The longest first: one may be a part of another.
    const inOrder = [...this.#known].sort((a, b) => b.length - a.length);
    return inOrder.reduce((hidden, secret) => hidden.replaceAll(secret, "*".repeat(secret.length)), text);
  }

  /** The same in bytes, of which an excerpt may show a part. */
  hideInBytes(bytes: Buffer): Buffer {
    return Buffer.from(this.hideIn(bytes.toString("latin1")), "latin1");
  }

  #learnAnswer({ headers = {}, body = "" }: RawAnswer): void {
    this.#addBearer(headers);
    for (const [, token = ""] of body.matchAll(ISSUED)) this.add(token);
  }

  #addBearer(headers: Readonly<Record<string, string>>): void {
    for (const [name, value] of Object.entries(headers))
      if (name.toLowerCase() === "authorization") this.add(BEARER.exec(value)?.[1] ?? "");
  }
}
