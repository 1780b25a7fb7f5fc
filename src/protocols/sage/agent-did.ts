import type { Card, Maybe } from "../../envelope/index.js";
import type { DiscoveryContext } from "../protocol.js";
import { parseSageDid } from "./identity/did-sage.js";
import { readSettings } from "./settings.js";
import { EXTENSION_URI, PROTOCOL } from "./wire.js";

/** The DID that a card names for this profile. Whoever wrote the card chose it. */
export function agentDid({ capabilities }: Card): Maybe<string> {
  const did = capabilities.extensions.find(({ uri }) => uri === EXTENSION_URI)?.params?.["did"];
  return typeof did === "string" && parseSageDid(did) !== undefined ? did : undefined;
}

/** The DID that the user wants to reach. Undefined: an address was called. */
export function calledAgent({ calledDid, settings }: Pick<DiscoveryContext, "calledDid" | "settings">): Maybe<string> {
  const did = readSettings(settings(PROTOCOL)).peer ?? calledDid;
  return did !== undefined && parseSageDid(did) !== undefined ? did : undefined;
}

/** Whether the agent of a card has sessions. */
export function offersSessions({ capabilities }: Card): boolean {
  return capabilities.extensions.find(({ uri }) => uri === EXTENSION_URI)?.params?.["sessions"] === true;
}

/** Whether the user calls the agent through a gateway that has a DID of its own. */
export function isThroughGateway({ settings }: Pick<DiscoveryContext, "settings">): boolean {
  return readSettings(settings(PROTOCOL)).gateway !== undefined;
}
