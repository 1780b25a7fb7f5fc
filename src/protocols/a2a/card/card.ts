import type { Card, JsonObject } from "../../../envelope/index.js";
import { legacyAddresses } from "./card-0.3.js";
import { readCardDocument, writeCard } from "./card-1.0.js";
import { legacyInterfaces } from "./card-interfaces.js";
import { writeHybridSchemes, writeKindNeeds } from "./card-security.js";

/** A card of any version, with the bytes it was read from: signatures are over these. */
export function readCard(document: unknown, bytes: Uint8Array): Card {
  return { ...readCardDocument(document), original: { protocol: "a2a", bytes, verifiedBy: undefined } };
}

/**
 * One document for readers of both versions: the members of 1.0, and beside them those of 0.3 where an address answers
 * 0.3. The one member both versions spell differently, `securitySchemes`, holds both forms in each scheme.
 */
export function hybridCard(card: Card): JsonObject {
  const modern = writeCard(card);
  if (legacyInterfaces(card).length === 0) return modern;
  return {
    ...modern,
    ...legacyAddresses(card),
    securitySchemes: writeHybridSchemes(card.security),
    security: writeKindNeeds(card.security),
  };
}
