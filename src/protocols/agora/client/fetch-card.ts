import type { Call, Card, Maybe, Skill } from "../../../envelope/index.js";
import { bytesOf } from "../../../transport/body.js";
import { type HttpResponse, isStream, type Link } from "../../../transport/exchange.js";
import { blame } from "../../../transport/fields.js";
import { jsonBody } from "../../../transport/peer-answer.js";
import { makeRequest } from "../../../transport/request.js";
import { protocolHash } from "../documents/hash.js";
import { textInDataUri, textOfBytes } from "../documents/sources.js";
import { baseOf } from "./addresses.js";
import { type Discovered, type ListedDocument, readDiscovery } from "./discovery-document.js";

/** The paths of Koine, of the specification and of the demo. The Python library has none. */
const DOCUMENTS = ["/.well-known/agora", "/.wellknown", "/wellknown"] as const;
/** Limit of protocol documents whose texts are fetched from one peer. */
const TEXTS = 32;

export type FetchedCard =
  | {
      readonly kind: "card";
      readonly card: Card;
      /** The number of listed protocol documents, including those whose text was not found. */
      readonly listed: number;
      /** The message endpoint of the peer. */
      readonly entry: string;
      /** The discovery document this was read from. */
      readonly url: string;
      readonly etag: Maybe<string>;
    }
  | { readonly kind: "unchanged"; readonly url: string };

interface Asking {
  readonly link: Link;
  readonly call: Call;
}

/** Fetches the discovery document, below the address and then at the root. Undefined if there is none. */
export async function fetchCard(link: Link, url: string, call: Call, etag: Maybe<string>): Promise<Maybe<FetchedCard>> {
  for (const base of new Set([baseOf(url), new URL(url).origin])) {
    for (const path of DOCUMENTS) {
      const found = await fetchAt({ link, call }, base, path, etag);
      if (found !== undefined) return found;
    }
  }
  return undefined;
}

async function fetchAt(asking: Asking, base: string, path: string, etag: Maybe<string>): Promise<Maybe<FetchedCard>> {
  const url = base + path;
  const response = await get(asking, url, etag);
  if (response.status === 304) return { kind: "unchanged", url };
  const found = response.status === 200 ? discoveredIn(response, base) : undefined;
  if (found === undefined) return undefined;
  const { card, listed, entry } = found;
  const skills = await skillsOf(card.skills, listed, base, asking);
  return { kind: "card", card: { ...card, skills }, listed: listed.length, entry, url, etag: response.headers["etag"] };
}

async function get({ link, call }: Asking, url: string, etag?: Maybe<string>): Promise<HttpResponse> {
  const headers = { accept: "application/json", ...(etag === undefined ? undefined : { "if-none-match": etag }) };
  return link.exchange(makeRequest({ method: "GET", url, headers, call }));
}

/** A document that cannot be read belongs to another protocol. */
function discoveredIn(response: HttpResponse, base: string): Maybe<Discovered> {
  try {
    return readDiscovery(jsonBody(response), base);
  } catch (thrown) {
    const error = blame(thrown, "bad_peer");
    if (error.code === "bad_peer") return undefined;
    throw error;
  }
}

/** The skills with the texts of their documents; a document without a skill becomes one, named by its hash. */
async function skillsOf(
  skills: readonly Skill[],
  listed: readonly ListedDocument[],
  base: string,
  asking: Asking,
): Promise<readonly Skill[]> {
  const texts = new Map<string, string>();
  const more: Skill[] = [];
  for (const each of listed.slice(0, TEXTS)) {
    const document = await textOf(each, base, asking);
    if (document === undefined) continue;
    const { hash, skill: id = hash, name = hash, description = "" } = each;
    if (skills.some((skill) => skill.id === id)) texts.set(id, document);
    else more.push({ id, name, description, tags: [], document });
  }
  return [...skills.map((skill) => (texts.has(skill.id) ? { ...skill, document: texts.get(skill.id) } : skill)), ...more];
}

/** Accepts only a text with this hash, and only from the peer itself. */
async function textOf({ hash, sources }: ListedDocument, base: string, asking: Asking): Promise<Maybe<string>> {
  for (const source of sources) {
    const text = textInDataUri(source) ?? (isAt(source, base) ? await textAt(source, asking) : undefined);
    if (text !== undefined && (await protocolHash(text)) === hash) return text;
  }
  return undefined;
}

function isAt(source: string, base: string): boolean {
  return URL.canParse(source) && new URL(source).origin === new URL(base).origin;
}

async function textAt(url: string, asking: Asking): Promise<Maybe<string>> {
  const { status, body } = await get(asking, url);
  return status !== 200 || body === undefined || isStream(body) ? undefined : textOfBytes(bytesOf(body));
}
