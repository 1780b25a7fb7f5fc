import { type Card, decodeBase64, encodeBase64, type LossSink, type Maybe } from "../../../envelope/index.js";

/**
 * How a peer of 0.3 fills the bytes of a file over REST and gRPC. The protobuf says bytes (`raw`: JavaScript, Koine), but Python and
 * Go put the base64 text of the JSON schema there (`base64`), and can read nothing else. `auto`: by what the peer is known to be.
 */
export const LEGACY_FILES = ["auto", "raw", "base64"] as const;
export type LegacyFiles = (typeof LEGACY_FILES)[number];

/** By the `User-Agent` of a caller or the `Server` of an agent. */
export function filesOf(software: Maybe<string>): LegacyFiles {
  if (software === undefined) return "auto";
  if (/python|uvicorn|hypercorn|gunicorn|grpc-go|go-http-client/i.test(software)) return "base64";
  return /node|undici|axios/i.test(software) ? "raw" : "auto";
}

/** The evidence about agents: the software that served their card. */
const byCard = new WeakMap<Card, LegacyFiles>();

export function noteServer(card: Card, server: Maybe<string>): void {
  const files = filesOf(server);
  if (files !== "auto") byCard.set(card, files);
}

/** How an agent fills the bytes of files, as far as it is known. */
export function knownFiles(card: Card): LegacyFiles {
  return byCard.get(card) ?? "auto";
}

/** Shorter texts are canonical base64 too often. */
const MIN_TEXT_BYTES = 16;
const TEXT_TYPE = /^text\/|[/+](json|xml|yaml|javascript)$/i;

/**
 * The content of a file. Only canonical base64 can be the text of another content. If the peer is not known, the media type
 * decides: a picture is never base64 text, a text file may be. What is not certain is reported.
 */
export function readFileBytes(
  bytes: Uint8Array,
  mediaType: Maybe<string>,
  files: LegacyFiles,
  reportAmbiguity: (reason: string) => void,
): Uint8Array {
  if (files === "raw") return bytes;
  const content = contentOf(bytes);
  if (content === undefined) return bytes;
  if (files === "base64") return content;
  if (bytes.length < MIN_TEXT_BYTES) return bytes;
  const isText = mediaType === undefined || TEXT_TYPE.test(mediaType);
  reportAmbiguity(
    isText
      ? "the content is base64 text, and the peer is not known: kept as text"
      : `the content is base64 text, and its type is ${mediaType}: decoded`,
  );
  return isText ? bytes : content;
}

/** The bytes to send: base64 text where the peer reads nothing else. */
export function writeFileBytes(bytes: Uint8Array, files: LegacyFiles): Uint8Array {
  return files === "base64" ? new TextEncoder().encode(encodeBase64(bytes)) : bytes;
}

/** Undefined unless the bytes are canonical base64: the alphabet with padding, and no stray bits. */
function contentOf(bytes: Uint8Array): Maybe<Uint8Array> {
  if (bytes.length === 0 || bytes.length % 4 !== 0) return undefined;
  return decodeBase64(new TextDecoder("latin1").decode(bytes));
}

/** Reports a decision that may be wrong. */
export function ambiguous(path: string, reportLoss: LossSink): (reason: string) => void {
  return (reason) => reportLoss({ protocol: "a2a", path, valueKind: "bytes", reason });
}
