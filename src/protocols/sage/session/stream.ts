import { AgentError } from "../../../envelope/index.js";
import { sha256 } from "../../../security/hashes.js";
import { type ChannelStart, expand, SealedChannel } from "../../../security/sealed-records/index.js";
import { LABELS, STREAM_RECORDS } from "./profile.js";
import { openRecord, SessionError, sealRecord } from "./session-error.js";

/**
 * Streams inside a session. A stream has an id, keys of its own and numbers from 0, in order. The first byte of a record says whether it
 * is the last one: a stream that ends without it was cut.
 */

const EVENT = 0;
const LAST = 1;
const ID_BYTES = 16;
const EMPTY = new Uint8Array(0);

export function newStreamId(): string {
  return Buffer.from(crypto.getRandomValues(new Uint8Array(ID_BYTES))).toString("base64url");
}

/** The keys of one stream. Throws `invalid_message` for an id that is not 16 bytes in base64url. */
export function streamChannel(
  id: string,
  { secret, transcript, role, lifetimeMs, now }: Omit<ChannelStart, "profile"> & { readonly lifetimeMs: number },
): SealedChannel {
  const bytes = Buffer.from(id, "base64url");
  if (bytes.length !== ID_BYTES || bytes.toString("base64url") !== id)
    throw new AgentError("invalid_message", "the id of a stream is 16 bytes in base64url", { field: "stream" });
  return new SealedChannel({
    secret: expand(secret, LABELS.stream, bytes),
    transcript: sha256(Buffer.concat([Buffer.from(LABELS.stream), transcript, bytes])),
    role,
    profile: { ...STREAM_RECORDS, lifetimeMs },
    now,
  });
}

/** The sending side of a stream. */
export class StreamWriter {
  readonly id: string;
  readonly #channel: SealedChannel;
  #records = 0;

  constructor(id: string, channel: SealedChannel) {
    this.id = id;
    this.#channel = channel;
  }

  /** How many were written. */
  get records(): number {
    return this.#records;
  }

  /** One event. */
  write(event: Uint8Array, associated: Uint8Array = EMPTY): Uint8Array {
    return this.#seal(EVENT, event, associated);
  }

  /** The last record, with an event or without. Nothing follows it. */
  end(event: Uint8Array = EMPTY, associated: Uint8Array = EMPTY): Uint8Array {
    const record = this.#seal(LAST, event, associated);
    this.#channel.close();
    return record;
  }

  #seal(kind: number, event: Uint8Array, associated: Uint8Array): Uint8Array {
    const record = sealRecord(this.#channel, Buffer.concat([Uint8Array.of(kind), event]), associated);
    this.#records++;
    return record;
  }
}

/** An event of a stream. `last`: the sender ended the stream with it. */
export interface StreamEvent {
  readonly event: Uint8Array;
  readonly last: boolean;
}

/** The receiving side of a stream. */
export class StreamReader {
  readonly id: string;
  readonly #channel: SealedChannel;
  #complete = false;
  #records = 0;

  constructor(id: string, channel: SealedChannel) {
    this.id = id;
    this.#channel = channel;
  }

  /** How many were read. */
  get records(): number {
    return this.#records;
  }

  /** The last record was read. */
  get isComplete(): boolean {
    return this.#complete;
  }

  /** The next record. One that is missing, repeated, altered, or of another stream is refused. */
  read(record: Uint8Array, associated: Uint8Array = EMPTY): StreamEvent {
    const plain = openRecord(this.#channel, record, associated);
    const [kind] = plain;
    if (kind !== EVENT && kind !== LAST) throw new SessionError("session.aead");
    this.#records++;
    if (kind === LAST) {
      this.#complete = true;
      this.#channel.close();
    }
    return { event: plain.subarray(1), last: kind === LAST };
  }

  /** The transport has ended: throws `stream.cut` if the last record did not arrive. */
  finish(): void {
    this.#channel.close();
    if (!this.#complete) throw new SessionError("stream.cut");
  }
}
