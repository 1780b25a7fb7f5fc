import { AgentError, type Cancel, type Maybe, RecentMap } from "../../../envelope/index.js";
import type { Heard } from "./post.js";

/** Sessions whose conversations are remembered; the peer forgets those that drop out by its own timer. */
const SESSIONS = 10_000;
/** Conversations of one session: one for each document that is spoken in it. */
const CONVERSATIONS_PER_SESSION = 16;

/** Undefined: the peer gave no conversation, or the message that was to open one failed. */
type Opening = Promise<Maybe<string>>;

/** How one message of a session is sent. */
export interface Speech {
  /** Whose session it is: two callers may use one name. */
  readonly owner: string;
  readonly sessionId: string;
  /** A conversation keeps to one document; empty for natural language. */
  readonly hash: string;
  readonly cancel: Cancel;
  send(conversationId: Maybe<string>): Promise<Heard>;
}

/** Our sessions and the peer's conversations. The first message of a session opens one; those that come meanwhile wait for its name. */
export class Conversations {
  readonly #sessions: RecentMap<Map<string, Opening>>;

  constructor(limit: number = SESSIONS) {
    this.#sessions = new RecentMap(limit);
  }

  async say(speech: Speech): Promise<Heard> {
    for (;;) {
      const opening = this.#sessions.get(keyOf(speech))?.get(speech.hash);
      if (opening === undefined) return this.#open(speech);
      const id = await heardUnless(speech.cancel, opening);
      if (id !== undefined) return this.#continue(speech, id, opening);
    }
  }

  /** Whether anything of a session is open at the peer. */
  has(owner: string, sessionId: string): boolean {
    return this.#sessions.get(keyOf({ owner, sessionId })) !== undefined;
  }

  /** Takes the conversations of a session out: whoever asks is going to end them. */
  async take(owner: string, sessionId: string): Promise<readonly string[]> {
    const key = keyOf({ owner, sessionId });
    const openings = [...(this.#sessions.get(key)?.values() ?? [])];
    this.#sessions.delete(key);
    return (await Promise.all(openings)).filter((id) => id !== undefined);
  }

  async #open(speech: Speech): Promise<Heard> {
    const first = speech.send(undefined);
    const opening: Opening = first.then(
      ({ reply }) => this.#named(speech, opening, reply.conversationId),
      () => this.#named(speech, opening, undefined),
    );
    this.#remember(speech, opening);
    return first;
  }

  async #continue(speech: Speech, id: string, opening: Opening): Promise<Heard> {
    try {
      const heard = await speech.send(id);
      if (heard.error?.code === "session_expired") this.#forget(speech, opening);
      return heard;
    } catch (thrown) {
      // The library answers what goes wrong inside a conversation with a page; nobody knows what is left of it then.
      if (AgentError.from(thrown).facts.status !== undefined) this.#forget(speech, opening);
      throw thrown;
    }
  }

  #named(speech: Speech, opening: Opening, id: Maybe<string>): Maybe<string> {
    if (id === undefined || id === "") this.#forget(speech, opening);
    return id === "" ? undefined : id;
  }

  #remember(speech: Speech, opening: Opening): void {
    const key = keyOf(speech);
    const held = this.#sessions.get(key) ?? new Map<string, Opening>();
    const [oldest] = held.keys();
    if (held.size >= CONVERSATIONS_PER_SESSION && oldest !== undefined) held.delete(oldest);
    held.set(speech.hash, opening);
    this.#sessions.set(key, held);
  }

  #forget(speech: Speech, opening: Opening): void {
    const key = keyOf(speech);
    const held = this.#sessions.get(key);
    if (held?.get(speech.hash) !== opening) return;
    held.delete(speech.hash);
    if (held.size === 0) this.#sessions.delete(key);
  }
}

/** The length keeps the two apart whatever characters they have. */
function keyOf({ owner, sessionId }: Pick<Speech, "owner" | "sessionId">): string {
  return `${owner.length}:${owner}${sessionId}`;
}

function heardUnless<T>(cancel: Cancel, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const off = cancel.onCancel(reject);
    work.then(resolve, reject).finally(off);
  });
}
