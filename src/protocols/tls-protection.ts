import { type Floor, floorOf, NO_FLOOR } from "../envelope/index.js";
import { isTlsAddress } from "../transport/address-parts.js";

/** The certificate of a peer proves who it is. */
const BY_TLS: Floor = floorOf(["encrypted", "identity"]);

/** The protection of a protocol that adds none of its own: that of TLS, if the address has it. */
export function tlsProtection(url: string): Floor {
  return isTlsAddress(url) ? BY_TLS : NO_FLOOR;
}
