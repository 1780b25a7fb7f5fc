import {
  type AgentEvent,
  type Artifact,
  type Envelope,
  isClosing,
  isSealed,
  type Maybe,
  type Metadata,
} from "../../../envelope/index.js";
import { readContent, sealContent, sealedIn } from "../codec.js";
import { SageError } from "../errors.js";
import { type ContentChange, changedContents, contentsIn } from "../message/changed-contents.js";
import {
  associatedOf,
  type Continuation,
  type Seal,
  type SealedContent,
  type SealedFor,
  type StreamPosition,
} from "../message/sealed-content.js";
import { saysSealedBy } from "../message/security.js";
import { sameContent } from "../message/signed-message.js";
import type { SageSession } from "./session.js";
import { SessionError, type SessionReason } from "./session-error.js";
import type { StreamEvent, StreamReader, StreamWriter } from "./stream.js";
import { withEnd, withoutEnd } from "./stream-end.js";

export interface SealingOptions {
  readonly stream?: Maybe<StreamWriter>;
  /** Each content says which task it is of, for peers behind a gateway that has other ids for tasks. */
  readonly namesTasks?: Maybe<boolean>;
  /** The stream goes on after another one, whose connection was lost. */
  readonly continues?: Maybe<Continuation>;
}

/**
 * Seals the messages and artifacts of events. Those of a stream have keys and numbers of their own, and the last of them says that it is
 * the last: whoever passes them on cannot leave out the end and say that it came.
 */
export class EventSealer {
  readonly #session: SageSession;
  readonly #namesTasks: boolean;
  /** The task of the event that is being sealed. */
  #task: Maybe<string>;
  #stream: Maybe<StreamWriter>;
  /** Contents of the closing event that are not sealed yet. */
  #left: Maybe<number>;
  /** What the next record says. */
  #continues: Maybe<Continuation>;
  #before: Maybe<StreamPosition>;

  constructor(session: SageSession, { stream, namesTasks = false, continues }: SealingOptions = {}) {
    this.#session = session;
    this.#stream = stream;
    this.#namesTasks = namesTasks;
    this.#continues = continues;
    this.#before = continues?.after;
  }

  /** What was sealed so far, in a stream. Undefined: nothing yet. */
  get position(): Maybe<StreamPosition> {
    const stream = this.#stream;
    return stream === undefined || stream.records === 0 ? this.#before : { stream: stream.id, records: stream.records };
  }

  seal(event: AgentEvent): Promise<AgentEvent> {
    if (this.#namesTasks) this.#task = taskIn(event);
    if (this.#stream !== undefined && this.#left === 0) this.#continue();
    if (this.#stream === undefined || !isClosing(event)) return changedContents(event, this.#change);
    const ended = contentsIn(event) === 0 ? withEnd(event, this.#stream.id) : event;
    this.#left = contentsIn(ended);
    return changedContents(ended, this.#change);
  }

  /** A task that was closed may go on: in a stream of its own, because nothing follows the last record. */
  #continue(): void {
    this.#before = this.position;
    this.#stream = this.#session.openStream();
    this.#left = undefined;
  }

  message(message: Envelope): Envelope {
    const { content: parts, metadata } = message;
    const part = this.#sealed({ parts, metadata }, this.#belongs("message", message.id));
    return { ...message, content: [part], metadata: undefined };
  }

  readonly #change: ContentChange = {
    message: (message) => this.message(message),
    past: (message) => this.#past(message),
    artifact: (artifact) => this.#artifact(artifact),
  };

  /** A gateway with tasks of its own leaves out the history of others: the order of a stream does not depend on it. */
  #past(message: Envelope): Envelope {
    const { content: parts, metadata } = message;
    const at = { kid: this.#session.keyId, history: true };
    const seal: Seal = (plaintext, associated) => this.#session.encrypt(plaintext, associated);
    const part = sealContent({ parts, metadata, task: this.#task }, this.#belongs("message", message.id), at, seal);
    return { ...message, content: [part], metadata: undefined };
  }

  #artifact(artifact: Artifact): Artifact {
    const { parts, metadata } = artifact;
    return {
      ...artifact,
      parts: [this.#sealed({ parts, metadata }, this.#belongs("artifact", artifact.id))],
      metadata: undefined,
    };
  }

  #sealed(content: { readonly parts: Artifact["parts"]; readonly metadata: Maybe<Metadata> }, belongs: SealedFor) {
    const [session, stream] = [this.#session, this.#stream];
    if (this.#left !== undefined) this.#left--;
    const isLast = this.#left === 0;
    const seal: Seal = (plaintext, associated) => {
      if (stream === undefined) return session.encrypt(plaintext, associated);
      return isLast ? stream.end(plaintext, associated) : stream.write(plaintext, associated);
    };
    const continues = this.#continues;
    this.#continues = undefined;
    return sealContent({ ...content, task: this.#task, continues }, belongs, { kid: session.keyId, stream: stream?.id }, seal);
  }

  #belongs(what: SealedFor["what"], id: string): SealedFor {
    return { what, id, from: this.#session.ownDid, to: this.#session.peerDid };
  }
}

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

  constructor(session: SageSession, own?: Maybe<OwnMessage>) {
    this.#session = session;
    this.#own = own;
  }

  open(event: AgentEvent): Promise<AgentEvent> {
    return changedContents(event, this.#change);
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

  #opened(parts: Artifact["parts"], belongs: SealedFor, isPast: boolean) {
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

/** The task of an event. */
export function taskIn(event: AgentEvent): Maybe<string> {
  if (event.kind === "task") return event.task.id;
  return event.kind === "status" || event.kind === "artifact" ? event.taskId : undefined;
}

function isSame(sealed: Envelope, message: Envelope): boolean {
  return sealed.id === message.id && sealed.role === message.role && sameContent(sealed.content, message.content);
}
