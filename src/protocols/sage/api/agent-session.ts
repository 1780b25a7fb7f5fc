import type { SageSession } from "../session/session.js";

/** A session with an agent. Its keys stay inside. */
export interface AgentSession {
  readonly sessionId: string;
  /** The `keyid` of what is signed in it. */
  readonly keyId: string;
  readonly peerDid: string;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  /** Milliseconds since the epoch. It moves closer when a key of the session gets an end. */
  readonly expiresAt: number;
  /** Whether messages can be sent in it now. */
  readonly isUsable: boolean;
  /** Ends it on this side: what is sent in it afterwards is refused. */
  close(): void;
}

const sessions = new WeakMap<AgentSession, SageSession>();

/** What a user sees of a session. */
export function agentSession(session: SageSession): AgentSession {
  const { sessionId, keyId, peerDid, createdAt } = session;
  const view: AgentSession = Object.freeze({
    ...{ sessionId, keyId, peerDid, createdAt },
    get expiresAt() {
      return session.expiresAt;
    },
    get isUsable() {
      return session.isUsable;
    },
    close: () => session.close(),
  });
  sessions.set(view, session);
  return view;
}

/** The session of a view; undefined if the object is none that was made here. */
export function sessionOf(view: AgentSession): SageSession | undefined {
  return sessions.get(view);
}
