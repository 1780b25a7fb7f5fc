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
import { hideSecrets } from "./secrets.js";

/** A UTE document as it is kept, and what it weighs. */
export interface KeptDocument {
  readonly json: JsonObject;
  readonly size: number;
}

/** The member of `meta` in which what we say about a kept message stands; readers of UTE keep it. */
export const META_MEMBER = "koine";
/** A document weighs at most this many times what its content may. */
const AROUND_CONTENT = 2;

/** A message as it is shown: without secrets, and with its first words only where it is too long. */
export function keptDocument(envelope: Envelope, limitBytes: number): Maybe<KeptDocument> {
  const json = hideSecrets(writtenWithin(envelope, limitBytes));
  const size = JSON.stringify(json).length;
  return size > limitBytes * AROUND_CONTENT ? undefined : { json, size };
}

function writtenWithin(envelope: Envelope, limitBytes: number): JsonObject {
  try {
    return writeUte(envelope, { inlineBytes: limitBytes });
  } catch (thrown) {
    if (AgentError.from(thrown).code !== "too_large") throw thrown;
    return writeUte(beginningOf(envelope, limitBytes), { inlineBytes: limitBytes });
  }
}

/** A character may be four bytes. */
const BYTES_PER_CHARACTER = 4;

function beginningOf(envelope: Envelope, limitBytes: number): Envelope {
  const bytes = envelope.content.reduce((sum, part) => sum + partBytes(part), 0);
  const text = textOf(envelope.content).slice(0, Math.floor(limitBytes / (BYTES_PER_CHARACTER * 2)));
  const before = envelope.extra?.["meta"];
  const meta = { ...(isObject(before) ? before : {}), [META_MEMBER]: { cut: true, content_bytes: bytes } };
  return { ...envelope, content: [textPart(text)], extra: { ...envelope.extra, meta } };
}
