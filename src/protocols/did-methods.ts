import { type JsonObject, type Maybe, type Records, recordsBelow } from "../envelope/index.js";
import { parseDid } from "../security/identity/index.js";
import type { DidMethod, Protocol } from "./protocol.js";

/** The user's settings by protocol name. */
export type ProtocolSettings = { readonly [protocol: string]: JsonObject };

/** The DID methods of these protocols, with the user's settings and store. */
export function didMethodsOf(
  protocols: readonly Protocol[],
  settings: Maybe<ProtocolSettings>,
  records: Maybe<Records>,
): readonly DidMethod[] {
  return protocols.flatMap((protocol) => methodsOf(protocol, settings, records));
}

/** One list for each: connections share what belongs to their list of protocols. */
const alone = new WeakMap<Protocol, readonly Protocol[]>();

/** The protocols by which a peer is called that was named by this DID: all, unless its method belongs to one of them alone. */
export function protocolsFor(
  did: string,
  protocols: readonly Protocol[],
  settings: Maybe<ProtocolSettings>,
): readonly Protocol[] {
  const method = parseDid(did)?.method;
  const owner = protocols.find((each) =>
    methodsOf(each, settings, undefined).some((own) => own.method === method && own.exclusive === true),
  );
  if (owner === undefined) return protocols;
  const known = alone.get(owner) ?? [owner];
  alone.set(owner, known);
  return known;
}

function methodsOf({ id, didMethods }: Protocol, settings: Maybe<ProtocolSettings>, records: Maybe<Records>) {
  return didMethods?.(settings?.[id], records && recordsBelow(records, id)) ?? [];
}
