import type { Capabilities, Card, Extension, JsonObject, Skill } from "../../../envelope/index.js";
import { optional, readArray, readObject, readString, readStrings, readText } from "../../../transport/fields.js";
import { IDEMPOTENT_SEND_URI, PUSH_DELIVERY_URI, RESUME_URI } from "../koine-extensions.js";
import { flag, plain, plainStrings, readMetadata, someOf, someText } from "../wire.js";
import { a2aInterfaces, readInterfaces } from "./card-interfaces.js";
import { readNeeds, readSecurity, writeNeeds, writeSchemes } from "./card-security.js";

/** Extension URIs for capabilities that A2A has no member for. */
const CAPABILITY_URIS: ReadonlySet<string> = new Set([IDEMPOTENT_SEND_URI, RESUME_URI, PUSH_DELIVERY_URI]);

/** The AgentCard of 1.0 (§4.4.1): required members always, optional ones if not empty. */
export function writeCard(card: Card): JsonObject {
  return {
    name: card.name,
    description: card.description,
    supportedInterfaces: a2aInterfaces(card).map(({ url, binding, tenant, version }) => ({
      url,
      protocolBinding: binding,
      tenant: someText(tenant),
      protocolVersion: version,
    })),
    provider: writeProvider(card),
    version: card.version,
    documentationUrl: card.documentationUrl,
    capabilities: writeCapabilities(card.capabilities, true),
    securitySchemes: writeSchemes(card.security),
    securityRequirements: writeNeeds(card.security.anyOf),
    defaultInputModes: card.inputModes,
    defaultOutputModes: card.outputModes,
    skills: card.skills.map(writeSkill),
    iconUrl: card.iconUrl,
  };
}

export function writeProvider({ provider }: Card): JsonObject | undefined {
  return provider === undefined ? undefined : { url: provider.url, organization: provider.organization };
}

/** The declared extensions: those of the agent, and those that represent capabilities. */
export function offeredExtensions(capabilities: Capabilities): readonly Extension[] {
  const { extensions, idempotentSend, idempotencyWindowMs, resume, pushDelivery } = capabilities;
  const params = idempotencyWindowMs === undefined ? undefined : { windowSeconds: idempotencyWindowMs / 1000 };
  return [
    ...extensions,
    ...(idempotentSend ? [{ uri: IDEMPOTENT_SEND_URI, required: false, params }] : []),
    ...(resume ? [{ uri: RESUME_URI, required: false }] : []),
    ...(pushDelivery === true ? [{ uri: PUSH_DELIVERY_URI, required: false }] : []),
  ];
}

/** `extended`: a capability in 1.0, a top-level member in 0.3. */
export function writeCapabilities(capabilities: Capabilities, extended: boolean): JsonObject {
  const extensions: JsonObject[] = offeredExtensions(capabilities).map(writeExtension);
  return {
    streaming: capabilities.streaming,
    pushNotifications: capabilities.push,
    extensions: someOf(extensions),
    extendedAgentCard: extended ? capabilities.extended : undefined,
  };
}

function writeExtension({ uri, description, required, params }: Extension): JsonObject {
  return { uri, description: someText(description), required: required ? true : undefined, params };
}

export function writeSkill(skill: Skill): JsonObject {
  return { ...describeSkill(skill), securityRequirements: writeNeeds(skill.security) };
}

/** The members that are the same in all versions. */
export function describeSkill(skill: Skill): JsonObject {
  return {
    id: skill.id,
    name: skill.name,
    description: skill.description,
    tags: skill.tags,
    examples: someOf(skill.examples),
    inputModes: someOf(skill.inputModes),
    outputModes: someOf(skill.outputModes),
  };
}

/**
 * Decodes a card of any version. Versions are distinguished by their address members; both may be present. Descriptive members
 * may be missing; members of the wrong type are rejected.
 */
export function readCardDocument(document: unknown): Card {
  const card = readObject(document, "card");
  const legacyExtended = card.supportsAuthenticatedExtendedCard ?? card.supports_authenticated_extended_card;
  return {
    name: readText(card.name, "name"),
    description: plain(card.description, "description") ?? "",
    version: plain(card.version, "version") ?? "",
    provider: optional(card.provider, "provider", readProvider),
    documentationUrl: plain(card.documentationUrl ?? card.documentation_url, "documentationUrl"),
    iconUrl: plain(card.iconUrl ?? card.icon_url, "iconUrl"),
    skills: optional(card.skills, "skills", (value, path) => readArray(value, path, readSkill)) ?? [],
    inputModes: optional(card.defaultInputModes ?? card.default_input_modes, "defaultInputModes", readStrings) ?? [],
    outputModes: optional(card.defaultOutputModes ?? card.default_output_modes, "defaultOutputModes", readStrings) ?? [],
    capabilities: readCapabilities(card.capabilities ?? {}, flag(legacyExtended, "supportsAuthenticatedExtendedCard") ?? false),
    security: readSecurity(card),
    interfaces: readInterfaces(card),
    original: undefined,
  };
}

function readProvider(value: unknown, path: string): { readonly organization: string; readonly url: string } {
  const object = readObject(value, path);
  return {
    organization: plain(object.organization, `${path}.organization`) ?? "",
    url: plain(object.url, `${path}.url`) ?? "",
  };
}

function readSkill(value: unknown, path: string): Skill {
  const object = readObject(value, path);
  return {
    id: readText(object.id, `${path}.id`),
    name: plain(object.name, `${path}.name`) ?? "",
    description: plain(object.description, `${path}.description`) ?? "",
    tags: optional(object.tags, `${path}.tags`, readStrings) ?? [],
    examples: plainStrings(object.examples, `${path}.examples`),
    inputModes: plainStrings(object.inputModes ?? object.input_modes, `${path}.inputModes`),
    outputModes: plainStrings(object.outputModes ?? object.output_modes, `${path}.outputModes`),
    security: someOf(readNeeds(object, `${path}.`)),
  };
}

function readCapabilities(value: unknown, legacyExtended: boolean): Capabilities {
  const object = readObject(value, "capabilities");
  const extensions =
    optional(object.extensions, "capabilities.extensions", (item, path) => readArray(item, path, readExtension)) ?? [];
  const extended = flag(object.extendedAgentCard ?? object.extended_agent_card, "capabilities.extendedAgentCard");
  return {
    streaming: flag(object.streaming, "capabilities.streaming") ?? false,
    push: flag(object.pushNotifications ?? object.push_notifications, "capabilities.pushNotifications") ?? false,
    extended: extended ?? legacyExtended,
    pushDelivery: extensions.some(({ uri }) => uri === PUSH_DELIVERY_URI) ? true : undefined,
    idempotentSend: extensions.some(({ uri }) => uri === IDEMPOTENT_SEND_URI),
    idempotencyWindowMs: windowOf(extensions.find(({ uri }) => uri === IDEMPOTENT_SEND_URI)),
    resume: extensions.some(({ uri }) => uri === RESUME_URI),
    extensions: extensions.filter(({ uri }) => !CAPABILITY_URIS.has(uri)),
  };
}

function windowOf(extension: Extension | undefined): number | undefined {
  const seconds = extension?.params?.["windowSeconds"];
  return typeof seconds === "number" && seconds > 0 ? seconds * 1000 : undefined;
}

function readExtension(value: unknown, path: string): Extension {
  const object = readObject(value, path);
  return {
    uri: readString(object.uri, `${path}.uri`),
    description: plain(object.description, `${path}.description`),
    required: flag(object.required, `${path}.required`) ?? false,
    params: readMetadata(object.params, `${path}.params`),
  };
}
