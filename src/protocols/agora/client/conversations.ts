import { AgentError, type Cancel, type Maybe, RecentMap } from "../../../envelope/index.js";
import type { ReceivedReply } from "./post.js";

/** Limit of remembered sessions. The peer expires forgotten conversations itself. */
const SESSIONS = 10_000;
/** Limit of conversations per session: one for each document used in it. */
const CONVERSATIONS_PER_SESSION = 16;
/**
 * Limit of conversations that are open and idle. Peers limit them too (this project's server: 100 per caller), for this client and
 * the one that takes its place at a reload together.
 */
const IDLE_CONVERSATIONS = 32;

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
  /** Ends another conversation, which has been idle for longest. */
  end(conversationId: string): void;
}

/** A session and the document that a conversation of it uses. */
type SessionKey = Pick<SessionMessage, "owner" | "sessionId" | "hash">;

/** An open conversation, and the messages that are on their way in it. */
interface OpenConversation {
  readonly of: SessionKey;
  readonly opening: Opening;
  sending: number;
}

/**
 * Maps sessions to the peer's conversations. The first message of a session opens one; concurrent messages wait for its id. The
 * conversations that have been idle for longest are ended.
 */
export class Conversations {
  readonly #sessions: RecentMap<Map<string, Opening>>;
  /** By conversation id, the one used least recently first. */
  readonly #known = new Map<string, OpenConversation>();
  /** Sessions whose conversation was ended here. */
  readonly #ended: RecentMap<true>;

  constructor(limit: number = SESSIONS) {
    this.#sessions = new RecentMap(limit);
    this.#ended = new RecentMap(limit);
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

  /** Whether an earlier conversation of the session was ended to make room: the peer has forgotten it. */
  wasEnded(owner: string, sessionId: string): boolean {
    return this.#ended.get(keyOf({ owner, sessionId })) === true;
  }

  /** Removes and returns the conversations of a session, so that the caller can end them. */
  async take(owner: string, sessionId: string): Promise<readonly string[]> {
    const key = keyOf({ owner, sessionId });
    const openings = [...(this.#sessions.get(key)?.values() ?? [])];
    this.#sessions.delete(key);
    const ids = (await Promise.all(openings)).filter((id) => id !== undefined);
    for (const id of ids) this.#known.delete(id);
    return ids;
  }

  /** Removes and returns all conversations, so that the caller can end them. */
  takeAll(): readonly string[] {
    const ids = [...this.#known.keys()];
    for (const [id, { of, opening }] of this.#known) this.#gone(of, opening, id);
    return ids;
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
    const used = this.#known.get(id);
    if (used !== undefined) used.sending++;
    try {
      const received = await message.send(id);
      if (received.error?.code === "session_expired") this.#gone(message, opening, id);
      return received;
    } catch (thrown) {
      // The Python library answers errors inside a conversation with an HTML page; the state of the conversation is then unknown.
      if (AgentError.from(thrown).facts.status !== undefined) this.#gone(message, opening, id);
      throw thrown;
    } finally {
      if (used !== undefined) {
        used.sending--;
        this.#used(id, used);
      }
    }
  }

  #named(message: SessionMessage, opening: Opening, id: Maybe<string>): Maybe<string> {
    if (id === undefined || id === "") {
      this.#forget(message, opening);
      return undefined;
    }
    const { owner, sessionId, hash, end } = message;
    this.#known.set(id, { of: { owner, sessionId, hash }, opening, sending: 0 });
    this.#endIdle(end);
    return id;
  }

  /** Moves a conversation to the end of the order, unless it was forgotten meanwhile. */
  #used(id: string, conversation: OpenConversation): void {
    if (this.#known.delete(id)) this.#known.set(id, conversation);
  }

  #endIdle(end: SessionMessage["end"]): void {
    let excess = this.#known.size - IDLE_CONVERSATIONS;
    for (const [id, { of, opening, sending }] of this.#known) {
      if (excess <= 0) return;
      if (sending > 0) continue;
      excess--;
      this.#known.delete(id);
      this.#forget(of, opening);
      this.#ended.set(keyOf(of), true);
      end(id);
    }
  }

  #remember(message: SessionKey, opening: Opening): void {
    const key = keyOf(message);
    const held = this.#sessions.get(key) ?? new Map<string, Opening>();
    const [oldest] = held.keys();
    if (held.size >= CONVERSATIONS_PER_SESSION && oldest !== undefined) held.delete(oldest);
    held.set(message.hash, opening);
    this.#sessions.set(key, held);
  }

  #gone(of: SessionKey, opening: Opening, id: string): void {
    this.#known.delete(id);
    this.#forget(of, opening);
  }

  #forget(of: SessionKey, opening: Opening): void {
    const key = keyOf(of);
    const held = this.#sessions.get(key);
    if (held?.get(of.hash) !== opening) return;
    held.delete(of.hash);
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
