import { protocols as registered } from "../protocols/all.js";
import type { FrontHost } from "../protocols/host.js";
import type { Protocol } from "../protocols/protocol.js";

/**
 * The host with the message guards of registered protocols that it does not serve. They have no identity here, so that they refuse messages
 * which say that they are protected by them: nobody on this host could verify or open those.
 */
export function guardUnserved(host: FrontHost, served: readonly Protocol[]): FrontHost {
  const ids = new Set(served.map(({ id }) => id));
  let { handler } = host;
  for (const { id, guardMessages } of registered)
    if (!ids.has(id) && guardMessages !== undefined) handler = guardMessages({ ...host, handler, identity: undefined });
  return { ...host, handler };
}
