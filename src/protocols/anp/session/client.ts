import { AgentError, type Call, type Floor, floorOf, type Maybe, ownerOf } from "../../../envelope/index.js";
import type { Identity } from "../../../security/identity/index.js";
import { openSession } from "../../../transport/links.js";
import { makeRequest } from "../../../transport/request.js";
import { PeerSession } from "../../peer-session.js";
import type { ClientContext, Peer } from "../../protocol.js";
import type { OpenedSession } from "../../shared-session.js";
import { tlsProtection } from "../../tls-protection.js";
import type { DecodeFacts } from "../codec.js";
import type { ConnectSession } from "../sessions.js";
import { readSettings } from "../settings.js";
import { PROTOCOL } from "../wire.js";
import { CALL_TIMES, callerWire } from "./call-messages.js";
import { initiate, type Recipient } from "./handshake.js";
import { handshakeFailed } from "./handshake-error.js";
import { IncompleteBytes } from "./incomplete-bytes.js";
import { withinTime } from "./messages.js";
import { readSessionUrl, SESSION_LIMITS, SUBPROTOCOL } from "./profile.js";
import { SealedSession } from "./sealed-session.js";

/** The peer proved a DID that the user named: nobody else reads what is sent, relays included. */
const PROVED: Floor = floorOf(["encrypted", "signed", "identity", "end-to-end"]);
const REFUSED = 1008;

/** All calls to a peer in one sealed session. There is no other way to the peer here: what cannot be sealed is not sent. */
export const connectSession: ConnectSession = (context, identity) => {
  const { calledDid, peer } = context;
  const named = readSettings(context.settings(PROTOCOL)).peer ?? calledDid;
  const session = new PeerSession({
    context,
    wire: callerWire(context, () => decodeFacts(context), CALL_TIMES),
    open: (call) => open(context, identity, recipientOf(peer, named ?? readSessionUrl(peer.url).did), call),
  });
  return {
    handler: session.handler,
    // A DID that only a description names is that of whoever wrote it.
    protection: () => (named === undefined ? tlsProtection(peer.url) : PROVED),
    receive: (call) => session.receive(call),
    close: () => session.close(),
  };
};

function recipientOf({ card, url }: Peer, did: Maybe<string>): Recipient {
  if (did === undefined)
    throw new AgentError("identity_unresolved", `the description of ${card.name} names no DID, which its session must prove`, {
      sent: "no",
    });
  const { authority, path } = readSessionUrl(url);
  return { did, authority, path };
}

async function open(context: ClientContext, identity: Identity, to: Recipient, call: Call): Promise<OpenedSession> {
  const request = makeRequest({ method: "GET", url: context.peer.url, call });
  const outer = await openSession(context.link, request, [SUBPROTOCOL]);
  const frames = outer.frames[Symbol.asyncIterator]();
  const side = { context, identity, cancel: call.cancel };
  try {
    const channel = await withinTime(outer, frames, call.cancel, (messages) => initiate(messages, side, to));
    const incomplete = new IncompleteBytes(SESSION_LIMITS.messageBytes);
    const onRefused = (thrown: AgentError): void => context.fault(thrown);
    const session = new SealedSession({ outer, frames, channel, incomplete, onRefused }, () => context.now());
    const { did } = to;
    outer.markSealed({ own: identity.did, peer: did });
    const peer = { id: did, scheme: "did", scopes: [], owner: ownerOf("did", did) } as const;
    return { session, frames: session.frames, peer, takesCalls: () => session.takesCalls };
  } catch (thrown) {
    outer.close(REFUSED, "handshake failed");
    throw handshakeFailed(thrown);
  }
}

function decodeFacts({ limits, peer, now, newId }: ClientContext): DecodeFacts {
  return { partsPerMessage: limits.partsPerMessage, ts: now() / 1_000, src: peer.card.name, dst: "", newId };
}
