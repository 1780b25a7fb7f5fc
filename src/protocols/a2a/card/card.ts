import type { Card, JsonObject } from "../../../envelope/index.js";
import { legacyAddresses } from "./card-0.3.js";
import { readCardDocument, writeCard, writeSkill } from "./card-1.0.js";
import { legacyInterfaces } from "./card-interfaces.js";
import { writeHybridSchemes, writeKindNeeds } from "./card-security.js";

/** A card of any version, with the bytes it was read from. */
export function readCard(document: unknown, bytes: Uint8Array): Card {
  return withOriginal(readCardDocument(document), bytes);
}

/** The card with its original document: signatures are over those bytes. */
export function withOriginal(card: Card, bytes: Uint8Array): Card {
  return { ...card, original: { protocol: "a2a", bytes, verifiedBy: undefined } };
}

/**
 * One document for readers of both versions: the members of 1.0, and those of 0.3 if an address supports 0.3. `securitySchemes`,
 * which the versions write differently, holds both forms in each scheme.
 */
export function hybridCard(card: Card): JsonObject {
  const modern = writeCard(card);
  if (legacyInterfaces(card).length === 0) return modern;
  return {
    ...modern,
    ...legacyAddresses(card),
    securitySchemes: writeHybridSchemes(card.security),
    security: writeKindNeeds(card.security.anyOf),
    skills: card.skills.map((skill) => ({ ...writeSkill(skill), security: writeKindNeeds(skill.security) })),
  };
}
