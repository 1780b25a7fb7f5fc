import type { Card, Interface, JsonObject, Maybe } from "../../../envelope/index.js";
import { describeSkill, writeCapabilities, writeProvider } from "./card-1.0.js";
import { a2aInterfaces, legacyInterfaces } from "./card-interfaces.js";
import { writeKindNeeds, writeKindSchemes, writeNeeds, writeSchemes } from "./card-security.js";

/** The card of the 0.3 JSON schema: at the well-known paths, and as the extended card on JSON-RPC. */
export function writeKindCard(card: Card): JsonObject {
  return legacyCard(card, writeKindSchemes(card.security), writeKindNeeds);
}

/** The card in ProtoJSON of the 0.3 protobuf: the extended card on REST. */
export function writeProtoCard(card: Card): JsonObject {
  return legacyCard(card, writeSchemes(card.security), writeNeeds);
}

function legacyCard(card: Card, securitySchemes: Maybe<JsonObject>, needs: typeof writeNeeds): JsonObject {
  return {
    ...legacyAddresses(card),
    name: card.name,
    description: card.description,
    provider: writeProvider(card),
    version: card.version,
    documentationUrl: card.documentationUrl,
    iconUrl: card.iconUrl,
    capabilities: writeCapabilities(card.capabilities, false),
    securitySchemes,
    security: needs(card.security.anyOf),
    defaultInputModes: card.inputModes,
    defaultOutputModes: card.outputModes,
    skills: card.skills.map((skill) => ({ ...describeSkill(skill), security: needs(skill.security) })),
  };
}

/**
 * The address members of 0.3: `url` is an address that supports 0.3. If there is none, the best address and its own version are
 * used, because `url` is required.
 */
export function legacyAddresses(card: Card): JsonObject {
  const legacy = legacyInterfaces(card);
  const listed = legacy.length > 0 ? legacy : a2aInterfaces(card).slice(0, 1);
  const [first] = listed;
  return {
    protocolVersion: fullVersion(first),
    url: first?.url ?? "",
    preferredTransport: first?.binding ?? "JSONRPC",
    additionalInterfaces: listed.map(({ url, binding }) => ({ url, transport: binding })),
    supportsAuthenticatedExtendedCard: card.capabilities.extended,
  };
}

/** 0.3 cards include the patch number. */
function fullVersion(first: Interface | undefined): string {
  const version = first?.version ?? "0.3";
  return /^\d+\.\d+$/.test(version) ? `${version}.0` : version;
}
