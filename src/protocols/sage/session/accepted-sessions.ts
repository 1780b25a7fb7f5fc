import { AgentError, CancelSource, type Maybe, type ReplayGuard } from "../../../envelope/index.js";
import type { Identity, Resolver } from "../../../security/identity/index.js";
import { Responder } from "../handshake/index.js";
import { keysOf } from "./keys-of.js";
import { SessionError } from "./session-error.js";
import { SessionTable } from "./session-table.js";

/** What the sessions of a server are made of. */
export interface SessionHost {
  readonly resolver: Resolver;
  readonly replay: ReplayGuard;
  now(): number;
  newId(): string;
}

/** The sessions that peers opened with an identity of this process. */
export interface AcceptedSessions {
  readonly table: SessionTable;
  readonly responder: Responder;
}

interface SharedSessions extends AcceptedSessions {
  /** The servers under the identity, the newest last. */
  readonly hosts: SessionHost[];
}

const shared = new WeakMap<Identity, SharedSessions>();

/**
 * Accepts sessions for a server. One table for each identity: a session belongs to a process and a DID, not to a port, and a server that
 * replaces another goes on with its sessions. The returned function ends it; with the last server the sessions are closed.
 */
export function acceptSessions(identity: Identity, host: SessionHost): () => void {
  const sessions = shared.get(identity) ?? sessionsOf(identity);
  shared.set(identity, sessions);
  sessions.hosts.push(host);
  return () => {
    const { hosts, table } = sessions;
    const index = hosts.indexOf(host);
    if (index >= 0) hosts.splice(index, 1);
    if (hosts.length > 0) return;
    table.close();
    if (shared.get(identity) === sessions) shared.delete(identity);
  };
}

/** The sessions of an identity that is served. Throws `session.closed` if it is not. */
export function acceptedSessions(identity: Identity): AcceptedSessions {
  const sessions: Maybe<AcceptedSessions> = shared.get(identity);
  if (sessions === undefined) throw new SessionError("session.closed");
  return sessions;
}

function sessionsOf(identity: Identity): SharedSessions {
  const hosts: SessionHost[] = [];
  const host = (): SessionHost => {
    const newest = hosts.at(-1);
    if (newest === undefined) throw new AgentError("unavailable", "the server is closed", { sent: "no" });
    return newest;
  };
  const now = (): number => host().now();
  const responder = new Responder({
    ...{ identity, now },
    replay: {
      seen: (signer, nonce) => host().replay.seen(signer, nonce),
      add: (...entry) => host().replay.add(...entry),
    },
    newId: () => host().newId(),
    keysOf: (did) => keysOf(did, host().resolver, new CancelSource()),
  });
  return { hosts, table: new SessionTable({ now }), responder };
}
