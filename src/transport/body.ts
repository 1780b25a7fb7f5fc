import { AgentError } from "../envelope/index.js";
import { type Chunk, isStream, type Response } from "./exchange.js";
import { readJson } from "./json.js";
import type { Limits } from "./limits.js";

const NOTHING = new Uint8Array(0);
const encoder = new TextEncoder();

export function bytesOf(chunk: Chunk): Uint8Array {
  return typeof chunk === "string" ? encoder.encode(chunk) : chunk;
}

/** The pieces as one, without a copy when there is only one. */
export function joinBytes(pieces: readonly Uint8Array[], length: number): Uint8Array {
  const [first] = pieces;
  if (first === undefined) return NOTHING;
  if (pieces.length === 1) return first;
  const joined = new Uint8Array(length);
  let at = 0;
  for (const piece of pieces) {
    joined.set(piece, at);
    at += piece.length;
  }
  return joined;
}

/** A response body as a whole, however it comes. More than `maxBytes` is `too_large`, and the rest is not read. */
export function wholeBody(body: Response["body"], maxBytes: number): Uint8Array | Promise<Uint8Array> {
  if (isStream(body)) return collect(body, maxBytes);
  if (body === undefined) return NOTHING;
  const bytes = bytesOf(body);
  if (bytes.length > maxBytes) throw bodyTooLarge(maxBytes);
  return bytes;
}

async function collect(chunks: AsyncIterable<Chunk>, maxBytes: number): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of chunks) {
    const bytes = bytesOf(chunk);
    length += bytes.length;
    if (length > maxBytes) throw bodyTooLarge(maxBytes);
    pieces.push(bytes);
  }
  return joinBytes(pieces, length);
}

/** The JSON value in a response: at once where the body is whole, as from a pool. Throws AgentError `decode` or `too_large`. */
export function responseJson(response: Response, limits: Limits): unknown {
  const body = wholeBody(response.body, limits.bodyBytes);
  return body instanceof Promise ? body.then((bytes) => readJson(bytes, limits.jsonDepth)) : readJson(body, limits.jsonDepth);
}

export function bodyTooLarge(maxBytes: number): AgentError {
  return new AgentError("too_large", `the body is longer than ${maxBytes} bytes`);
}

const EVENT_STREAM = "text/event-stream";

/** True for the one media type that is read as it comes. */
export function isEventStream(contentType: string | undefined): boolean {
  if (contentType === undefined) return false;
  if (contentType === EVENT_STREAM) return true;
  const semicolon = contentType.indexOf(";");
  return (semicolon === -1 ? contentType : contentType.slice(0, semicolon)).trim().toLowerCase() === EVENT_STREAM;
}
