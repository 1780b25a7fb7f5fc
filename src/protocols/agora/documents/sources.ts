import { AgentError, decodeBase64, type Maybe } from "../../../envelope/index.js";
import { fingerprintOf } from "./hash.js";
import { DOCUMENT_BYTES } from "./library.js";

/** Limit of sources tried per document. */
export const MOST_SOURCES = 8;
/** Timeout of one source. */
export const SOURCE_MS = 5_000;

const PERCENT_FORM = "data:text/plain;charset=utf-8,";
const BASE64_FORM = "data:text/plain;charset=utf-8;base64,";
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const lenient = new TextDecoder("utf-8", { ignoreBOM: true });

/** The guarded fetch. Undefined if addresses in messages are not followed. */
export type Follow = (url: string, limits: { readonly bytes: number; readonly timeoutMs: number }) => Promise<Uint8Array>;

/** The text of a data URI in one of the two forms that the Python library supports. Undefined for other or invalid ones. */
export function textInDataUri(uri: string): Maybe<string> {
  // Percent-encoding takes up to three characters per byte; longer URIs exceed the limit.
  if (uri.length > BASE64_FORM.length + 3 * DOCUMENT_BYTES) return undefined;
  if (uri.startsWith(BASE64_FORM)) {
    const bytes = decodeBase64(uri.slice(BASE64_FORM.length));
    return bytes === undefined ? undefined : textOfBytes(bytes);
  }
  return uri.startsWith(PERCENT_FORM) ? percentDecoded(uri.slice(PERCENT_FORM.length)) : undefined;
}

/** A document as a data URI, as the Python library writes it: slashes are not escaped. */
export function dataUriOf(text: string): string {
  return PERCENT_FORM + encodeURIComponent(text).replaceAll(/[!'()*]|%2F/g, (found) => (found === "%2F" ? "/" : percent(found)));
}

function percent(letter: string): string {
  return `%${letter.charCodeAt(0).toString(16).toUpperCase()}`;
}

/** Like Python's `unquote`: invalid escapes stay literal, and bytes that are not UTF-8 become U+FFFD. */
function percentDecoded(text: string): string {
  return text.replaceAll(/(?:%[0-9A-Fa-f]{2})+/g, (run) => {
    const bytes = Uint8Array.from({ length: run.length / 3 }, (_, index) =>
      Number.parseInt(run.slice(3 * index + 1, 3 * index + 3), 16),
    );
    return lenient.decode(bytes);
  });
}

/** Undefined if the bytes are not UTF-8, or exceed the limit. */
export function textOfBytes(bytes: Uint8Array): Maybe<string> {
  if (bytes.byteLength > DOCUMENT_BYTES) return undefined;
  try {
    return utf8.decode(bytes);
  } catch {
    return undefined;
  }
}

/**
 * The text of the first source with the given hash. Data URIs are tried first because they are free. Sources are tried
 * independently, so that one failing or wrong source does not block the next.
 */
export async function findDocument(hash: string, sources: readonly string[], follow: Maybe<Follow>): Promise<Maybe<string>> {
  if (sources.length > MOST_SOURCES)
    throw new AgentError("invalid_message", `protocolSources has ${sources.length} entries; at most ${MOST_SOURCES} are read`, {
      field: "protocolSources",
    });
  for (const source of sources) {
    const text = textInDataUri(source);
    if (text !== undefined && (await fingerprintOf(text)).sha1 === hash) return text;
  }
  if (follow === undefined) return undefined;
  for (const source of sources) {
    if (!/^https?:\/\//i.test(source)) continue;
    const text = await textAt(source, follow);
    if (text !== undefined && (await fingerprintOf(text)).sha1 === hash) return text;
  }
  return undefined;
}

async function textAt(url: string, follow: Follow): Promise<Maybe<string>> {
  try {
    return textOfBytes(await follow(url, { bytes: DOCUMENT_BYTES, timeoutMs: SOURCE_MS }));
  } catch {
    // The caller chose the address and learns nothing about it; only that no source had the document.
    return undefined;
  }
}
