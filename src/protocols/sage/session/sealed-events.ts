import type { AgentEvent, Artifact, Envelope, Maybe, Metadata } from "../../../envelope/index.js";
import { readContent, sealContent, sealedIn } from "../codec.js";
import { SageError } from "../errors.js";
import { type ContentChange, changedContents } from "../message/changed-contents.js";
import { associatedOf, type Seal, type SealedFor } from "../message/sealed-content.js";
import type { SageSession } from "./session.js";
import { SessionError } from "./session-error.js";
import type { StreamReader, StreamWriter } from "./stream.js";

/** Seals the messages and artifacts of events. Those of a stream have keys and numbers of their own. */
export class EventSealer {
  readonly #session: SageSession;
  readonly #stream: Maybe<StreamWriter>;

  constructor(session: SageSession, stream?: Maybe<StreamWriter>) {
    this.#session = session;
    this.#stream = stream;
  }

  seal(event: AgentEvent): Promise<AgentEvent> {
    return changedContents(event, this.#change);
  }

  message(message: Envelope): Envelope {
    const { content: parts, metadata } = message;
    const part = this.#sealed({ parts, metadata }, this.#belongs("message", message.id));
    return { ...message, content: [part], metadata: undefined };
  }

  readonly #change: ContentChange = {
    message: (message) => this.message(message),
    artifact: (artifact) => this.#artifact(artifact),
  };

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
    const seal: Seal = (plaintext, associated) =>
      stream === undefined ? session.encrypt(plaintext, associated) : stream.write(plaintext, associated);
    return sealContent(content, belongs, { kid: session.keyId, stream: stream?.id }, seal);
  }

  #belongs(what: SealedFor["what"], id: string): SealedFor {
    return { what, id, from: this.#session.ownDid, to: this.#session.peerDid };
  }
}

/** Opens the messages and artifacts of events. What is not sealed is refused: somebody on the way put it there. */
export class EventOpener {
  readonly #session: SageSession;
  readonly #streams = new Map<string, StreamReader>();

  constructor(session: SageSession) {
    this.#session = session;
  }

  open(event: AgentEvent): Promise<AgentEvent> {
    return changedContents(event, this.#change);
  }

  message(message: Envelope): Envelope {
    const { parts, metadata } = this.#opened(message.content, this.#belongs("message", message.id));
    return { ...message, content: parts, metadata };
  }

  readonly #change: ContentChange = {
    message: (message) => this.message(message),
    artifact: (artifact) => ({ ...artifact, ...this.#opened(artifact.parts, this.#belongs("artifact", artifact.id)) }),
  };

  #opened(parts: Artifact["parts"], belongs: SealedFor) {
    const sealed = sealedIn(parts);
    if (sealed === undefined) throw new SageError("policy_denied", "the peer has a session here, and its message is not sealed");
    const { kid, stream, record } = sealed;
    if (kid !== this.#session.keyId) throw new SessionError("session.unknown");
    const associated = associatedOf(belongs, { kid, stream });
    if (stream === undefined) return readContent(this.#session.decrypt(record, associated));
    return readContent(this.#reader(stream).read(record, associated).event);
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
