import type { Card, JsonObject, Maybe, Security } from "../envelope/index.js";
import {
  DecodeProblem,
  optional,
  readArray,
  readBoolean,
  readInteger,
  readObject,
  readString,
  readStrings,
} from "../transport/fields.js";

/** Where a protocol's own description of an agent has room for foreign members, ours stand under this name. */
export const OWN_CARD_KEY = "urn:koine:card:1";

/** Alternatives, and schemes of one alternative, that are read. */
const MAX_SECURITY = 32;

/**
 * What a card says that descriptions of other protocols have no place for: how to get in, and what a caller may rely on.
 * Without it a client cannot know where a key belongs, or that a second try is safe.
 */
export function writeOwnCard({ version, capabilities, security }: Card): JsonObject {
  const { streaming, push, extended, idempotentSend, idempotencyWindowMs, resume } = capabilities;
  return {
    version,
    capabilities: { streaming, push, extended, idempotentSend, idempotencyWindowMs, resume },
    security: { schemes: security.schemes, anyOf: security.anyOf },
  };
}

/** The card with what the peer says of itself under our name; as it was where it says nothing. Throws DecodeProblem. */
export function readOwnCard(card: Card, value: unknown, path: string): Card {
  const own = optional(value, path, readObject);
  if (own === undefined) return card;
  const said = optional(own.capabilities, `${path}.capabilities`, readObject) ?? {};
  const flag = (name: "streaming" | "push" | "extended" | "idempotentSend" | "resume"): boolean =>
    optional(said[name], `${path}.capabilities.${name}`, readBoolean) ?? card.capabilities[name];
  return {
    ...card,
    version: optional(own.version, `${path}.version`, readString) ?? card.version,
    capabilities: {
      ...card.capabilities,
      streaming: flag("streaming"),
      push: flag("push"),
      extended: flag("extended"),
      idempotentSend: flag("idempotentSend"),
      idempotencyWindowMs: optional(said.idempotencyWindowMs, `${path}.capabilities.idempotencyWindowMs`, readInteger),
      resume: flag("resume"),
    },
    security: readSecurity(optional(own.security, `${path}.security`, readObject), `${path}.security`) ?? card.security,
  };
}

function readSecurity(value: Maybe<JsonObject>, path: string): Maybe<Security> {
  if (value === undefined) return undefined;
  const schemes = Object.entries(optional(value.schemes, `${path}.schemes`, readObject) ?? {});
  const anyOf = readArray(value.anyOf ?? [], `${path}.anyOf`, readObject);
  if (schemes.length > MAX_SECURITY || anyOf.length > MAX_SECURITY)
    throw new DecodeProblem(path, `has more than ${MAX_SECURITY} entries`);
  return {
    schemes: Object.fromEntries(schemes.map(([name, scheme]) => [name, readObject(scheme, `${path}.schemes.${name}`)])),
    anyOf: anyOf.map((alternative, index) =>
      Object.fromEntries(
        Object.entries(alternative).map(([name, scopes]) => [name, readStrings(scopes, `${path}.anyOf[${index}].${name}`)]),
      ),
    ),
  };
}
