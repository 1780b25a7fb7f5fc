import { type Call, CallSlot, ownerOf } from "../../../envelope/index.js";

/** On calls by requests of SAGE: the DID that signed the request. */
export const requestSigners = new CallSlot<string>();

/** Whether somebody else than the author brings a message: a gateway, by SAGE or by a protocol that only carries the signature. */
export function isBrought(call: Call, author: string): boolean {
  return requestSigners.of(call) !== author;
}

/** The call of the author: what it creates belongs to who signed or sealed the message, and not to the gateway that brings it. */
export function authorCall(call: Call, author: string): Call {
  if (!isBrought(call, author)) return call;
  return call.derive({ caller: { id: author, scheme: "did", scopes: [], owner: ownerOf("did", author) } });
}
