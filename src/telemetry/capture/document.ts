import {
  AgentError,
  type Envelope,
  isObject,
  type JsonObject,
  type Maybe,
  partBytes,
  textOf,
  textPart,
  writeUte,
} from "../../envelope/index.js";
import { firstCharacters } from "./first-characters.js";
import { hideSecrets } from "./secrets.js";

/** A captured UTE document and its size. */
export interface CapturedDocument {
  readonly json: JsonObject;
  readonly size: number;
}

/** Member of `meta` that holds notes about a captured message; UTE readers preserve it. */
export const META_MEMBER = "koine";
/** Limit of a whole document, as a multiple of its content limit. */
const DOCUMENT_FACTOR = 2;

/** The message as UTE JSON with secrets hidden, and truncated to its first text if it is too large. */
export function captureDocument(envelope: Envelope, limitBytes: number): Maybe<CapturedDocument> {
  const written = writeWithin(envelope, limitBytes);
  // Before the search for secrets: metadata may be as large as a body.
  if (JSON.stringify(written).length > limitBytes * DOCUMENT_FACTOR) return undefined;
  const json = hideSecrets(written);
  return { json, size: JSON.stringify(json).length };
}

function writeWithin(envelope: Envelope, limitBytes: number): JsonObject {
  try {
    return writeUte(envelope, { inlineBytes: limitBytes });
  } catch (thrown) {
    if (AgentError.from(thrown).code !== "too_large") throw thrown;
    return writeUte(truncate(envelope, limitBytes), { inlineBytes: limitBytes });
  }
}

/** UTF-8 uses at most four bytes per character. */
const BYTES_PER_CHARACTER = 4;

function truncate(envelope: Envelope, limitBytes: number): Envelope {
  const bytes = envelope.content.reduce((sum, part) => sum + partBytes(part), 0);
  const text = firstCharacters(textOf(envelope.content), Math.floor(limitBytes / (BYTES_PER_CHARACTER * 2)));
  const before = envelope.extra?.["meta"];
  const meta = { ...(isObject(before) ? before : {}), [META_MEMBER]: { cut: true, content_bytes: bytes } };
  return { ...envelope, content: [textPart(text)], extra: { ...envelope.extra, meta } };
}
