import type { Card, JsonObject, Skill } from "../../../src/envelope/index.js";
import { readOwnCard, writeOwnCard } from "../../../src/protocols/own-card.js";
import { optional, readArray, readObject, readString, readStrings, readText } from "../../../src/transport/fields.js";
import { PATH, VIA } from "../wire.js";

/** The address of the sessions of a host. */
export function sessionUrl(publicUrl: string): string {
  return `${publicUrl.replace(/^http/, "ws")}${PATH}`;
}

/** The address of one agent: a host has one session for all of them, and the query says which is meant. */
export function agentUrl(session: string, agent: string): string {
  return `${session}?agent=${encodeURIComponent(agent)}`;
}

export function encodeCard(card: Card): JsonObject {
  const { name, description, inputModes, outputModes, skills } = card;
  return {
    name,
    description,
    inputModes,
    outputModes,
    skills: skills.map(({ id, name: title, description: text, tags }) => ({ id, name: title, description: text, tags })),
    own: writeOwnCard(card),
  };
}

export function decodeCard(wire: JsonObject, path: string): Card {
  const plain: Card = {
    name: readText(wire["name"], `${path}.name`),
    description: optional(wire["description"], `${path}.description`, readString) ?? "",
    version: "",
    skills: optional(wire["skills"], `${path}.skills`, readSkills) ?? [],
    inputModes: optional(wire["inputModes"], `${path}.inputModes`, readStrings) ?? [],
    outputModes: optional(wire["outputModes"], `${path}.outputModes`, readStrings) ?? [],
    capabilities: { streaming: true, push: false, extended: false, idempotentSend: false, resume: false, extensions: [] },
    security: { schemes: {}, anyOf: [] },
    interfaces: [],
  };
  return readOwnCard(plain, wire["own"], `${path}.own`);
}

/** The card with its address in this protocol. */
export function cardAt(card: Card, url: string): Card {
  return { ...card, interfaces: [{ ...VIA, url }] };
}

function readSkills(value: unknown, path: string): readonly Skill[] {
  return readArray(value, path, (each, at) => {
    const skill = readObject(each, at);
    return {
      id: readText(skill["id"], `${at}.id`),
      name: readString(skill["name"], `${at}.name`),
      description: readString(skill["description"], `${at}.description`),
      tags: readStrings(skill["tags"], `${at}.tags`),
    };
  });
}
