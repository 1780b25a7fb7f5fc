import { AgentError, type Call, floorOf, ownerOf } from "../../../envelope/index.js";
import { openSession } from "../../../transport/links.js";
import { makeRequest } from "../../../transport/request.js";
import type { Client, ClientContext } from "../../protocol.js";
import type { OpenedSession } from "../../shared-session.js";
import { plainSession } from "../plain/session-client.js";
import { handshakeError, handshakeFailed } from "../session/handshake-error.js";
import { withinTime } from "../session/messages.js";
import { readSettings } from "../settings.js";
import { PROTOCOL } from "../wire.js";
import { didAllOf, parseDidAll, provedDid } from "./did-all.js";
import { initiate, type Shaken } from "./handshake.js";
import { LegacySession } from "./legacy-session.js";
import { clientKeyOf } from "./own-key.js";
import { LEGACY_LIMITS } from "./profile.js";

/** Nobody else reads what is sent, and the peer has the key of its DID. Messages can be left out and moved, so they are not signed. */
const PROVED = floorOf(["encrypted", "identity"]);
/** RFC 6455 §7.4.1. */
const NORMAL = 1000;
const REFUSED = 1008;

/** The messages of the plain form in a session of agent-connect 0.3. */
export function connectLegacySession(context: ClientContext): Client {
  const { peer } = readSettings(context.settings(PROTOCOL));
  const did = peer === undefined ? undefined : provedDid(peer);
  return { ...plainSession(context, (call) => open(context, call), did), protection: () => PROVED };
}

async function open(context: ClientContext, call: Call): Promise<OpenedSession> {
  const ends = { ownDid: didAllOf(clientKeyOf(context).key.bytes, undefined), peerDid: calledDid(context) };
  let opened = await openOnce(context, call, ends);
  for (let tries = 1; !opened.isReading && tries < LEGACY_LIMITS.openTries; tries++) {
    opened.session.close(NORMAL, "");
    opened = await openOnce(context, call, ends);
  }
  const { session } = opened;
  const did = provedDid(ends.peerDid);
  const peer = { id: did, scheme: "did", scopes: [], owner: ownerOf("did", did) } as const;
  return { session, frames: session.frames, peer, takesCalls: () => session.takesCalls };
}

async function openOnce(
  context: ClientContext,
  call: Call,
  ends: Pick<Shaken, "ownDid" | "peerDid">,
): Promise<{ readonly session: LegacySession; readonly isReading: boolean }> {
  const key = clientKeyOf(context);
  const outer = await openSession(context.link, makeRequest({ method: "GET", url: context.peer.url, call }), []);
  const frames = outer.frames[Symbol.asyncIterator]();
  try {
    const shaken = await withinTime(outer, frames, call.cancel, (messages) => initiate(messages, { context, key }, ends));
    const session = new LegacySession({
      outer,
      frames,
      shaken,
      limits: context.limits,
      asks: true,
      now: () => context.now(),
      onRefused: (error) => context.fault(handshakeError("malformed", error.message)),
    });
    return { session, isReading: shaken.isReading };
  } catch (thrown) {
    outer.close(REFUSED, "handshake failed");
    throw handshakeFailed(thrown);
  }
}

/** A hello names whom it is for, and nothing tells an initiator but its user. */
function calledDid(context: ClientContext): string {
  const { legacySession, peer } = readSettings(context.settings(PROTOCOL));
  if (!legacySession)
    throw new AgentError("downgrade_refused", "the session of agent-connect 0.3 needs the setting anp.legacySession", {
      sent: "no",
      detail: { reason: "legacy_session_off" },
    });
  if (peer !== undefined && parseDidAll(peer) !== undefined) return peer;
  throw new AgentError(
    "identity_unresolved",
    "the old session needs the DID of the peer: --set anp.peer=did:all:ADDRESS@HOST:PORT",
    {
      sent: "no",
    },
  );
}
