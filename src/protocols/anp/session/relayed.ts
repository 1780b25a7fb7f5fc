import { AgentError, type Maybe, startCall } from "../../../envelope/index.js";
import { hopsIn } from "../../../transport/call-headers.js";
import type { Chunk, Session } from "../../../transport/exchange.js";
import type { Host, RelayedPeer } from "../../protocol.js";
import { passMessages } from "../../relayed-peer.js";
import { readSettings } from "../settings.js";
import { PROTOCOL } from "../wire.js";
import { handshakeError } from "./handshake-error.js";
import { readClientHello } from "./hello.js";
import { withinTime } from "./messages.js";
import { readSessionUrl, type SessionAddress, SUBPROTOCOL } from "./profile.js";

/** The session of the agent behind a relay. */
export interface RelayedSession {
  readonly agent: string;
  readonly peer: RelayedPeer;
  /** Where the relay opens it. */
  readonly url: string;
  /** What callers are told: the DID that the agent proves, and the address that it knows as its own. */
  readonly address: SessionAddress & { readonly did: string };
}

/** Undefined: this host ends the sessions of the agent. */
export function relayedSession(host: Host, agent: string): Maybe<RelayedSession> {
  const peer = host.relayed?.(agent);
  if (peer === undefined || !readSettings(host.settings(PROTOCOL)).relaySessions) return undefined;
  const found = peer.interfaces.find(({ protocol, binding }) => protocol === PROTOCOL && binding === "WS");
  if (found === undefined) return undefined;
  const { did, ...address } = readSessionUrl(found.url);
  return did === undefined ? undefined : { agent, peer, url: found.url, address: { ...address, did } };
}

/**
 * Passes a session on to its agent. The first message says in clear for whom it is; everything after the handshake is sealed between the caller
 * and the agent. Throws AgentError if it cannot be passed on.
 */
export async function passOn(host: Host, session: Session, { agent, peer, url, address }: RelayedSession): Promise<void> {
  const { request } = session;
  const hops = hopsIn(request.headers) + 1;
  if (hops > host.limits.hops) throw new AgentError("unavailable", `the session has passed more than ${host.limits.hops} relays`);
  // The caller proves its DID to the agent, not here: whoever must be known here needs credentials.
  const caller = await host.admit(session);
  const frames = session.frames[Symbol.asyncIterator]();
  const { frame, claims } = await withinTime(session, frames, request.cancel, async (messages) =>
    checkedHello(await messages.next(), address.did),
  );
  const call = startCall({ hops, cancel: request.cancel });
  const upstream = await peer.openSession(url, [SUBPROTOCOL], call);
  host.relaying?.(session, { agent, protocol: PROTOCOL, caller, claims });
  upstream.send(frame)?.catch(() => undefined); // `closed` says it
  await passMessages({ session, frames }, { session: upstream, frames: upstream.frames[Symbol.asyncIterator]() });
}

function checkedHello(frame: Chunk, did: string): { readonly frame: Chunk; readonly claims: string } {
  const { to, did: claims } = readClientHello(frame);
  if (to !== did) throw handshakeError("wrong_recipient", "the session is for another DID than that of the agent");
  return { frame, claims };
}
