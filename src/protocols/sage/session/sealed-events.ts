import { type AgentEvent, type Artifact, type Envelope, isClosing, type Maybe, type Metadata } from "../../../envelope/index.js";
import { sealContent } from "../codec.js";
import { type ContentChange, changedContents, contentsIn } from "../message/changed-contents.js";
import type { Continuation, Seal, SealedFor, StreamPosition } from "../message/sealed-content.js";
import type { SageSession } from "./session.js";
import type { StreamWriter } from "./stream.js";
import { withEnd } from "./stream-end.js";

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

/** The task of an event. */
export function taskIn(event: AgentEvent): Maybe<string> {
  if (event.kind === "task") return event.task.id;
  return event.kind === "status" || event.kind === "artifact" ? event.taskId : undefined;
}
