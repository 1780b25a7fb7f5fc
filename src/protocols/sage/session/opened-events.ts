import {
  type AgentEvent,
  type Artifact,
  type Envelope,
  isClosing,
  isSealed,
  type Maybe,
  type Task,
} from "../../../envelope/index.js";
import { readContent, sealedIn } from "../codec.js";
import { SageError } from "../errors.js";
import { type ContentChange, changedContents } from "../message/changed-contents.js";
import { associatedOf, type Continuation, type SealedContent, type SealedFor } from "../message/sealed-content.js";
import { saysSealedBy } from "../message/security.js";
import { sameContent } from "../message/signed-message.js";
import type { SageSession } from "./session.js";
import { SessionError, type SessionReason } from "./session-error.js";
import type { StreamEvent, StreamReader } from "./stream.js";
import { withoutEnd } from "./stream-end.js";

/** The message of a call: as its author wrote it, and as it was sent. */
export interface OwnMessage {
  readonly plain: Envelope;
  readonly sealed: Envelope;
}

/** Why a record cannot be opened any more, or not in this session. An altered one is refused for other reasons. */
const PAST: ReadonlySet<SessionReason> = new Set([
  "session.unknown",
  "session.replay",
  "session.window",
  "stream.id",
  "stream.order",
]);

/** Opens the messages and artifacts of events. What is not sealed is refused: somebody on the way put it there. */
export class EventOpener {
  readonly #session: SageSession;
  readonly #own: Maybe<OwnMessage>;
  readonly #streams = new Map<string, StreamReader>();
  /** The one that was opened last. */
  #latest: Maybe<StreamReader>;
  /** The task that the peer says these events are of. */
  #task: Maybe<string>;
  /** The last record of a stream was opened, or an answer that is no stream. */
  #isWhole = false;
  /** Contents that were opened before their place in an event was reached. */
  readonly #early = new Map<Artifact["parts"], SealedContent>();

  constructor(session: SageSession, own?: Maybe<OwnMessage>) {
    this.#session = session;
    this.#own = own;
  }

  async open(event: AgentEvent): Promise<AgentEvent> {
    if (event.kind === "task") this.#openInOrder(event.task);
    return changedContents(event, this.#change);
  }

  /**
   * A gateway that got the answer as a stream may pass it on as a task: then its records are in the status, in the artifacts and in the
   * history. They are opened in the order of the stream, so that none can be left out, and each is found when its place is reached.
   */
  #openInOrder({ status, artifacts, history }: Task): void {
    const messages = status.message === undefined ? [] : [status.message];
    const newest = [
      ...messages.flatMap((message) => this.#placed("message", message.id, message.content)),
      ...artifacts.flatMap(({ id, parts }) => this.#placed("artifact", id, parts)),
    ];
    const streams = new Set(newest.map(({ stream }) => stream));
    const before = history
      .flatMap((message) => this.#placed("message", message.id, message.content))
      .filter(({ stream }) => streams.has(stream));
    if (before.length + newest.length < 2) return;
    for (const { parts, belongs } of [...before, ...newest].sort((a, b) => a.number - b.number))
      this.#early.set(parts, this.#opened(parts, belongs, false));
  }

  /** A content in a stream, with the number that its record says it has. */
  #placed(what: SealedFor["what"], id: string, parts: Artifact["parts"]) {
    const sealed = sealedIn(parts);
    if (sealed?.stream === undefined || sealed.kid !== this.#session.keyId) return [];
    return [{ parts, belongs: this.#belongs(what, id), stream: sealed.stream, number: numberOf(sealed.record) }];
  }

  /** What the peer calls the task of these events. Undefined: it did not say so, or there is none. */
  get task(): Maybe<string> {
    return this.#task;
  }

  /** The next event of a stream. Throws `stream.cut` for one that closes it without the last record. */
  async next(event: AgentEvent): Promise<AgentEvent> {
    const opened = await this.open(event);
    if (!isClosing(event)) return opened;
    if (!this.#isWhole) throw new SessionError("stream.cut");
    return withoutEnd(opened, [...this.#streams.keys()]);
  }

  message(message: Envelope): Envelope {
    return this.#message(message, false);
  }

  #message(message: Envelope, isPast: boolean): Envelope {
    const { parts, metadata } = this.#opened(message.content, this.#belongs("message", message.id), isPast);
    return { ...message, content: parts, metadata };
  }

  /**
   * A gateway with tasks of its own returns what passed it: messages of this side, which only the peer can open, and some of the peer that
   * were opened before. The message of this call is replaced by what was sent. The others stay sealed: they are not shown as opened.
   */
  #past(message: Envelope): Envelope {
    const [own, { ownDid: did, peerDid: recipient }] = [this.#own, this.#session];
    if (own !== undefined && isSame(own.sealed, message))
      return { ...message, content: own.plain.content, metadata: own.plain.metadata };
    if (message.content.some(isSealed) && saysSealedBy(message.metadata, { did, recipient })) return message;
    try {
      return this.#message(message, true);
    } catch (thrown) {
      if (thrown instanceof SessionError && PAST.has(thrown.reason)) return message;
      throw thrown;
    }
  }

  readonly #change: ContentChange = {
    message: (message) => this.message(message),
    past: (message) => this.#past(message),
    artifact: (artifact) => {
      const { parts, metadata } = this.#opened(artifact.parts, this.#belongs("artifact", artifact.id), false);
      return { ...artifact, parts, metadata };
    },
  };

  #opened(parts: Artifact["parts"], belongs: SealedFor, isPast: boolean): SealedContent {
    const early = this.#early.get(parts);
    if (early !== undefined) return early;
    const sealed = sealedIn(parts);
    if (sealed === undefined) throw new SageError("policy_denied", "the peer has a session here, and its message is not sealed");
    const { kid, stream, history, record } = sealed;
    if (kid !== this.#session.keyId) throw new SessionError("session.unknown");
    // A record of a history in the place of an answer: it would end a stream that goes on.
    if (history === true && !isPast) throw new SessionError("session.aead");
    const associated = associatedOf(belongs, { kid, stream, history });
    if (stream !== undefined) return this.#inStream(this.#reader(stream), isPast, (reader) => reader.read(record, associated));
    const content = this.#content(this.#session.decrypt(record, associated), isPast);
    if (!isPast) this.#isWhole = this.#latest === undefined;
    return content;
  }

  #inStream(reader: StreamReader, isPast: boolean, read: (reader: StreamReader) => StreamEvent): SealedContent {
    const { event, last } = read(reader);
    const content = this.#content(event, isPast);
    if (isPast) return content;
    if (reader !== this.#latest) this.#checkFollows(reader, content.continues);
    this.#latest = reader;
    this.#isWhole = last;
    return content;
  }

  /** A stream begins the answer, or goes on exactly where the one before it ended or was lost. */
  #checkFollows({ records }: StreamReader, continues: Maybe<Continuation>): void {
    const before = this.#latest;
    const isNext =
      continues === undefined
        ? before === undefined || before.isComplete
        : continues.message === this.#own?.sealed.id &&
          continues.after?.stream === before?.id &&
          continues.after?.records === before?.records;
    if (records !== 1 || !isNext) throw new SessionError("stream.order");
  }

  #content(plaintext: Uint8Array, isPast: boolean): SealedContent {
    const content = readContent(plaintext);
    if (!isPast && content.task !== undefined) this.#isOf(content.task);
    return content;
  }

  /** Somebody on the way could put contents of different tasks together. */
  #isOf(task: string): void {
    if (this.#task !== undefined && this.#task !== task)
      throw new SageError("content.mismatch", "the answer has contents of different tasks");
    this.#task = task;
  }

  #reader(id: string): StreamReader {
    const known = this.#streams.get(id);
    if (known !== undefined) return known;
    const reader = this.#session.readStream(id);
    this.#streams.set(id, reader);
    return reader;
  }

  #belongs(what: SealedFor["what"], id: string): SealedFor {
    return { what, id, from: this.#session.peerDid, to: this.#session.ownDid };
  }
}

/** Nothing is decided by it but the order in which records are opened. */
function numberOf(record: Uint8Array): number {
  const bytes = Buffer.from(record.buffer, record.byteOffset, record.byteLength);
  return bytes.length < 8 ? 0 : Number(bytes.readBigUInt64BE());
}

function isSame(sealed: Envelope, message: Envelope): boolean {
  return sealed.id === message.id && sealed.role === message.role && sameContent(sealed.content, message.content);
}
