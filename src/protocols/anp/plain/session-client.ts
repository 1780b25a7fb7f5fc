import { ANONYMOUS, type Call, type Maybe } from "../../../envelope/index.js";
import { openSession } from "../../../transport/links.js";
import { makeRequest } from "../../../transport/request.js";
import { PeerSession } from "../../peer-session.js";
import type { Client, ClientContext } from "../../protocol.js";
import type { OpenedSession } from "../../shared-session.js";
import { tlsProtection } from "../../tls-protection.js";
import { PlainCallerWire } from "./caller-wire.js";

/** Opens the session below the messages, for one call. */
export type OpenPlain = (call: Call) => Promise<OpenedSession>;

/** The seeds' plain form in a session: in clear unless the address has TLS. */
export function connectPlainSession(context: ClientContext): Client {
  return plainSession(context, async (call) => {
    const session = await openSession(context.link, makeRequest({ method: "GET", url: context.peer.url, call }), []);
    return { session, frames: session.frames[Symbol.asyncIterator](), peer: ANONYMOUS };
  });
}

/** The plain form in whatever session is opened for it. `provedDid`: whom that session proves the peer to be. */
export function plainSession(context: ClientContext, open: OpenPlain, provedDid?: Maybe<string>): Client {
  const wire = new PlainCallerWire(context, provedDid);
  const session = new PeerSession({
    context,
    wire,
    open(call) {
      wire.forget();
      return open(call);
    },
  });
  return {
    handler: (operation, call) =>
      operation.kind === "card" && !operation.extended
        ? Promise.resolve({ kind: "card", card: context.peer.card })
        : session.handler(operation, call),
    protection: () => tlsProtection(context.peer.url),
    receive: (call) => session.receive(call),
    close: () => session.close(),
  };
}
