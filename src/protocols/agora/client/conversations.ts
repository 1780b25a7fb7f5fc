import { AgentError, type Cancel, type Maybe, RecentMap } from "../../../envelope/index.js";
import type { ReceivedReply } from "./post.js";

/** Limit of remembered sessions. The peer expires forgotten conversations itself. */
const SESSIONS = 10_000;
/** Limit of conversations per session: one for each document used in it. */
const CONVERSATIONS_PER_SESSION = 16;

/** Undefined: the peer gave no conversation, or the message that was to open one failed. */
type Opening = Promise<Maybe<string>>;

/** Sends one message of a session. */
export interface SessionMessage {
  /** The owner of the session: two callers may use the same name. */
  readonly owner: string;
  readonly sessionId: string;
  /** A conversation uses one document; empty for natural language. */
  readonly hash: string;
  readonly cancel: Cancel;
  send(conversationId: Maybe<string>): Promise<ReceivedReply>;
}

/** Maps sessions to the peer's conversations. The first message of a session opens one; concurrent messages wait for its id. */
export class Conversations {
  readonly #sessions: RecentMap<Map<string, Opening>>;

  constructor(limit: number = SESSIONS) {
    this.#sessions = new RecentMap(limit);
  }

  async send(message: SessionMessage): Promise<ReceivedReply> {
    for (;;) {
      const opening = this.#sessions.get(keyOf(message))?.get(message.hash);
      if (opening === undefined) return this.#open(message);
      const id = await withCancel(message.cancel, opening);
      if (id !== undefined) return this.#continue(message, id, opening);
    }
  }

  /** Whether a session has an open conversation at the peer. */
  has(owner: string, sessionId: string): boolean {
    return this.#sessions.get(keyOf({ owner, sessionId })) !== undefined;
  }

  /** Removes and returns the conversations of a session, so that the caller can end them. */
  async take(owner: string, sessionId: string): Promise<readonly string[]> {
    const key = keyOf({ owner, sessionId });
    const openings = [...(this.#sessions.get(key)?.values() ?? [])];
    this.#sessions.delete(key);
    return (await Promise.all(openings)).filter((id) => id !== undefined);
  }

  async #open(message: SessionMessage): Promise<ReceivedReply> {
    const first = message.send(undefined);
    const opening: Opening = first.then(
      ({ reply }) => this.#named(message, opening, reply.conversationId),
      () => this.#named(message, opening, undefined),
    );
    this.#remember(message, opening);
    return first;
  }

  async #continue(message: SessionMessage, id: string, opening: Opening): Promise<ReceivedReply> {
    try {
      const received = await message.send(id);
      if (received.error?.code === "session_expired") this.#forget(message, opening);
      return received;
    } catch (thrown) {
      // The Python library answers errors inside a conversation with an HTML page; the state of the conversation is then unknown.
      if (AgentError.from(thrown).facts.status !== undefined) this.#forget(message, opening);
      throw thrown;
    }
  }

  #named(message: SessionMessage, opening: Opening, id: Maybe<string>): Maybe<string> {
    if (id === undefined || id === "") this.#forget(message, opening);
    return id === "" ? undefined : id;
  }

  #remember(message: SessionMessage, opening: Opening): void {
    const key = keyOf(message);
    const held = this.#sessions.get(key) ?? new Map<string, Opening>();
    const [oldest] = held.keys();
    if (held.size >= CONVERSATIONS_PER_SESSION && oldest !== undefined) held.delete(oldest);
    held.set(message.hash, opening);
    this.#sessions.set(key, held);
  }

  #forget(message: SessionMessage, opening: Opening): void {
    const key = keyOf(message);
    const held = this.#sessions.get(key);
    if (held?.get(message.hash) !== opening) return;
    held.delete(message.hash);
    if (held.size === 0) this.#sessions.delete(key);
  }
}

/** The length prefix makes the key unambiguous. */
function keyOf({ owner, sessionId }: Pick<SessionMessage, "owner" | "sessionId">): string {
  return `${owner.length}:${owner}${sessionId}`;
}

function withCancel<T>(cancel: Cancel, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const off = cancel.onCancel(reject);
    work.then(resolve, reject).finally(off);
  });
}
