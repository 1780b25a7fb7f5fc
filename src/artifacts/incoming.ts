import { createHash } from "node:crypto";
import { AgentError, type Cancel, type Json, type Maybe, type Part } from "../envelope/index.js";
import type { Guard, PinnedUrl } from "../security/outbound-guard.js";
import { ByteCollector, wholeBody } from "../transport/body.js";
import { type Exchange, type HttpResponse, isStream, type Link } from "../transport/exchange.js";
import { INNER_JSON_LIMITS, readJson } from "../transport/json.js";
import { makeRequest } from "../transport/request.js";
import { readContentRange } from "./byte-range.js";
import { type Reference, readReference, withoutReference } from "./reference.js";
import { DEFAULT_ARTIFACT_LIMITS } from "./store.js";

/** Limits of one fetch. */
export interface FetchLimits {
  readonly artifactBytes: number;
  /** Size of one range request. Below the body limit of any link, so that artifacts do not need a larger one. */
  readonly pieceBytes: number;
  readonly redirects: number;
}

/** What is fetched as a whole is in memory; ranges are half a message. */
export const DEFAULT_FETCH_LIMITS: FetchLimits = Object.freeze({
  artifactBytes: 64 * 1024 * 1024,
  pieceBytes: 8 * 1024 * 1024,
  redirects: 3,
});

/** What is read as a stream is as large as our own store allows, in pieces of a few chunks. */
const STREAM_LIMITS: FetchLimits = Object.freeze({
  ...DEFAULT_FETCH_LIMITS,
  artifactBytes: DEFAULT_ARTIFACT_LIMITS.artifactBytes,
  pieceBytes: 1024 * 1024,
});

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** The outbound transport and its guard. */
export interface FetchOptions {
  readonly guard: Guard;
  /** Opens a link that connects only to the checked addresses; closed after use. */
  linkTo(target: PinnedUrl): Pick<Link, "exchange" | "close">;
  readonly limits?: Maybe<Partial<FetchLimits>>;
  readonly cancel?: Maybe<Cancel>;
}

/**
 * Fetches the content of a URL part through the guard, without credentials, in ranges, and without retries. One of our references is
 * checked by size and digest and restored to the original part; anything else becomes raw bytes. Other parts are returned unchanged.
 */
export async function fetchPart(part: Part, options: FetchOptions): Promise<Part> {
  if (part.kind !== "url") return part;
  const limits = { ...DEFAULT_FETCH_LIMITS, ...options.limits };
  const reference = readReference(part);
  const pieces = new ByteCollector(limits.artifactBytes);
  const { mediaType, chunks } = await openDownload(part.url, reference, limits, options);
  for await (const chunk of chunks) if (!pieces.add(chunk)) throw tooLarge(limits);
  return restoredPart(part, pieces.whole(), mediaType);
}

/** Streams the content of a URL part as `fetchPart` fetches it. The digest is checked before the stream ends. */
export async function* readUrlPart(part: Part & { readonly kind: "url" }, options: FetchOptions): AsyncGenerator<Uint8Array> {
  const limits = { ...STREAM_LIMITS, ...options.limits };
  yield* (await openDownload(part.url, readReference(part), limits, options)).chunks;
}

interface Download {
  /** As its server declares it. */
  readonly mediaType: Maybe<string>;
  readonly chunks: AsyncIterable<Uint8Array>;
}

/** Follows redirects. The chunks must be read: the link is closed at their end. */
async function openDownload(
  url: string,
  reference: Maybe<Reference>,
  limits: FetchLimits,
  options: FetchOptions,
): Promise<Download> {
  if (reference !== undefined && reference.bytes > limits.artifactBytes) throw tooLarge(limits);
  let target = await options.guard(url);
  for (let redirects = 0; ; redirects++) {
    const link = options.linkTo(target);
    try {
      const requestRange = rangeRequester(link.exchange, target, limits, options.cancel);
      const head = await requestRange(0);
      const location = head.headers["location"];
      if (!REDIRECTS.has(head.status) || location === undefined) {
        const chunks = verified(head, requestRange, { reference, limits, close: () => link.close() });
        return { mediaType: head.headers["content-type"], chunks };
      }
      await discard(head);
      if (redirects >= limits.redirects)
        throw new AgentError("bad_peer", `${target.hostname} redirects more than ${limits.redirects} times`);
      target = await options.guard(location, target);
    } catch (thrown) {
      await link.close();
      throw thrown;
    }
    await link.close();
  }
}

type RequestRange = (start: number) => Promise<HttpResponse>;

function rangeRequester(
  exchange: Exchange,
  { url }: PinnedUrl,
  { pieceBytes }: FetchLimits,
  cancel: Maybe<Cancel>,
): RequestRange {
  return async (start) => {
    const headers = { range: `bytes=${start}-${start + pieceBytes - 1}`, accept: "*/*", "accept-encoding": "identity" };
    return exchange(makeRequest({ method: "GET", url, headers, cancel }));
  };
}

interface DownloadRules {
  readonly reference: Maybe<Reference>;
  readonly limits: FetchLimits;
  /** Called when the last chunk was read, or the reader stopped. */
  close(): Promise<void>;
}

/** The ranges one after the other, and last the digest: that of the reference, or the one the server declares. */
async function* verified(
  head: HttpResponse,
  requestRange: RequestRange,
  { reference, limits, close }: DownloadRules,
): AsyncGenerator<Uint8Array> {
  const hash = createHash("sha256");
  let size = reference?.bytes;
  let received = 0;
  try {
    for (let response = head; ; response = await requestRange(received)) {
      const piece = await readPiece(response, received, limits);
      if (response.headers["etag"] !== head.headers["etag"])
        throw new AgentError("bad_peer", "the artifact changed while it was being read");
      size ??= piece.size;
      if (piece.size !== size) throw new AgentError("bad_peer", `the artifact has ${piece.size} bytes; ${size} were announced`);
      if (size > limits.artifactBytes) throw tooLarge(limits);
      hash.update(piece.bytes);
      received += piece.bytes.length;
      if (received < size) {
        yield piece.bytes;
        continue;
      }
      const declared = reference?.sha256 ?? digestIn(head.headers["repr-digest"]);
      if (declared !== undefined && hash.digest("hex") !== declared)
        throw new AgentError("bad_peer", "the digest of the artifact does not match");
      // The last piece is given away only after the check.
      yield piece.bytes;
      return;
    }
  } finally {
    await close();
  }
}

/** Releases the connection of an unread response. */
async function discard({ body }: HttpResponse): Promise<void> {
  if (isStream(body)) await body[Symbol.asyncIterator]().return?.();
}

/** One range and the total size. A server without range support returns everything at once, or an empty artifact. */
async function readPiece(
  response: HttpResponse,
  start: number,
  limits: FetchLimits,
): Promise<{ readonly bytes: Uint8Array; readonly size: number }> {
  if (response.status === 206) {
    const range = readContentRange(response.headers["content-range"]);
    // A shorter range would let a server cause millions of requests.
    if (range === undefined || range.start !== start || range.end !== Math.min(start + limits.pieceBytes, range.size))
      throw new AgentError("bad_peer", "the artifact's server returned another range than requested");
    const bytes = await wholeBody(response.body, limits.pieceBytes);
    if (bytes.length !== range.end - range.start)
      throw new AgentError("interrupted", "the artifact was cut short", { sent: "maybe" });
    return { bytes, size: range.size };
  }
  if (response.status === 416 && start === 0 && response.headers["content-range"] === "bytes */0")
    return { bytes: new Uint8Array(0), size: 0 };
  if (response.status !== 200 || start > 0) {
    await discard(response);
    throw refusedBy(response.status);
  }
  const bytes = await wholeBody(response.body, limits.artifactBytes);
  return { bytes, size: bytes.length };
}

function refusedBy(status: number): AgentError {
  const facts = { status };
  if (status === 200) return new AgentError("bad_peer", "the artifact's server stopped supporting ranges", facts);
  if (status === 404) return new AgentError("not_found", "the artifact was not found", facts);
  if (status === 410) return new AgentError("expired", "the link to the artifact has expired", facts);
  if (status === 401 || status === 403) return new AgentError("forbidden", "access to the artifact was denied", facts);
  if (status === 429 || status === 503) return new AgentError("overloaded", "the artifact's server is busy", facts);
  return new AgentError("bad_peer", `the artifact's server answered with status ${status}`, facts);
}

/** The part that was moved out of a message; raw bytes if it was none of ours. */
export function restoredPart(part: Part, bytes: Uint8Array, mediaType: Maybe<string>): Part {
  const reference = readReference(part);
  const name = part.name;
  const metadata = withoutReference(part.metadata);
  switch (reference?.kind) {
    case "text":
      return { kind: "text", text: textOf(bytes), mediaType: part.mediaType, name, metadata };
    case "data":
      return { kind: "data", data: dataOf(bytes), mediaType: part.mediaType, name, metadata };
    case "raw":
      return { kind: "raw", bytes, mediaType: part.mediaType, name, metadata };
    default:
      return { kind: "raw", bytes, mediaType: part.mediaType ?? mediaType, name, metadata };
  }
}

function textOf(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (thrown) {
    throw new AgentError("bad_peer", "the artifact is declared as text but is not UTF-8", { cause: thrown });
  }
}

function dataOf(bytes: Uint8Array): Json {
  try {
    return readJson(bytes, INNER_JSON_LIMITS) as Json; // fresh out of JSON.parse
  } catch (thrown) {
    throw new AgentError("bad_peer", "the artifact is declared as data but is not JSON", { cause: thrown });
  }
}

/** RFC 9530 §3: the SHA-256 of the whole artifact in hex, if the server sent it. */
function digestIn(header: Maybe<string>): Maybe<string> {
  const match = header === undefined ? null : /(?:^|[,\s])sha-256=:([A-Za-z0-9+/]{43}=):/.exec(header);
  return match?.[1] === undefined ? undefined : Buffer.from(match[1], "base64").toString("hex");
}

function tooLarge({ artifactBytes }: FetchLimits): AgentError {
  return new AgentError("too_large", `the artifact has more than ${artifactBytes} bytes`);
}
