import { guardedDial, resolveByDns } from "../security/index.js";
import type { Link } from "../transport/exchange.js";
import type { Limits } from "../transport/limits.js";
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
  return {
    exchange: (request) => (isAtOrigin(request.target, url) ? own : others).exchange(request),
    async close() {
      await Promise.all([own.close(), others.close()]);
    },
  };
}
