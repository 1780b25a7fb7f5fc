import { hash } from "node:crypto";
import { AgentError } from "../../envelope/index.js";

/** Expired entries removed with every new one, and when there is no room. */
export const REPLAYS_CLEARED_AT_ONCE = 4;
export const REPLAYS_CLEARED_WHEN_FULL = 1_024;

/** 131 bits: nobody finds two with the same name. */
const NAME_CHARS = 22;
const HINTS = 10_000;

/** Signer and nonce as stored: of one length, whatever they are. */
export interface ReplayEntry {
  readonly signer: string;
  readonly nonce: string;
}

export function replayEntry(signer: string, nonce: string): ReplayEntry {
  return { signer: nameOf(signer), nonce: nameOf(nonce) };
}

function nameOf(text: string): string {
  return hash("sha256", text, "base64url").slice(0, NAME_CHARS);
}

export function noReplayRoom(): AgentError {
  return new AgentError("overloaded", "too many signed messages at once");
}

/** What this process added lately: enough to refuse most repetitions before their bodies are read. */
export class ReplayHints {
  readonly #until = new Map<string, number>();

  has({ signer, nonce }: ReplayEntry, nowMs: number): boolean {
    return (this.#until.get(signer + nonce) ?? 0) > nowMs;
  }

  add({ signer, nonce }: ReplayEntry, untilMs: number): void {
    this.#until.set(signer + nonce, untilMs);
    if (this.#until.size <= HINTS) return;
    for (const oldest of this.#until.keys()) {
      this.#until.delete(oldest);
      return;
    }
  }
}
