import type { Maybe, ReplayGuard } from "../../../envelope/index.js";
import { CancelSource } from "../../../envelope/index.js";
import type { Identity, Resolver } from "../../../security/identity/index.js";
import { Responder } from "../handshake/index.js";
import { keysOf } from "./keys-of.js";
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

const known = new WeakMap<Identity, AcceptedSessions>();

/** One table for each identity: a session belongs to a process and a DID, not to a port. */
export function acceptedSessions(identity: Identity, host: SessionHost): AcceptedSessions {
  const before: Maybe<AcceptedSessions> = known.get(identity);
  if (before !== undefined) return before;
  const now = (): number => host.now();
  const responder = new Responder({
    ...{ identity, now, replay: host.replay },
    newId: () => host.newId(),
    keysOf: (did) => keysOf(did, host.resolver, new CancelSource()),
  });
  const made = { table: new SessionTable({ now }), responder };
  known.set(identity, made);
  return made;
}
