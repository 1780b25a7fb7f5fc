import type { Card, Extension, JsonObject, Maybe, Security } from "../envelope/index.js";
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

/** The key of Koine's extension members in another protocol's description of an agent. */
export const OWN_CARD_KEY = "urn:koine:card:1";

/** The maximum number of security schemes, and of alternatives. */
const MAX_SECURITY = 32;

/**
 * The members of a card that other protocols have no place for: security schemes and capabilities. A client needs them to
 * send credentials correctly and to know whether retries are safe.
 */
export function writeOwnCard({ version, capabilities, security }: Card): JsonObject {
  const { streaming, push, extended, idempotentSend, idempotencyWindowMs, resume } = capabilities;
  return {
    version,
    capabilities: { streaming, push, extended, idempotentSend, idempotencyWindowMs, resume },
    security: { schemes: security.schemes, anyOf: security.anyOf },
  };
}

/** The card with the extension members applied; unchanged if there are none. Throws DecodeProblem. */
export function readOwnCard(card: Card, value: unknown, path: string): Card {
  const own = optional(value, path, readObject);
  if (own === undefined) return card;
  const capabilities = optional(own.capabilities, `${path}.capabilities`, readObject) ?? {};
  const flag = (name: "streaming" | "push" | "extended" | "idempotentSend" | "resume"): boolean =>
    optional(capabilities[name], `${path}.capabilities.${name}`, readBoolean) ?? card.capabilities[name];
  return {
    ...card,
    version: optional(own.version, `${path}.version`, readString) ?? card.version,
    capabilities: {
      ...card.capabilities,
      streaming: flag("streaming"),
      push: flag("push"),
      extended: flag("extended"),
      idempotentSend: flag("idempotentSend"),
      idempotencyWindowMs: optional(capabilities.idempotencyWindowMs, `${path}.capabilities.idempotencyWindowMs`, readInteger),
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

/** The extensions that a card lists. Throws DecodeProblem. */
export function readExtensions(value: unknown, path: string): readonly Extension[] {
  return readArray(value, path, readExtension);
}

function readExtension(value: unknown, path: string): Extension {
  const extension = readObject(value, path);
  return {
    uri: readString(extension.uri, `${path}.uri`),
    description: optional(extension.description, `${path}.description`, readString),
    required: readBoolean(extension.required, `${path}.required`),
    params: optional(extension.params, `${path}.params`, readObject),
  };
}
