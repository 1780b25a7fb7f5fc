import { AgentError, type Call, type Maybe } from "../../../envelope/index.js";
import { RecordError, type SealedChannel } from "../../../security/sealed-records/index.js";
import { bytesOf } from "../../../transport/body.js";
import type { Chunk, Session } from "../../../transport/exchange.js";
import type { IncompleteBytes } from "./incomplete-bytes.js";
import { type InnerMessage, InnerSession } from "./inner-session.js";
import { RECORDS, SESSION_LIMITS } from "./profile.js";
import { KINDS, openKind, sealKind } from "./record-kinds.js";

/** RFC 6455 §7.4.1. */
const REFUSED = 1008;
const TOO_LARGE = 1009;
const TRY_LATER = 1013;
/** What a record holds beside its kind. */
const PIECE_BYTES = RECORDS.recordBytes - 1;

export interface SealedSessionParts {
  readonly outer: Session;
  readonly frames: AsyncIterator<Chunk>;
  readonly channel: SealedChannel;
  readonly incomplete: IncompleteBytes;
  /** A record was refused, and with it the session. */
  onRefused(error: RecordError): void;
}

/** A session inside a session: messages are sealed, large ones in several records. A refused record ends it. */
export class SealedSession extends InnerSession {
  readonly #parts: SealedSessionParts;
  readonly #openedMs: number;
  readonly #now: () => number;
  /** Pieces of a message whose end has not arrived. */
  #pieces: Uint8Array[] = [];
  #pieceBytes = 0;

  constructor(parts: SealedSessionParts, now: () => number) {
    super(parts.outer);
    this.#parts = parts;
    this.#now = now;
    this.#openedMs = now();
    void parts.outer.closed.then(() => this.#forgetPieces());
  }

  /** False shortly before its end: another session should take further calls. */
  get takesCalls(): boolean {
    const ageMs = this.#now() - this.#openedMs;
    return this.#parts.channel.remaining > SESSION_LIMITS.lastRecords && ageMs < RECORDS.lifetimeMs - SESSION_LIMITS.lastMs;
  }

  send(frame: Chunk, call?: Maybe<Call>): Maybe<Promise<void>> {
    const bytes = bytesOf(frame);
    const kind = typeof frame === "string" ? KINDS.text : KINDS.binary;
    if (bytes.length > SESSION_LIMITS.messageBytes)
      return rejected(new AgentError("too_large", `a message has at most ${SESSION_LIMITS.messageBytes} bytes`, { sent: "no" }));
    try {
      let last: Maybe<Promise<void>>;
      let at = 0;
      for (; bytes.length - at > PIECE_BYTES; at += PIECE_BYTES)
        last = this.#write(KINDS.piece, bytes.subarray(at, at + PIECE_BYTES), call);
      return this.#write(kind, at === 0 ? bytes : bytes.subarray(at), call) ?? last;
    } catch (thrown) {
      return rejected(new AgentError("unavailable", "the sealed session has ended", { sent: "no", cause: thrown }));
    }
  }

  #write(kind: number, content: Uint8Array, call: Maybe<Call>): Maybe<Promise<void>> {
    const { outer, channel } = this.#parts;
    const sent = outer.send(sealKind(channel, kind, content), call);
    sent?.catch(() => undefined); // the last one is waited for
    return sent;
  }

  protected async nextMessage(): Promise<Maybe<InnerMessage>> {
    const { frames } = this.#parts;
    for (let step = await frames.next(); step.done !== true; step = await frames.next()) {
      const inner = this.#open(step.value);
      if (inner === "ended") break;
      if (inner === "incomplete") continue;
      return { inner: inner.message, outer: step.value };
    }
    return undefined;
  }

  #open(frame: Chunk): { readonly message: Chunk } | "incomplete" | "ended" {
    const { channel, outer, onRefused } = this.#parts;
    try {
      const plain = openKind(channel, frame);
      const content = plain.subarray(1);
      if (plain[0] === KINDS.piece) return this.#keepPiece(content);
      if (plain[0] !== KINDS.text && plain[0] !== KINDS.binary) throw new RecordError("malformed");
      const whole = this.#completed(content);
      return { message: plain[0] === KINDS.text ? decodeText(whole) : whole };
    } catch (thrown) {
      if (!(thrown instanceof RecordError)) throw thrown;
      channel.close();
      onRefused(thrown);
      outer.close(thrown.problem === "too_large" ? TOO_LARGE : REFUSED, `record refused: ${thrown.problem}`);
      return "ended";
    }
  }

  #keepPiece(content: Uint8Array): "incomplete" | "ended" {
    const { incomplete, outer, channel } = this.#parts;
    if (this.#pieceBytes + content.length > SESSION_LIMITS.messageBytes) throw new RecordError("too_large");
    if (!incomplete.add(content.length)) {
      channel.close();
      outer.close(TRY_LATER, "too many incomplete messages");
      return "ended";
    }
    this.#pieces.push(content);
    this.#pieceBytes += content.length;
    return "incomplete";
  }

  #completed(last: Uint8Array): Uint8Array {
    if (this.#pieces.length === 0) return last;
    if (this.#pieceBytes + last.length > SESSION_LIMITS.messageBytes) throw new RecordError("too_large");
    const whole = Buffer.concat([...this.#pieces, last]);
    this.#forgetPieces();
    return whole;
  }

  #forgetPieces(): void {
    this.#parts.incomplete.remove(this.#pieceBytes);
    this.#pieces = [];
    this.#pieceBytes = 0;
  }
}

function decodeText(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8");
}

function rejected(error: AgentError): Promise<never> {
  const ended = Promise.reject(error);
  ended.catch(() => undefined); // whoever sends need not wait
  return ended;
}
