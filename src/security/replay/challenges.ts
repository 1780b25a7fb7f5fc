import type { Maybe } from "../../envelope/index.js";
import { randomHex, TextMac } from "../hashes.js";

/** Nonces of this process, which a signature echoes: what is signed with one is no older than the challenge. */
export class Challenges {
  readonly #mac = new TextMac();
  readonly #now: () => number;
  readonly #lifetimeMs: number;

  constructor({ now, lifetimeMs }: { now(): number; readonly lifetimeMs: number }) {
    this.#now = now;
    this.#lifetimeMs = lifetimeMs;
  }

  nonce(): string {
    const at = `${this.#now().toString(36)}.${randomHex(6)}`;
    return `${at}.${this.#mac.of(at)}`;
  }

  /** When this process issued the nonce; undefined if it did not, or too long ago. */
  issuedAt(nonce: string): Maybe<number> {
    const end = nonce.lastIndexOf(".");
    const at = nonce.slice(0, Math.max(end, 0));
    if (!this.#mac.matches(at, nonce.slice(end + 1))) return undefined;
    const issuedMs = Number.parseInt(at, 36); // up to the dot
    return this.#now() < issuedMs + this.#lifetimeMs ? issuedMs : undefined;
  }
}
