import { type Card, isObject, type JsonObject, type Maybe, type Skill } from "../../../envelope/index.js";
import { optional, readArray, readBoolean, readInteger, readObject, readString, readStrings } from "../../../transport/fields.js";
import { OWN_CARD_KEY, readOwnCard } from "../../own-card.js";
import { unknownCard } from "../../unknown-card.js";
import { isHash } from "../documents/hash.js";
import { MOST_SOURCES } from "../documents/sources.js";
import { ownEntryBelow } from "./addresses.js";
import { OWN_PEER_URI } from "./own-peer.js";

/** Skills and documents of one peer that are read. */
const LISTED = 256;

/** One protocol document that a peer lists. */
export interface ListedDocument {
  readonly hash: string;
  readonly sources: readonly string[];
  readonly skill: Maybe<string>;
  readonly name: Maybe<string>;
  readonly description: Maybe<string>;
}

/** What a discovery document says, before any text is fetched. */
export interface Discovered {
  readonly card: Card;
  readonly listed: readonly ListedDocument[];
  /** Where the peer takes messages. */
  readonly entry: string;
}

/**
 * A document of any of the three forms: ours, the specification's map of hashes to sources, the demo's map inside a reply.
 * Undefined for one of another kind. Throws DecodeProblem where ours is broken.
 */
export function readDiscovery(value: unknown, base: string): Maybe<Discovered> {
  if (!isObject(value)) return undefined;
  const own = value["koine"] === 1;
  const listed = readList(own || value["status"] === "success" ? value["protocols"] : value);
  if (listed === undefined) return undefined;
  return own
    ? { card: readOwn(value, base), listed, entry: entryIn(value["url"], base) }
    : { card: unknownCard(base, { streaming: false }), listed, entry: base };
}

/** Hash to sources, or hash to an object with `sources`; an empty list is one, too. */
function readList(value: unknown): Maybe<readonly ListedDocument[]> {
  if (!isObject(value)) return undefined;
  const listed: ListedDocument[] = [];
  for (const [hash, entry] of Object.entries(value).slice(0, LISTED)) {
    const about = isObject(entry) ? entry : {};
    const sources = Array.isArray(entry) ? entry : about["sources"];
    if (!isHash(hash) || !Array.isArray(sources)) return undefined;
    listed.push({
      hash,
      sources: sources.filter((source): source is string => typeof source === "string").slice(0, MOST_SOURCES),
      skill: textOr(about["skill"]),
      name: textOr(about["name"]),
      description: textOr(about["description"]),
    });
  }
  return listed;
}

function textOr(value: unknown): Maybe<string> {
  return typeof value === "string" ? value : undefined;
}

/** As it is said, if it is at the same host: a peer that was reached by another name would lead us away from it. */
function entryIn(url: unknown, base: string): string {
  const said = typeof url === "string" && URL.canParse(url) ? new URL(url) : undefined;
  return said?.origin === new URL(base).origin ? said.href.replace(/\/$/, "") : ownEntryBelow(base);
}

function readOwn(document: JsonObject, base: string): Card {
  const unknown = unknownCard(base, { streaming: false });
  const card: Card = {
    ...unknown,
    name: readString(document["name"], "name"),
    description: optional(document["description"], "description", readString) ?? "",
    version: optional(document["version"], "version", readString) ?? "",
    skills: optional(document["skills"], "skills", readSkills) ?? [],
    inputModes: optional(document["inputModes"], "inputModes", readStrings) ?? [],
    outputModes: optional(document["outputModes"], "outputModes", readStrings) ?? [],
    capabilities: {
      ...unknown.capabilities,
      idempotentSend: optional(document["idempotentSend"], "idempotentSend", readBoolean) ?? false,
      idempotencyWindowMs: optional(document["idempotencyWindowMs"], "idempotencyWindowMs", readInteger),
      extensions: [{ uri: OWN_PEER_URI, required: false }],
    },
  };
  return readOwnCard(card, document[OWN_CARD_KEY], OWN_CARD_KEY);
}

function readSkills(value: unknown, path: string): readonly Skill[] {
  const skills = readArray(value, path, (item, at): Skill => {
    const skill = readObject(item, at);
    return {
      id: readString(skill["id"], `${at}.id`),
      name: optional(skill["name"], `${at}.name`, readString) ?? "",
      description: optional(skill["description"], `${at}.description`, readString) ?? "",
      tags: optional(skill["tags"], `${at}.tags`, readStrings) ?? [],
      examples: optional(skill["examples"], `${at}.examples`, readStrings),
      inputModes: optional(skill["inputModes"], `${at}.inputModes`, readStrings),
      outputModes: optional(skill["outputModes"], `${at}.outputModes`, readStrings),
    };
  });
  return skills.slice(0, LISTED);
}
