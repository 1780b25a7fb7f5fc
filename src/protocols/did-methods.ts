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

/**
 * The protocols by which a peer is called: all, unless it was named by a DID whose method belongs to one of them alone. It is named by the
 * DID that was called, or by settings.
 */
export function protocolsFor(
  calledDid: Maybe<string>,
  protocols: readonly Protocol[],
  settings: Maybe<ProtocolSettings>,
): readonly Protocol[] {
  const names = [calledDid, ...protocols.flatMap((protocol) => peersNamedBy(protocol, settings))];
  const methods = new Set(names.map((did) => did && parseDid(did)?.method));
  const owner = protocols.find((each) =>
    methodsOf(each, settings, undefined).some((own) => methods.has(own.method) && own.exclusive === true),
  );
  if (owner === undefined) return protocols;
  const known = alone.get(owner) ?? [owner];
  alone.set(owner, known);
  return known;
}

function peersNamedBy({ id, settings: known = [] }: Protocol, settings: Maybe<ProtocolSettings>): readonly string[] {
  const given = settings?.[id];
  if (given === undefined) return [];
  return known.flatMap(({ name, namesPeer }) => {
    const did = given[name];
    return namesPeer === true && typeof did === "string" ? [did] : [];
  });
}

function methodsOf({ id, didMethods }: Protocol, settings: Maybe<ProtocolSettings>, records: Maybe<Records>) {
  return didMethods?.(settings?.[id], records && recordsBelow(records, id)) ?? [];
}
