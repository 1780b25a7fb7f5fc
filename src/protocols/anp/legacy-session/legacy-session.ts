import { AgentError, type Call, type JsonObject, type Maybe } from "../../../envelope/index.js";
import { randomHex } from "../../../security/hashes.js";
import { bytesOf } from "../../../transport/body.js";
import type { Chunk, Session } from "../../../transport/exchange.js";
import { readObject } from "../../../transport/fields.js";
import { readJson } from "../../../transport/json.js";
import type { Limits } from "../../../transport/limits.js";
import { type InnerMessage, InnerSession } from "../session/inner-session.js";
import { ChannelError } from "./channel.js";
import type { Shaken } from "./handshake.js";
import { common } from "./hello.js";
import { HEARTBEAT_MS } from "./profile.js";

/** RFC 6455 §7.4.1. */
const REFUSED = 1008;
const decoder = new TextDecoder("utf-8", { fatal: true });

export interface LegacySessionParts {
  readonly outer: Session;
  readonly frames: AsyncIterator<Chunk>;
  readonly shaken: Shaken;
  readonly limits: Limits;
  /** An initiator asks whether the peer is there while calls run: the SDK ends a silent session. */
  readonly asks: boolean;
  now(): number;
  /** A message was refused, and with it the session. */
  onRefused(error: ChannelError): void;
}

/** A session inside a session: the messages of agent-connect 0.3, each sealed and in JSON. */
export class LegacySession extends InnerSession {
  readonly #parts: LegacySessionParts;
  readonly #early: (Chunk | Promise<Chunk>)[];
  #held = 0;
  #heartbeat: Maybe<ReturnType<typeof setInterval>>;

  constructor(parts: LegacySessionParts) {
    super(parts.outer);
    this.#parts = parts;
    this.#early = [...parts.shaken.early];
    void parts.outer.closed.then(() => this.#stopHeartbeat());
  }

  /** False shortly before its end: another session should take further calls. */
  get takesCalls(): boolean {
    return this.#parts.shaken.channel.isFresh;
  }

  send(frame: Chunk, call?: Maybe<Call>): Maybe<Promise<void>> {
    const { outer, shaken, now } = this.#parts;
    const { channel, ownDid, peerDid } = shaken;
    let message: JsonObject;
    try {
      const encryptedData = channel.seal(bytesOf(frame));
      const ends = { sourceDid: ownDid, destinationDid: peerDid, secretKeyId: channel.secretKeyId };
      message = { ...common("message", randomHex(16), now()), ...ends, encryptedData };
    } catch (thrown) {
      const ended = Promise.reject(new AgentError("unavailable", "the old session has ended", { sent: "no", cause: thrown }));
      ended.catch(() => undefined); // whoever sends need not wait
      return ended;
    }
    return outer.send(JSON.stringify(message), call);
  }

  override hold(): ReturnType<Session["hold"]> {
    const release = super.hold();
    if (++this.#held === 1) this.#startHeartbeat();
    return () => {
      if (--this.#held === 0) this.#stopHeartbeat();
      release();
    };
  }

  protected async nextMessage(): Promise<Maybe<InnerMessage>> {
    for (let frame = await this.#nextOuter(); frame !== undefined; frame = await this.#nextOuter()) {
      try {
        const inner = this.#open(frame);
        if (inner !== undefined) return { inner, outer: frame };
      } catch (thrown) {
        const error = thrown instanceof ChannelError ? thrown : new ChannelError("malformed");
        this.#parts.onRefused(error);
        this.close(REFUSED, `message refused: ${error.problem}`);
        return undefined;
      }
    }
    return undefined;
  }

  async #nextOuter(): Promise<Maybe<Chunk>> {
    const early = this.#early.shift();
    if (early !== undefined) return Promise.resolve(early).catch(() => undefined);
    const { value, done } = await this.#parts.frames.next();
    return done === true ? undefined : value;
  }

  /** Undefined: nothing for the calls. Throws ChannelError, or what decoders throw. */
  #open(frame: Chunk): Maybe<Chunk> {
    const { shaken, limits } = this.#parts;
    const json = readObject(readJson(bytesOf(frame), limits), "message");
    if (json["type"] === "heartbeat") {
      if (json["message"] === "ping") this.#heart("pong", json["messageId"]);
      return undefined;
    }
    // The SDK writes responses and reads none.
    if (json["type"] === "response") return undefined;
    const { channel, ownDid, peerDid } = shaken;
    const isOurs = json["sourceDid"] === peerDid && json["destinationDid"] === ownDid;
    if (json["type"] !== "message" || !isOurs || json["secretKeyId"] !== channel.secretKeyId) throw new ChannelError("malformed");
    return textOrBytes(channel.open(json["encryptedData"]));
  }

  #heart(message: "ping" | "pong", messageId: unknown): void {
    const id = typeof messageId === "string" ? messageId.slice(0, 64) : randomHex(16);
    const beat = { ...common("heartbeat", id, this.#parts.now()), message };
    this.#parts.outer.send(JSON.stringify(beat))?.catch(() => undefined); // it may have ended
  }

  #startHeartbeat(): void {
    if (!this.#parts.asks) return;
    this.#heartbeat ??= setInterval(() => this.#heart("ping", undefined), HEARTBEAT_MS);
    this.#heartbeat.unref?.();
  }

  #stopHeartbeat(): void {
    clearInterval(this.#heartbeat);
    this.#heartbeat = undefined;
  }
}

/** Nothing says which it was. Everything that the SDK receives is text. */
function textOrBytes(plain: Uint8Array): Chunk {
  try {
    return decoder.decode(plain);
  } catch {
    return plain;
  }
}
