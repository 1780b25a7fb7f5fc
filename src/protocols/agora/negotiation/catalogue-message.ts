import { isObject, type JsonObject, type Maybe } from "../../../envelope/index.js";
import { readJson } from "../../../transport/json.js";
import { DEFAULT_LIMITS } from "../../../transport/limits.js";
import { isHash } from "../documents/hash.js";

/**
 * The catalogue format in the body of a negotiation. A Koine extension: JSON that a language model can also read and answer,
 * because the offer explains what is expected.
 */
export type CatalogueMessage =
  | { readonly kind: "offer"; readonly offer: Offer }
  | { readonly kind: "accept"; readonly hash: string }
  | { readonly kind: "reject"; readonly hash: string; readonly reason: Maybe<string>; readonly counter: Maybe<Offer> };

/** One document: its name, and its text or sources. */
export interface Offer {
  readonly hash: string;
  readonly name?: Maybe<string>;
  readonly description?: Maybe<string>;
  /** The exact text, if it is short. */
  readonly document?: Maybe<string>;
  /** The URLs of the text. */
  readonly sources?: Maybe<readonly string[]>;
}

/** Longer documents are offered by name and source only. */
export const OFFERED_CHARACTERS = 8_192;
const SHOWN_CHARACTERS = 500;
const JSON_LIMITS = { ...DEFAULT_LIMITS, jsonDepth: 8 };
const SOURCES = 8;
const HOW =
  'answer with JSON only: {"accept": hash}, or {"reject": hash}, or {"reject": hash, "counter": {"hash": …, "document": …}}';

/** `{"offer": …, "how": …}`: `how` explains the format to language models. */
export function writeOffer(offer: Offer): string {
  return JSON.stringify({ offer: offerJson(offer), how: HOW });
}

export function writeAccept(hash: string, note: string): string {
  return JSON.stringify({ accept: hash, note });
}

export function writeReject(hash: string, reason: string, counter: Maybe<Offer>): string {
  return JSON.stringify({ reject: hash, reason, ...(counter === undefined ? undefined : { counter: offerJson(counter) }) });
}

/** An offer as JSON. Texts over the limit are omitted. */
export function offerJson({ hash, name, description, document, sources }: Offer): JsonObject {
  const fits = document !== undefined && document.length <= OFFERED_CHARACTERS;
  const listed = sources !== undefined && sources.length > 0;
  return {
    hash,
    ...(name === undefined ? undefined : { name }),
    ...(description === undefined ? undefined : { description }),
    ...(fits ? { document } : undefined),
    ...(listed ? { sources } : undefined),
  };
}

/** Undefined for other texts: prose, or unrelated JSON. */
export function readCatalogueMessage(text: string): Maybe<CatalogueMessage> {
  const { offer, accept, reject, reason, counter } = objectIn(text) ?? {};
  if (offer !== undefined) {
    const read = readOffer(offer);
    return read === undefined ? undefined : { kind: "offer", offer: read };
  }
  if (typeof accept === "string" && isHash(accept)) return { kind: "accept", hash: accept };
  if (typeof reject !== "string" || !isHash(reject)) return undefined;
  return { kind: "reject", hash: reject, reason: shortText(reason), counter: readOffer(counter) };
}

/** A hash alone is an offer. */
function readOffer(value: unknown): Maybe<Offer> {
  const { hash, name, description, document, sources } =
    typeof value === "string" ? { hash: value } : isObject(value) ? value : {};
  if (typeof hash !== "string" || !isHash(hash)) return undefined;
  return {
    hash,
    name: shortText(name),
    description: shortText(description),
    document: typeof document === "string" ? document : undefined,
    sources: Array.isArray(sources)
      ? sources.filter((one): one is string => typeof one === "string").slice(0, SOURCES)
      : undefined,
  };
}

function shortText(value: unknown): Maybe<string> {
  return typeof value === "string" ? value.slice(0, SHOWN_CHARACTERS) : undefined;
}

/** The JSON object in a text. Models often wrap JSON in prose. */
function objectIn(text: string): Maybe<JsonObject> {
  const open = text.indexOf("{");
  const close = text.lastIndexOf("}");
  if (open === -1 || close < open) return undefined;
  try {
    const value = readJson(new TextEncoder().encode(text.slice(open, close + 1)), JSON_LIMITS);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
