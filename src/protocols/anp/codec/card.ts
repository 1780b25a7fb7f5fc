import type { Card, JsonObject, Skill } from "../../../envelope/index.js";
import { optional, readArray, readObject, readString, readStrings, readText } from "../../../transport/fields.js";
import { OWN_CARD_KEY, readOwnCard, writeOwnCard } from "../../own-card.js";

/** A card, as `koine.card` answers and descriptions carry it. Interfaces are left out: each protocol adds its own. */
export function encodeCard(card: Card): JsonObject {
  const { name, description, inputModes, outputModes, skills, provider, documentationUrl, iconUrl } = card;
  return {
    name,
    description,
    inputModes,
    outputModes,
    skills: skills.map(encodeSkill),
    provider: provider && { ...provider },
    documentationUrl,
    iconUrl,
    [OWN_CARD_KEY]: writeOwnCard(card),
  };
}

export function encodeSkill({
  id,
  name,
  description,
  tags,
  examples,
  inputModes,
  outputModes,
  document,
  security,
}: Skill): JsonObject {
  return { id, name, description, tags, examples, inputModes, outputModes, document, security };
}

/** Throws DecodeProblem. */
export function decodeCard(wire: JsonObject, path: string): Card {
  const plain: Card = {
    name: readText(wire["name"], `${path}.name`),
    description: optional(wire["description"], `${path}.description`, readString) ?? "",
    version: "",
    provider: optional(wire["provider"], `${path}.provider`, readProvider),
    documentationUrl: optional(wire["documentationUrl"], `${path}.documentationUrl`, readString),
    iconUrl: optional(wire["iconUrl"], `${path}.iconUrl`, readString),
    skills: optional(wire["skills"], `${path}.skills`, readSkills) ?? [],
    inputModes: optional(wire["inputModes"], `${path}.inputModes`, readStrings) ?? [],
    outputModes: optional(wire["outputModes"], `${path}.outputModes`, readStrings) ?? [],
    capabilities: { streaming: true, push: false, extended: false, idempotentSend: false, resume: false, extensions: [] },
    security: { schemes: {}, anyOf: [] },
    interfaces: [],
  };
  return readOwnCard(plain, wire[OWN_CARD_KEY], `${path}.${OWN_CARD_KEY}`);
}

function readProvider(value: unknown, path: string): NonNullable<Card["provider"]> {
  const { organization, url } = readObject(value, path);
  return {
    organization: readString(organization, `${path}.organization`),
    url: optional(url, `${path}.url`, readString) ?? "",
  };
}

function readSkills(value: unknown, path: string): readonly Skill[] {
  return readArray(value, path, (each, at) => {
    const skill = readObject(each, at);
    return {
      id: readText(skill["id"], `${at}.id`),
      name: readString(skill["name"], `${at}.name`),
      description: readString(skill["description"], `${at}.description`),
      tags: optional(skill["tags"], `${at}.tags`, readStrings) ?? [],
      examples: optional(skill["examples"], `${at}.examples`, readStrings),
      inputModes: optional(skill["inputModes"], `${at}.inputModes`, readStrings),
      outputModes: optional(skill["outputModes"], `${at}.outputModes`, readStrings),
      document: optional(skill["document"], `${at}.document`, readString),
      security: optional(skill["security"], `${at}.security`, readSecurity),
    };
  });
}

function readSecurity(value: unknown, path: string): NonNullable<Skill["security"]> {
  return readArray(value, path, (each, at) => {
    const scopes = Object.entries(readObject(each, at)).map(
      ([name, list]) => [name, readStrings(list, `${at}.${name}`)] as const,
    );
    return Object.fromEntries(scopes);
  });
}
