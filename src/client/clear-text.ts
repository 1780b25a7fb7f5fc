import { type Call, CallSlot, type Maybe } from "../envelope/index.js";
import type { Exposure } from "../security/index.js";

/** How far the unencrypted requests of a call may go, if it must be encrypted. Not set: they stay on this host. */
const permitted = new CallSlot<Exposure>();

/** The call with permission to be sent unencrypted so far. */
export function permitClearText(call: Call, exposure: Exposure): Call {
  const changed = call.derive({});
  permitted.put(changed, exposure);
  return changed;
}

/** How far unencrypted requests of a call may go; undefined if it need not be encrypted. */
export function clearTextLimit(call: Call): Maybe<Exposure> {
  return call.floor.encrypted ? (permitted.of(call) ?? "loopback") : undefined;
}
