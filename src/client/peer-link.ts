import { guardedDial, resolveByDns } from "../security/index.js";
import type { HttpRequest, Link } from "../transport/exchange.js";
import type { Limits } from "../transport/limits.js";
import { openSession } from "../transport/links.js";
import { poolLink } from "../transport/node/index.js";
import { type Credentials, isAtOrigin } from "./credentials.js";

/**
 * Pooled connections to a peer. The configured address is dialled directly, with the client certificate. Every other address
 * comes from a document of the peer: it passes the outbound guard and is never shown the client certificate.
 */
export function peerLink(url: string, limits: Limits, tls: Credentials["tls"]): Link {
  const own = poolLink({ limits, tls });
  const ca = tls?.ca;
  const others = poolLink({ limits, tls: ca === undefined ? undefined : { ca }, ...guardedDial(url, resolveByDns) });
  const linkFor = ({ target }: HttpRequest): Link => (isAtOrigin(target, url) ? own : others);
  return {
    exchange: (request) => linkFor(request).exchange(request),
    open: (request, subprotocols) => openSession(linkFor(request), request, subprotocols),
    async close() {
      await Promise.all([own.close(), others.close()]);
    },
  };
}
