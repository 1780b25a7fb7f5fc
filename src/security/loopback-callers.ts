import { AgentError, ownerOf, type Principal } from "../envelope/index.js";
import type { RequestHead } from "../transport/exchange.js";
import type { HeadAdmission } from "./admission.js";

/**
 * Admits callers on this machine under one name, without credentials: what is for authenticated callers, such as an extended card, is
 * then for them too. Forwarded requests are not from this machine. It counts as open, because a proxy that marks nothing as forwarded
 * makes every caller look like one on this machine: the bind rule allows it on loopback only. In `anyOf` it comes last.
 */
export function loopbackCallers(name: string): HeadAdmission {
  const id = `loopback:${name}`;
  const principal: Principal = { id, scheme: "key", scopes: [], owner: ownerOf("key", id) };
  function admit({ connection }: RequestHead): Principal {
    if (!connection.loopback)
      throw new AgentError("unauthenticated", "only callers on this machine are admitted without credentials");
    return principal;
  }
  return Object.assign(admit, {
    open: true,
    security: { schemes: {}, anyOf: [] },
    claims: ({ connection }: RequestHead) => connection.loopback,
    accepts: "a connection from this machine",
  });
}
