import { AgentError, decodeBase64, type Maybe } from "../../../envelope/index.js";
import { fingerprintOf } from "./hash.js";
import { DOCUMENT_BYTES } from "./library.js";

/** How many sources of one document are looked at. */
export const MOST_SOURCES = 8;
/** How long one source may take. */
export const SOURCE_MS = 5_000;

const PERCENT_FORM = "data:text/plain;charset=utf-8,";
const BASE64_FORM = "data:text/plain;charset=utf-8;base64,";
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const lenient = new TextDecoder("utf-8", { ignoreBOM: true });

/** The one guarded way out; undefined where addresses in messages are not followed. */
export type Follow = (url: string, limits: { readonly bytes: number; readonly timeoutMs: number }) => Promise<Uint8Array>;

/** The text in a data URI of one of the two forms that the library knows; undefined for any other, and for broken ones. */
export function textInDataUri(uri: string): Maybe<string> {
  // Percent signs make three characters of a byte; more than that is no document.
  if (uri.length > BASE64_FORM.length + 3 * DOCUMENT_BYTES) return undefined;
  if (uri.startsWith(BASE64_FORM)) {
    const bytes = decodeBase64(uri.slice(BASE64_FORM.length));
    return bytes === undefined ? undefined : textOfBytes(bytes);
  }
  return uri.startsWith(PERCENT_FORM) ? percentDecoded(uri.slice(PERCENT_FORM.length)) : undefined;
}

/** A document as a data URI, as the library's sender writes it: a slash stays bare. */
export function dataUriOf(text: string): string {
  return PERCENT_FORM + encodeURIComponent(text).replaceAll(/[!'()*]|%2F/g, (found) => (found === "%2F" ? "/" : percent(found)));
}

function percent(letter: string): string {
  return `%${letter.charCodeAt(0).toString(16).toUpperCase()}`;
}

/** As Python's `unquote` does it: what is no escape stands for itself, and bytes that are not UTF-8 become U+FFFD. */
function percentDecoded(text: string): string {
  return text.replaceAll(/(?:%[0-9A-Fa-f]{2})+/g, (run) => {
    const bytes = Uint8Array.from({ length: run.length / 3 }, (_, index) =>
      Number.parseInt(run.slice(3 * index + 1, 3 * index + 3), 16),
    );
    return lenient.decode(bytes);
  });
}

/** Undefined where the bytes are not UTF-8, or too many. */
export function textOfBytes(bytes: Uint8Array): Maybe<string> {
  if (bytes.byteLength > DOCUMENT_BYTES) return undefined;
  try {
    return utf8.decode(bytes);
  } catch {
    return undefined;
  }
}

/**
 * The text behind the first source that has the given hash. Data URIs cost nothing and are tried first; every source is
 * tried by itself, so one that fails or lies keeps nobody from the next.
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
    // Who sent the address learns nothing about what is behind it; the caller is told that no source had the document.
    return undefined;
  }
}
