import type { JsonObject, Maybe } from "../envelope/index.js";
import type { DidMethod, Protocol } from "./protocol.js";

/** The user's settings by protocol name. */
export type ProtocolSettings = { readonly [protocol: string]: JsonObject };

/** The DID methods of these protocols, with the user's settings. */
export function didMethodsOf(protocols: readonly Protocol[], settings: Maybe<ProtocolSettings>): readonly DidMethod[] {
  return protocols.flatMap((protocol) => protocol.didMethods?.(settings?.[protocol.id]) ?? []);
}
