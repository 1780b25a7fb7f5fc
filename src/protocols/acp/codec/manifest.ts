import {
  type Capabilities,
  type Card,
  isObject,
  type JsonObject,
  type Maybe,
  type Security,
  type Skill,
} from "../../../envelope/index.js";
import { optional, readArray, readObject, readString, readStrings, readText } from "../../../transport/fields.js";
import { readJson } from "../../../transport/json.js";
import { DEFAULT_LIMITS } from "../../../transport/limits.js";
import { OWN_CARD_KEY, readExtensions, readOwnCard, writeOwnCard } from "../../own-card.js";
import type { WireManifest } from "../wire.js";
import { KOINE_KEY } from "./koine-members.js";

const utf8 = new TextEncoder();
const ANYTHING: readonly string[] = ["*/*"];

/** Encodes a card as a manifest. Other members are carried in the metadata, where both SDKs keep unknown members. */
export function encodeManifest(card: Card): WireManifest {
  return {
    name: card.name,
    description: card.description,
    input_content_types: card.inputModes.length === 0 ? ANYTHING : card.inputModes,
    output_content_types: card.outputModes.length === 0 ? ANYTHING : card.outputModes,
    metadata: {
      ...(metadataIn(card.original) ?? metadataOf(card)),
      [KOINE_KEY]: ownOf(card),
      [OWN_CARD_KEY]: writeOwnCard({ ...card, capabilities: { ...card.capabilities, ...NEVER_HERE } }),
    },
  };
}

/** The original manifest members of an ACP agent are kept. */
function metadataIn(original: Card["original"]): Maybe<JsonObject> {
  if (original?.protocol !== "acp") return undefined;
  const { metadata } = readObject(readJson(original.bytes, DEFAULT_LIMITS), "manifest");
  return isObject(metadata) ? metadata : undefined;
}

function metadataOf({ skills, provider, documentationUrl }: Card): JsonObject {
  const tags = [...new Set(skills.flatMap((skill) => skill.tags))];
  return {
    annotations: null,
    documentation: null,
    license: null,
    programming_language: null,
    natural_languages: null,
    framework: null,
    capabilities: skills.length === 0 ? null : skills.map(({ name, description }) => ({ name, description })),
    domains: null,
    tags: tags.length === 0 ? null : tags,
    created_at: null,
    updated_at: null,
    author: provider === undefined ? null : { name: provider.organization, email: null, url: linkable(provider.url) },
    contributors: null,
    links: linksOf(documentationUrl),
    dependencies: null,
    recommended_models: null,
  };
}

/** The Python client rejects the whole list of agents because of one invalid URL. */
function linkable(url: Maybe<string>): string | null {
  return url !== undefined && URL.canParse(url) ? url : null;
}

function linksOf(documentationUrl: Maybe<string>): readonly JsonObject[] | null {
  const url = linkable(documentationUrl);
  return url === null ? null : [{ type: "documentation", url }];
}

/** The capabilities of this interface, whatever the agent supports elsewhere. */
const NEVER_HERE = { push: false, extended: false } as const;

/** Descriptive card members that manifests lack, or have only in part. */
function ownOf({ provider, documentationUrl, iconUrl, skills, inputModes, outputModes, capabilities }: Card): JsonObject {
  return {
    provider: provider === undefined ? undefined : { organization: provider.organization, url: provider.url },
    documentationUrl,
    iconUrl,
    skills: skills.map(skillMembers),
    inputModes,
    outputModes,
    extensions: capabilities.extensions.map(({ uri, description, required, params }) => ({ uri, description, required, params })),
  };
}

/** Protocol documents belong to another protocol, and may be long. */
function skillMembers({ id, name, description, tags, examples, inputModes, outputModes, security }: Skill): JsonObject {
  return { id, name, description, tags, examples, inputModes, outputModes, security };
}

/** Decodes a manifest. `bytes` is the received document, if it held a single manifest. Throws DecodeProblem. */
export function decodeManifest(wire: unknown, bytes?: Uint8Array): Card {
  const manifest = readObject(wire, "manifest");
  const metadata = optional(manifest.metadata, "metadata", readObject) ?? {};
  const path = `metadata["${KOINE_KEY}"]`;
  const own = optional(metadata[KOINE_KEY], path, readObject);
  const name = readText(manifest.name, "name");
  const description = optional(manifest.description, "description", readString) ?? "";
  const card: Card = {
    name,
    description,
    version: "",
    provider: own === undefined ? authorOf(metadata.author) : optional(own.provider, `${path}.provider`, readProvider),
    documentationUrl: optional(own?.documentationUrl, `${path}.documentationUrl`, readString) ?? documentationIn(metadata.links),
    iconUrl: optional(own?.iconUrl, `${path}.iconUrl`, readString),
    skills: optional(own?.skills, `${path}.skills`, readSkills) ?? skillsIn(metadata, name, description),
    inputModes:
      optional(own?.inputModes, `${path}.inputModes`, readStrings) ??
      optional(manifest.input_content_types, "input_content_types", readStrings) ??
      ANYTHING,
    outputModes:
      optional(own?.outputModes, `${path}.outputModes`, readStrings) ??
      optional(manifest.output_content_types, "output_content_types", readStrings) ??
      ANYTHING,
    capabilities: { ...PLAIN_CAPABILITIES, extensions: optional(own?.extensions, `${path}.extensions`, readExtensions) ?? [] },
    security: { schemes: {}, anyOf: [] },
    interfaces: [],
    original: { protocol: "acp", bytes: bytes ?? utf8.encode(JSON.stringify(manifest)) },
  };
  const extended = readOwnCard(card, metadata[OWN_CARD_KEY], `metadata["${OWN_CARD_KEY}"]`);
  return { ...extended, capabilities: { ...extended.capabilities, ...NEVER_HERE } };
}

/** The capabilities of every ACP server. */
const PLAIN_CAPABILITIES: Capabilities = Object.freeze({
  streaming: true,
  ...NEVER_HERE,
  idempotentSend: false,
  resume: false,
  extensions: [],
});

function authorOf(value: unknown): Card["provider"] {
  if (!isObject(value) || typeof value.name !== "string") return undefined;
  return { organization: value.name, url: typeof value.url === "string" ? value.url : "" };
}

function readProvider(value: unknown, path: string): NonNullable<Card["provider"]> {
  const provider = readObject(value, path);
  return {
    organization: readString(provider.organization, `${path}.organization`),
    url: readString(provider.url, `${path}.url`),
  };
}

function documentationIn(links: unknown): Maybe<string> {
  const found: unknown = Array.isArray(links) ? links.find((link) => isObject(link) && link.type === "documentation") : undefined;
  return isObject(found) && typeof found.url === "string" ? found.url : undefined;
}

/** Manifests list capabilities by name only. Without any, tags and domains describe the agent as a whole. */
function skillsIn(metadata: JsonObject, name: string, description: string): readonly Skill[] {
  const tags = [...textsIn(metadata.tags), ...textsIn(metadata.domains)];
  const named: readonly unknown[] = Array.isArray(metadata.capabilities) ? metadata.capabilities : [];
  const skills = named.flatMap((capability): readonly Skill[] => {
    if (!isObject(capability) || typeof capability.name !== "string" || capability.name === "") return [];
    const about = typeof capability.description === "string" ? capability.description : "";
    return [{ id: capability.name, name: capability.name, description: about, tags }];
  });
  return skills.length > 0 || tags.length === 0 ? skills : [{ id: name, name, description, tags }];
}

function textsIn(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((item): item is string => typeof item === "string") : [];
}

function readSkills(value: unknown, path: string): readonly Skill[] {
  return readArray(value, path, (item, at) => {
    const skill = readObject(item, at);
    return {
      id: readString(skill.id, `${at}.id`),
      name: readString(skill.name, `${at}.name`),
      description: readString(skill.description, `${at}.description`),
      tags: readStrings(skill.tags, `${at}.tags`),
      examples: optional(skill.examples, `${at}.examples`, readStrings),
      inputModes: optional(skill.inputModes, `${at}.inputModes`, readStrings),
      outputModes: optional(skill.outputModes, `${at}.outputModes`, readStrings),
      security: optional(skill.security, `${at}.security`, readAlternatives),
    };
  });
}

function readAlternatives(value: unknown, path: string): Security["anyOf"] {
  return readArray(value, path, (item, at) => {
    const scopes = Object.entries(readObject(item, at)).map(
      ([name, list]) => [name, readStrings(list, `${at}.${name}`)] as const,
    );
    return Object.fromEntries(scopes);
  });
}
