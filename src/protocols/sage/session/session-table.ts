import { AgentError, type Maybe } from "../../../envelope/index.js";
import type { PublicKey } from "../../../security/identity/index.js";
import type { SageSession } from "./session.js";
import { SessionError } from "./session-error.js";

/** Limits of a table. */
export interface SessionTableLimits {
  /** All sessions. A full table refuses new ones. */
  readonly sessions: number;
  /** Sessions between two DIDs. A further one replaces the oldest: a peer that was restarted has forgotten it. */
  readonly sessionsPerPeer: number;
  /** How long the preparation of the next session waits after a failure. */
  readonly retryMs: number;
}

const DEFAULT_TABLE_LIMITS: SessionTableLimits = Object.freeze({
  sessions: 10_000,
  sessionsPerPeer: 16,
  retryMs: 10_000,
});

export interface SessionTableOptions {
  readonly limits?: Maybe<Partial<SessionTableLimits>>;
  /** Milliseconds since the epoch. */
  now(): number;
}

/** Both ends of a session. */
export interface SessionEnds {
  readonly ownDid: string;
  readonly peerDid: string;
}

interface Peer {
  /** By key id, the oldest first. */
  readonly sessions: Map<string, SageSession>;
  /** The session that this side opened last, for what it sends. */
  current: Maybe<SageSession>;
  /** A handshake under way: whoever needs a session waits for the same. */
  opening: Maybe<Promise<SageSession>>;
  /** The next session is not prepared before this time. */
  prepareFrom: number;
}

/**
 * The sessions of a process, in its memory only: they are never stored, shared or continued after a restart. Sessions of different DIDs
 * never meet, whatever key ids the peers choose.
 */
export class SessionTable {
  readonly #limits: SessionTableLimits;
  readonly #now: () => number;
  readonly #peers = new Map<string, Peer>();
  #size = 0;
  #closed = false;

  constructor({ limits, now }: SessionTableOptions) {
    this.#limits = { ...DEFAULT_TABLE_LIMITS, ...limits };
    this.#now = now;
  }

  /** Sessions, with those that have ended and were not removed yet. */
  get size(): number {
    return this.#size;
  }

  /** Keeps a session that a peer opened. Throws `overloaded` if the table is full. */
  add(session: SageSession): void {
    if (this.#closed) {
      session.close();
      throw new SessionError("session.closed");
    }
    if (this.#size >= this.#limits.sessions) this.#removeEnded();
    const peer = this.#peerOf(session);
    const [oldest] = peer.sessions.values();
    if (peer.sessions.size >= this.#limits.sessionsPerPeer && oldest !== undefined) this.#remove(oldest);
    if (this.#size >= this.#limits.sessions || peer.sessions.has(session.keyId)) {
      session.close();
      this.#forgetIfEmpty(session);
      throw new AgentError("overloaded", "no further session is accepted now", { detail: { reason: "session.full" } });
    }
    peer.sessions.set(session.keyId, session);
    this.#size++;
  }

  /** The session of a received message. Throws `session.unknown`, or the reason for which it has ended. */
  find(ends: SessionEnds, keyId: string): SageSession {
    const session = this.#peers.get(nameOf(ends))?.sessions.get(keyId);
    if (session === undefined) throw new SessionError("session.unknown");
    try {
      session.checkOpen();
    } catch (thrown) {
      this.#remove(session);
      throw thrown;
    }
    return session;
  }

  /**
   * A session to send with. If there is none, `establish` makes one, once for all who wait; its failure is theirs. When a limit of the
   * session is near, the next one is prepared while this one is used. There is no answer without a session.
   */
  obtain(ends: SessionEnds, establish: () => Promise<SageSession>): Promise<SageSession> {
    if (this.#closed) return Promise.reject(new SessionError("session.closed"));
    const peer = this.#peerOf(ends);
    const { current } = peer;
    if (current === undefined || !current.isUsable) {
      if (current?.isOpen === false) this.#remove(current);
      peer.current = undefined; // answers to what it sent may be under way
      return peer.opening ?? this.#open(ends, establish);
    }
    if (current.isNearEnd && peer.opening === undefined && this.#now() >= peer.prepareFrom) {
      this.#open(ends, establish).catch(() => {
        peer.prepareFrom = this.#now() + this.#limits.retryMs;
      });
    }
    return Promise.resolve(current);
  }

  /**
   * A message of a proven peer that is not sealed. Throws `policy_denied` if the peer has used a session that is still open; a handshake is
   * no such message.
   */
  refuseClear(ends: SessionEnds): void {
    for (const session of this.#peers.get(nameOf(ends))?.sessions.values() ?? [])
      if (session.isOpen && session.isConfirmed) throw new SessionError("policy_denied");
  }

  /** Closes the sessions whose keys of this DID are not among these any more. `keys`: those that may be used now; none closes all. */
  checkKeys(did: string, keys: readonly PublicKey[]): void {
    for (const session of this.#all()) {
      if (session.ownDid !== did && session.peerDid !== did) continue;
      try {
        session.checkKeys(did, keys);
      } catch {
        this.#remove(session);
      }
    }
  }

  /** Ends all sessions. */
  close(): void {
    this.#closed = true;
    for (const session of this.#all()) this.#remove(session);
  }

  #open(ends: SessionEnds, establish: () => Promise<SageSession>): Promise<SageSession> {
    const peer = this.#peerOf(ends);
    const make = async (): Promise<SageSession> => {
      const session = await establish();
      this.add(session);
      peer.current = session;
      return session;
    };
    const opening = make();
    peer.opening = opening;
    const done = (): void => {
      peer.opening = undefined;
      this.#forgetIfEmpty(ends);
    };
    opening.then(done, done);
    return opening;
  }

  #peerOf(ends: SessionEnds): Peer {
    const name = nameOf(ends);
    const known = this.#peers.get(name);
    if (known !== undefined) return known;
    const peer: Peer = { sessions: new Map(), current: undefined, opening: undefined, prepareFrom: 0 };
    this.#peers.set(name, peer);
    return peer;
  }

  #remove(session: SageSession): void {
    session.close();
    const peer = this.#peers.get(nameOf(session));
    if (peer === undefined) return;
    if (peer.sessions.get(session.keyId) === session) {
      peer.sessions.delete(session.keyId);
      this.#size--;
    }
    if (peer.current === session) peer.current = undefined;
    this.#forgetIfEmpty(session);
  }

  #forgetIfEmpty(ends: SessionEnds): void {
    const peer = this.#peers.get(nameOf(ends));
    if (peer?.sessions.size === 0 && peer.opening === undefined) this.#peers.delete(nameOf(ends));
  }

  #removeEnded(): void {
    for (const session of this.#all()) if (!session.isOpen) this.#remove(session);
  }

  #all(): readonly SageSession[] {
    return [...this.#peers.values()].flatMap(({ sessions }) => [...sessions.values()]);
  }
}

/** DIDs have no spaces. */
function nameOf({ ownDid, peerDid }: SessionEnds): string {
  return `${ownDid} ${peerDid}`;
}
