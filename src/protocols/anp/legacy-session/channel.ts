import { isObject, type JsonObject, type Maybe } from "../../../envelope/index.js";
import { openAesGcm, sealAesGcm } from "../../../security/aes-gcm.js";
import type { LegacyKeys } from "./key-schedule.js";
import { LEGACY_LIMITS } from "./profile.js";

/** Why a sealed message is refused. */
export type ChannelProblem = "malformed" | "altered" | "replayed" | "expired";

export class ChannelError extends Error {
  readonly problem: ChannelProblem;

  constructor(problem: ChannelProblem) {
    super(`a message of the old session is refused: ${problem}`);
    this.problem = problem;
  }
}

export interface ChannelStart {
  readonly keys: LegacyKeys;
  readonly role: "initiator" | "responder";
  readonly expiresAtMs: number;
  now(): number;
}

/**
 * Seals and opens what is sent. The format has no counter: what is repeated is recognised by its initialisation vector, what is left
 * out or moved is not.
 */
export class LegacyChannel {
  readonly secretKeyId: string;
  readonly #send: Uint8Array;
  readonly #receive: Uint8Array;
  readonly #expiresAtMs: number;
  readonly #now: () => number;
  readonly #seen = new Set<string>();
  #sent = 0;

  constructor({ keys, role, expiresAtMs, now }: ChannelStart) {
    const isInitiator = role === "initiator";
    this.secretKeyId = keys.secretKeyId;
    this.#send = isInitiator ? keys.source : keys.destination;
    this.#receive = isInitiator ? keys.destination : keys.source;
    this.#expiresAtMs = expiresAtMs;
    this.#now = now;
  }

  /** Whether it takes further messages, apart from those of calls that run. */
  get isFresh(): boolean {
    const most = LEGACY_LIMITS.messages * 0.9;
    return this.#now() < this.#expiresAtMs - 60_000 && this.#sent < most && this.#seen.size < most;
  }

  /** Throws ChannelError once the keys are used up. */
  seal(plain: Uint8Array): JsonObject {
    if (++this.#sent > LEGACY_LIMITS.messages || this.#now() >= this.#expiresAtMs) throw new ChannelError("expired");
    const { iv, tag, ciphertext } = sealAesGcm(this.#send, plain);
    return { iv: base64(iv), tag: base64(tag), ciphertext: base64(ciphertext) };
  }

  /** Throws ChannelError. */
  open(sealed: Maybe<unknown>): Uint8Array {
    if (!isObject(sealed)) throw new ChannelError("malformed");
    const [iv, tag, ciphertext] = [bytesIn(sealed["iv"]), bytesIn(sealed["tag"]), bytesIn(sealed["ciphertext"])];
    if (this.#now() >= this.#expiresAtMs) throw new ChannelError("expired");
    const plain = openAesGcm(this.#receive, { iv, tag, ciphertext });
    if (plain === undefined) throw new ChannelError("altered");
    const nonce = base64(iv);
    if (this.#seen.has(nonce)) throw new ChannelError("replayed");
    if (this.#seen.size >= LEGACY_LIMITS.messages) throw new ChannelError("expired");
    this.#seen.add(nonce);
    return plain;
  }
}

function bytesIn(value: unknown): Uint8Array {
  if (typeof value !== "string") throw new ChannelError("malformed");
  return Buffer.from(value, "base64");
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("base64");
}
