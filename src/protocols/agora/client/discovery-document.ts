import { type Card, isObject, type JsonObject, type Maybe, type Skill } from "../../../envelope/index.js";
import { optional, readArray, readBoolean, readInteger, readObject, readString, readStrings } from "../../../transport/fields.js";
import { unknownCard } from "../../discovery.js";
import { OWN_CARD_KEY, readExtensions, readOwnCard } from "../../own-card.js";
import { isHash } from "../documents/hash.js";
import { MOST_SOURCES } from "../documents/sources.js";
import { koineEntryBelow } from "./addresses.js";
import { KOINE_PEER_URI } from "./koine-peer.js";

/** Limits of skills and documents read from one peer. */
const LISTED = 256;

/** A protocol document that a peer lists. */
export interface ListedDocument {
  readonly hash: string;
  readonly sources: readonly string[];
  readonly skill: Maybe<string>;
  readonly name: Maybe<string>;
  readonly description: Maybe<string>;
}

/** The content of a discovery document, before any text is fetched. */
export interface Discovered {
  readonly card: Card;
  readonly listed: readonly ListedDocument[];
  /** The message endpoint of the peer. */
  readonly entry: string;
}

/**
 * Reads a discovery document in any of the three forms: Koine, the specification's map of hashes to sources, the demo's map
 * inside a reply. Undefined for other documents. Throws DecodeProblem if a Koine document is invalid.
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

/** Hash to sources, or hash to an object with `sources`. The list may be empty. */
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

/** The declared endpoint, if it is on the same host. A peer reached under another name must not redirect the client. */
function entryIn(url: unknown, base: string): string {
  const declared = typeof url === "string" && URL.canParse(url) ? new URL(url) : undefined;
  return declared?.origin === new URL(base).origin ? declared.href.replace(/\/$/, "") : koineEntryBelow(base);
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
      extensions: [
        { uri: KOINE_PEER_URI, required: false },
        ...(optional(document["extensions"], "extensions", readExtensions) ?? []).slice(0, LISTED),
      ],
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
