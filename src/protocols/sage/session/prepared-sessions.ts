import { type Maybe, RecentMap } from "../../../envelope/index.js";
import type { Identity } from "../../../security/identity/index.js";
import type { SageSession } from "./session.js";

/** Agents of one identity for which a session is kept. */
const KEPT = 1_000;

/** Sessions that proved in discovery that an agent is there. The connection that follows uses them, once each. */
const prepared = new WeakMap<Identity, RecentMap<SageSession>>();

/** In place of one for the same agent that nobody took. */
export function keepPrepared(identity: Identity, form: string, session: SageSession): void {
  const kept = prepared.get(identity) ?? new RecentMap<SageSession>(KEPT);
  prepared.set(identity, kept);
  const name = nameOf(session.peerDid, form);
  kept.get(name)?.close();
  kept.set(name, session);
}

/** The session with an agent, if there is one that can still be used. */
export function takePrepared(identity: Identity, form: string, peerDid: string): Maybe<SageSession> {
  const kept = prepared.get(identity);
  const name = nameOf(peerDid, form);
  const session = kept?.get(name);
  kept?.delete(name);
  return session?.isUsable === true ? session : undefined;
}

/** DIDs have no spaces. */
function nameOf(peerDid: string, form: string): string {
  return `${peerDid} ${form}`;
}
