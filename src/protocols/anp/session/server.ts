import { AgentError, type Floor, floorOf, type Maybe, type Principal } from "../../../envelope/index.js";
import type { ProvenPeer } from "../../../security/admission.js";
import type { Session } from "../../../transport/exchange.js";
import { callerError } from "../../host.js";
import type { Host, Route } from "../../protocol.js";
import { ServedSessions } from "../../served-session.js";
import { writeError } from "../codec.js";
import { readPath } from "../server/paths.js";
import type { ServeSessions } from "../sessions.js";
import { AGENTS_BASE, BASE, RPC } from "../wire.js";
import { CALL_TIMES, calleeWire } from "./call-messages.js";
import { respond } from "./handshake.js";
import { HelloRate } from "./hello-rate.js";
import { IncompleteBytes } from "./incomplete-bytes.js";
import { withinTime } from "./messages.js";
import { SESSION_LIMITS, SUBPROTOCOL } from "./profile.js";
import { passOn, relayedSession } from "./relayed.js";
import { SealedSession } from "./sealed-session.js";

/** RFC 6455 §7.4.1. */
const REFUSED = 1008;
const TRY_LATER = 1013;

/** What a caller has proved, which further hops must keep. */
const PROVED: Floor = floorOf(["encrypted", "signed", "identity"]);

export const sessionRoutes: readonly Route[] = [`${BASE}/${RPC}`, `${AGENTS_BASE}/*`].map((path) => ({
  method: "GET",
  path,
  rank: 1,
  upgrade: [SUBPROTOCOL],
  proves: true,
}));

export const serveSessions: ServeSessions = (host, identity) => {
  const sessions = new ServedSessions();
  const incomplete = new IncompleteBytes(SESSION_LIMITS.incompleteBytes);
  const hellos = new HelloRate(() => host.now());

  async function accept(session: Session): Promise<void> {
    const agent = readPath(session.request.path)?.agent;
    const relayed = relayedSession(host, agent ?? host.cards()[0]?.name ?? "");
    if (relayed !== undefined) return checked(session, () => passOn(host, session, relayed));
    const shaken = await checked(session, () => handshaken(session));
    if (shaken === undefined) return;
    const { sealed, caller } = shaken;
    const wire = calleeWire(host, caller, agent, CALL_TIMES);
    const parts = {
      host,
      wire,
      session: sealed,
      caller,
      proved: caller.scheme === "did" ? PROVED : undefined,
      sealedForHost: true,
      outer: sealed.outerOf.bind(sealed),
    };
    await sessions.run(parts, sealed.frames);
  }

  /** Undefined if the beginning of a session failed: then it is refused, and counted against its network. */
  async function checked<T>(outer: Session, begin: () => Promise<T>): Promise<Maybe<T>> {
    const { remote } = outer.request.connection;
    try {
      hellos.check(remote);
      return await begin();
    } catch (thrown) {
      hellos.failed(remote);
      refuse(outer, callerError(host, thrown));
      return undefined;
    }
  }

  async function handshaken(outer: Session): Promise<{ readonly sealed: SealedSession; readonly caller: Principal }> {
    const { request } = outer;
    const frames = outer.frames[Symbol.asyncIterator]();
    let caller: Maybe<Principal>;
    const resolver = host.resolver.forCaller?.(request.connection.remote) ?? host.resolver;
    const context = { resolver, replay: host.replay, now: () => host.now() };
    const rules = {
      authority: new URL(host.publicUrl(request)).host,
      path: request.path,
      async admit(peer: ProvenPeer) {
        caller = await callerOf(host, outer, peer);
        outer.markSealed({ own: identity.did, peer: peer.did });
      },
    };
    const side = { context, identity, cancel: request.cancel };
    const channel = await withinTime(outer, frames, request.cancel, (messages) => respond(messages, side, rules));
    if (caller === undefined) throw new AgentError("internal", "a handshake ended without a caller");
    const onRefused = (error: AgentError & { readonly problem: string }): void =>
      host.refused(
        outer,
        new AgentError(error.code, `record refused: ${error.problem}`, { detail: { reason: `record_${error.problem}` } }),
      );
    const sealed = new SealedSession({ outer, frames, channel, incomplete, onRefused }, () => host.now());
    return { sealed, caller };
  }

  function refuse(outer: Session, error: AgentError): void {
    const reason = error.facts.detail?.["reason"] ?? error.code;
    host.refused(outer, new AgentError(error.code, `handshake refused (${reason}): ${error.message}`, { detail: { reason } }));
    outer.send(writeError(undefined, error))?.catch(() => undefined);
    outer.close(error.code === "overloaded" ? TRY_LATER : REFUSED, reason);
  }

  return { accept, say: (owner, envelope) => sessions.say(owner, envelope), close: () => sessions.close() };
};

/** Credentials decide who the caller is; its DID does where there are none. A did:key may be made for one connection. */
async function callerOf(host: Host, session: Session, peer: ProvenPeer): Promise<Principal> {
  const known = session.request.admitted === undefined ? undefined : await host.admit(session);
  const isKnown = known !== undefined && (known.scheme !== "anonymous" || peer.did.startsWith("did:key:"));
  return isKnown ? known : host.identify(session, peer);
}
