import { type Card, isObject, type JsonObject, type Maybe } from "../../../envelope/index.js";
import { readJson } from "../../../transport/json.js";
import { DEFAULT_LIMITS } from "../../../transport/limits.js";
import type { Host } from "../../protocol.js";
import { hybridCard } from "./card.js";
import { writeKindCard } from "./card-0.3.js";
import { writeCard } from "./card-1.0.js";
import { type CardReader, cardForReader, documentForReader } from "./readers.js";

/** The signed card of a version. `both` and unknown versions get the combined document, as the reader needs it if that is known. */
export function signedCard(host: Pick<Host, "signatures">, form: string, card: Card, reader?: Maybe<CardReader>): JsonObject {
  if (form === "0.3") return withSignatures(host, writeKindCard(card));
  const written = reader === undefined ? card : cardForReader(card, reader);
  const document = form === "1.0" ? writeCard(written) : hybridCard(written);
  // Clients that know only 1.0 verify signatures over the 1.0 members.
  const modern = form === "1.0" ? document : writeCard(written);
  if (reader === undefined) return withSignatures(host, document, modern);
  return withSignatures(host, documentForReader(document, written, reader), documentForReader(modern, written, reader));
}

/** The document with its signatures, if the host has a key. */
export function withSignatures(host: Pick<Host, "signatures">, document: JsonObject, view?: JsonObject): JsonObject {
  const signatures = host.signatures(document, view);
  return signatures.length === 0 ? document : { ...document, signatures };
}

/** The original document of a relayed card. Undefined for generated cards. */
export function verbatimBytes({ original }: Card): Maybe<Uint8Array> {
  return original?.protocol === "a2a" ? original.bytes : undefined;
}

/** The same as JSON, for composed documents. */
export function verbatimDocument(card: Card): Maybe<JsonObject> {
  const bytes = verbatimBytes(card);
  const document = bytes && readJson(bytes, DEFAULT_LIMITS);
  return isObject(document) ? document : undefined;
}
