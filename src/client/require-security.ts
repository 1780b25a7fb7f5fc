import { type Floor, floorOf, type Handler, NO_FLOOR, protectionOf, raiseFloor } from "../envelope/index.js";
import type { Client, Protocol } from "../protocols/protocol.js";
import { isTlsAddress } from "../transport/address-parts.js";
import type { FloorRules } from "./floor-rules.js";

/** One interface of a peer. */
export interface SecuredInterface {
  readonly protocol: Pick<Protocol, "id" | "traits">;
  readonly client: Pick<Client, "protection">;
  /** The address of the interface. */
  readonly url: string;
  /** The address that is dialled for it. */
  readonly dialled: string;
}

/** Rejects calls that require more protection than this interface provides, before anything is sent. */
export function requireSecurity(
  handler: Handler,
  { protocol, client, url, dialled }: SecuredInterface,
  rules: FloorRules,
): Handler {
  const { required } = rules;
  const losesTls = isTlsAddress(url) && !isTlsAddress(dialled);
  const signed = rules.signedAt(dialled);
  return (operation, call) => {
    const raised = required === NO_FLOOR ? call : call.derive({ floor: required });
    // Most calls require nothing.
    if (raised.floor === NO_FLOOR) return handler(operation, call);
    const connection = losesTls ? withoutTls(client.protection(), protocol) : client.protection();
    // A message that is sealed or signed by its author needs less of its connection.
    const brought = operation.kind === "send" ? protectionOf(operation.envelope, protocol.traits) : NO_FLOOR;
    const provided = raiseFloor(raiseFloor(connection, signed), brought);
    let allowed = raised;
    try {
      allowed = rules.check(operation, raised, { protocol: protocol.id, url: dialled, provided });
    } catch (thrown) {
      return Promise.reject(thrown);
    }
    return handler(operation, allowed);
  };
}

/** What remains of the protection if the address that is dialled has no TLS, unlike the one on the card. */
function withoutTls({ signed, endToEnd }: Floor, { traits }: Pick<Protocol, "traits">): Floor {
  const own = floorOf([
    ...(traits.sealed === "none" ? [] : (["encrypted"] as const)),
    ...(traits.signed === "none" ? [] : (["identity"] as const)),
  ]);
  return raiseFloor(own, { signed, endToEnd });
}
