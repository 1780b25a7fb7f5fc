import type { Card, JsonObject, Maybe } from "../../../envelope/index.js";
import { someOf } from "../wire.js";

/** What a reader of cards cannot do without, although its version of the specification does not ask for it. */
export interface CardReader {
  readonly software: string;
  /** The `User-Agent` of its request for a card, as captured. */
  readonly userAgent: RegExp;
  /** The scopes of a security requirement as an array, instead of an object with a list. */
  readonly scopeArrays: boolean;
  /** The media types of every skill written out, also where they are those of the agent. */
  readonly skillModes: boolean;
  /** What it did with the cards of a server that requires an API key or a token. */
  readonly evidence: string;
}

/**
 * The readers that name no version when they request a card and are known by their `User-Agent`. A reader that names its version gets a
 * card of that version alone. None of these can get that: each `User-Agent` here stands for readers of 1.0 and of 0.3, so all get the
 * combined card. One reader of 1.0 refuses it, the alpha versions of the Java SDK, and cannot be told from the Java SDK of 0.3.
 * The Rust SDK sends no `User-Agent` at all and reads the combined card. `test/interop/card-readers.interop.test.ts` runs them.
 */
export const CARD_READERS: readonly CardReader[] = [
  {
    software: "a2a-go 2.4.0; a2a-go 0.3",
    userAgent: /^Go-http-client\//,
    scopeArrays: true,
    skillModes: false,
    evidence:
      "2.4.0 reads the schemes of securityRequirements as arrays and fails at the StringList of the specification: cannot unmarshal object into Go struct field AgentCard.securityRequirements.schemes",
  },
  {
    software: "FastA2A 2.1.1; a2a-python 1.3.0 and 0.3.3",
    userAgent: /^python-httpx\//,
    scopeArrays: false,
    skillModes: true,
    evidence:
      "FastA2A fails at a skill without inputModes and outputModes: Field required. It also reads scopes only as arrays (Input should be a valid list), a2a-python 1.3.0 only as specified, so of a server with authentication FastA2A can read no card. a2a-python 0.3.3 fails at a card of 1.0 alone: url, Field required",
  },
  {
    software: "a2a-js 0.3.14",
    userAgent: /^node$/,
    scopeArrays: false,
    skillModes: false,
    evidence: "fails at a card of 1.0 alone: No compatible transport found; reads the combined card. 1.3.0 names its version",
  },
  {
    software: "Java SDK 0.3.3.Final and 1.0.0.Alpha3",
    userAgent: /^Java-http-client\//,
    scopeArrays: false,
    skillModes: false,
    evidence:
      "0.3.3.Final fails at a card of 1.0 alone: missing type id property 'type'; 1.0.0.Alpha3 fails at the combined card: type in message a2a.v1.SecurityScheme (later versions ignore unknown members)",
  },
];

/** The reader that sends this `User-Agent`. */
export function readerOf(userAgent: Maybe<string>): Maybe<CardReader> {
  return userAgent === undefined ? undefined : CARD_READERS.find((reader) => reader.userAgent.test(userAgent));
}

/** The card with what the reader needs written out. Its meaning is the same. */
export function cardForReader(card: Card, { skillModes }: CardReader): Card {
  if (!skillModes) return card;
  const skills = card.skills.map((skill) => ({
    ...skill,
    inputModes: someOf(skill.inputModes) ?? card.inputModes,
    outputModes: someOf(skill.outputModes) ?? card.outputModes,
  }));
  return { ...card, skills };
}

/** The document of a card in the form that the reader can read. */
export function documentForReader(document: JsonObject, card: Card, { scopeArrays }: CardReader): JsonObject {
  if (!scopeArrays) return document;
  const needs = (anyOf: Maybe<Card["security"]["anyOf"]>): Maybe<readonly JsonObject[]> =>
    someOf(anyOf)?.map((schemes) => ({ schemes }));
  const skills = Array.isArray(document.skills) ? document.skills : [];
  return {
    ...document,
    securityRequirements: needs(card.security.anyOf),
    skills: skills.map((skill, index) => ({ ...skill, securityRequirements: needs(card.skills[index]?.security) })),
  };
}
