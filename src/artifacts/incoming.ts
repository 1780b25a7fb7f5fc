import { createHash } from "node:crypto";
import { AgentError, type Cancel, type Json, type Maybe, type Part } from "../envelope/index.js";
import type { Guard, PinnedUrl } from "../security/outbound-guard.js";
import { ByteCollector, wholeBody } from "../transport/body.js";
import { type Exchange, type HttpResponse, isStream, type Link } from "../transport/exchange.js";
import { readJson } from "../transport/json.js";
import { DEFAULT_LIMITS } from "../transport/limits.js";
import { makeRequest } from "../transport/request.js";
import { readContentRange } from "./byte-range.js";
import { type Reference, readReference, withoutReference } from "./reference.js";
import { DEFAULT_ARTIFACT_LIMITS } from "./store.js";

/** What one fetch may cost. */
export interface FetchLimits {
  readonly artifactBytes: number;
  /** Asked for at a time. Below the body limit of any link, so that artifacts need no larger one. */
  readonly pieceBytes: number;
  readonly redirects: number;
}

/** As large as a store of ours takes, in pieces of half a message. */
export const DEFAULT_FETCH_LIMITS: FetchLimits = Object.freeze({
  artifactBytes: DEFAULT_ARTIFACT_LIMITS.artifactBytes,
  pieceBytes: 8 * 1024 * 1024,
  redirects: 3,
});

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** The way out, and who watches it. */
export interface FetchOptions {
  readonly guard: Guard;
  /** A link of its own that connects to the checked addresses only; it is closed after use. */
  linkTo(target: PinnedUrl): Pick<Link, "exchange" | "close">;
  readonly limits?: Maybe<Partial<FetchLimits>>;
  readonly cancel?: Maybe<Cancel>;
}

/**
 * The part behind a URL part, fetched now, through the guard, without credentials, in pieces, and once: a cut is an error,
 * not a second try. A reference of ours is checked by size and digest and becomes the part it was; anything else becomes
 * raw bytes. Other parts come back as they are.
 */
export async function fetchPart(part: Part, options: FetchOptions): Promise<Part> {
  if (part.kind !== "url") return part;
  const limits = { ...DEFAULT_FETCH_LIMITS, ...options.limits };
  const reference = readReference(part);
  if (reference !== undefined && reference.bytes > limits.artifactBytes) throw tooLarge(limits);
  const { bytes, head } = await download(part.url, reference, limits, options);
  const stated = reference?.sha256 ?? digestIn(head.headers["repr-digest"]);
  if (stated !== undefined && createHash("sha256").update(bytes).digest("hex") !== stated)
    throw new AgentError("bad_peer", "the artifact is not what was announced: its digest differs");
  return restored(part, reference, bytes, head);
}

interface Download {
  readonly bytes: Uint8Array;
  /** The first answer: its headers describe the whole. */
  readonly head: HttpResponse;
}

async function download(url: string, reference: Maybe<Reference>, limits: FetchLimits, options: FetchOptions): Promise<Download> {
  let target = await options.guard(url);
  for (let redirects = 0; ; redirects++) {
    const link = options.linkTo(target);
    try {
      const askFrom = asker(link.exchange, target, limits, options.cancel);
      const head = await askFrom(0);
      const location = head.headers["location"];
      if (!REDIRECTS.has(head.status) || location === undefined) return await collect(head, askFrom, reference, limits);
      await discard(head);
      if (redirects >= limits.redirects)
        throw new AgentError("bad_peer", `${target.hostname} redirects more than ${limits.redirects} times`);
      target = await options.guard(location, target);
    } finally {
      await link.close();
    }
  }
}

type AskFrom = (start: number) => Promise<HttpResponse>;

function asker(exchange: Exchange, { url }: PinnedUrl, { pieceBytes }: FetchLimits, cancel: Maybe<Cancel>): AskFrom {
  return async (start) => {
    const headers = { range: `bytes=${start}-${start + pieceBytes - 1}`, accept: "*/*", "accept-encoding": "identity" };
    return exchange(makeRequest({ method: "GET", url, headers, cancel }));
  };
}

async function collect(
  head: HttpResponse,
  askFrom: AskFrom,
  reference: Maybe<Reference>,
  limits: FetchLimits,
): Promise<Download> {
  const pieces = new ByteCollector(limits.artifactBytes);
  let size = reference?.bytes;
  let got = 0;
  for (let response = head; ; response = await askFrom(got)) {
    const piece = await readPiece(response, got, limits);
    if (response.headers["etag"] !== head.headers["etag"])
      throw new AgentError("bad_peer", "the artifact changed while it was read");
    size ??= piece.size;
    if (piece.size !== size) throw new AgentError("bad_peer", `the artifact has ${piece.size} bytes; ${size} were announced`);
    if (size > limits.artifactBytes) throw tooLarge(limits);
    if (!pieces.add(piece.bytes)) throw tooLarge(limits);
    got += piece.bytes.length;
    if (got >= size) return { bytes: pieces.whole(), head };
  }
}

/** An answer nobody reads must not hold its connection. */
async function discard({ body }: HttpResponse): Promise<void> {
  if (isStream(body)) await body[Symbol.asyncIterator]().return?.();
}

/** One piece, and the size of the whole. A server without ranges gives everything at once, or an empty artifact. */
async function readPiece(
  response: HttpResponse,
  start: number,
  limits: FetchLimits,
): Promise<{ readonly bytes: Uint8Array; readonly size: number }> {
  if (response.status === 206) {
    const range = readContentRange(response.headers["content-range"]);
    // Less than was asked for would let a server make millions of requests out of one.
    if (range === undefined || range.start !== start || range.end !== Math.min(start + limits.pieceBytes, range.size))
      throw new AgentError("bad_peer", "the artifact's server answered another range than was asked for");
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
  if (status === 200) return new AgentError("bad_peer", "the artifact's server stopped answering by range", facts);
  if (status === 404) return new AgentError("not_found", "the artifact was not found", facts);
  if (status === 410) return new AgentError("expired", "the link to the artifact has expired", facts);
  if (status === 401 || status === 403) return new AgentError("forbidden", "the artifact may not be read", facts);
  if (status === 429 || status === 503) return new AgentError("overloaded", "the artifact's server is busy", facts);
  return new AgentError("bad_peer", `the artifact's server answered with status ${status}`, facts);
}

function restored(part: Part, reference: Maybe<Reference>, bytes: Uint8Array, head: HttpResponse): Part {
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
      return { kind: "raw", bytes, mediaType: part.mediaType ?? head.headers["content-type"], name, metadata };
  }
}

function textOf(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (thrown) {
    throw new AgentError("bad_peer", "the artifact was announced as text and is not UTF-8", { cause: thrown });
  }
}

function dataOf(bytes: Uint8Array): Json {
  try {
    return readJson(bytes, DEFAULT_LIMITS.jsonDepth) as Json; // fresh out of JSON.parse
  } catch (thrown) {
    throw new AgentError("bad_peer", "the artifact was announced as data and is not JSON", { cause: thrown });
  }
}

/** RFC 9530 §3: the SHA-256 of the whole, in hex, if the server states one. */
function digestIn(header: Maybe<string>): Maybe<string> {
  const match = header === undefined ? null : /(?:^|[,\s])sha-256=:([A-Za-z0-9+/]{43}=):/.exec(header);
  return match?.[1] === undefined ? undefined : Buffer.from(match[1], "base64").toString("hex");
}

function tooLarge({ artifactBytes }: FetchLimits): AgentError {
  return new AgentError("too_large", `the artifact has more than ${artifactBytes} bytes`);
}
