import type { Maybe } from "../../../envelope/index.js";
import { fingerprintOf } from "../documents/hash.js";
import type { KnownDocument } from "../documents/library.js";
import {
  type CatalogueMessage,
  OFFERED_CHARACTERS,
  type Offer,
  offerJson,
  writeAccept,
  writeReject,
} from "./catalogue-message.js";
import type { NegotiationState } from "./state.js";

/** A supported document. */
export type CatalogueDocument = Pick<KnownDocument, "hash" | "sha256" | "text" | "name" | "description" | "sources">;

export const NO_MODEL = "catalogue negotiation, no language model";
/** The maximum number of documents listed in a prose reply. */
const LISTED = 20;
/** The maximum size of document texts in a prose reply. */
const SHOWN_CHARACTERS = 4 * OFFERED_CHARACTERS;

/** Negotiates by catalogue alone: accepts supported documents and rejects all others. */
export async function answerByCatalogue(
  state: NegotiationState,
  message: Maybe<CatalogueMessage>,
  catalogue: readonly CatalogueDocument[],
): Promise<{ readonly state: NegotiationState; readonly body: string }> {
  if (message === undefined) return { state, body: proseOf(catalogue) };
  if (message.kind === "accept") return { state, body: await answerToAccept(message.hash, catalogue) };
  const [refused, offered] = message.kind === "offer" ? [message.offer.hash, message.offer] : [message.hash, message.counter];
  const hash = offered?.hash ?? refused;
  const refusal = offered === undefined ? "no alternative offered" : await refusalOf(offered, catalogue);
  if (refusal === undefined) return { state, body: writeAccept(hash, NO_MODEL) };
  const tried = new Set([...state.countered, refused, hash]);
  const counter = catalogue.find((document) => !tried.has(document.hash));
  const countered = counter === undefined ? state.countered : [...state.countered, counter.hash];
  return {
    state: { ...state, countered },
    body: writeReject(hash, `${refusal} (${NO_MODEL})`, counter === undefined ? undefined : offerOf(counter)),
  };
}

export function offerOf({ hash, name, description, text, sources }: CatalogueDocument): Offer {
  return { hash, name, description, document: text, sources };
}

/**
 * The reason for rejecting an offer; undefined if it is acceptable. An included text must be identical, not only have the same
 * name.
 */
async function refusalOf({ hash, document }: Offer, catalogue: readonly CatalogueDocument[]): Promise<Maybe<string>> {
  const own = await ownBy(hash, catalogue);
  if (document !== undefined) {
    const { sha1, sha256 } = await fingerprintOf(document);
    if (sha1 !== hash) return "the document does not have this hash";
    if (own !== undefined && own !== sha256) return "another document has this hash";
  }
  return own === undefined ? "this side has no routine for it" : undefined;
}

/** The SHA-256 of the document with this hash: exact, or trimmed, as the Python library hashes it. */
async function ownBy(hash: string, catalogue: readonly CatalogueDocument[]): Promise<Maybe<string>> {
  const exact = catalogue.find((each) => each.hash === hash);
  if (exact !== undefined) return exact.sha256;
  for (const { text } of catalogue) {
    const trimmed = text.trim();
    const found = trimmed === text ? undefined : await fingerprintOf(trimmed);
    if (found?.sha1 === hash) return found.sha256;
  }
  return undefined;
}

async function answerToAccept(hash: string, catalogue: readonly CatalogueDocument[]): Promise<string> {
  const known = (await ownBy(hash, catalogue)) !== undefined;
  return known ? writeAccept(hash, NO_MODEL) : writeReject(hash, `it was not offered by this agent (${NO_MODEL})`, undefined);
}

/** The reply to prose without a model: the list of supported documents. */
function proseOf(catalogue: readonly CatalogueDocument[]): string {
  if (catalogue.length === 0) {
    return "No language model is configured on this side, so it cannot discuss a protocol, and it has none in its catalogue.";
  }
  let room = SHOWN_CHARACTERS;
  const shown = catalogue.slice(0, LISTED).map((document) => {
    const offer = offerOf(document);
    room -= document.text.length;
    return offerJson(room < 0 ? { ...offer, document: undefined } : offer);
  });
  return `No language model is configured on this side, so it cannot discuss a protocol. It keeps to the documents of its catalogue; to agree, use one of them exactly as it stands.\n${JSON.stringify({ catalogue: shown })}`;
}
