import { watchIterable } from "../policies/index.js";
import { type Chunk, type HttpResponse, isStream, withBody } from "../transport/exchange.js";
import { utf8Length } from "./content-bytes.js";

/** Receives the progress of one response body. */
export interface BodyWatch {
  /** Called per chunk; once for a complete body. */
  bytes(count: number, chunk: Chunk): void;
  /** Called exactly once. `thrown` is set if the body was cut off. */
  end(thrown?: unknown): void;
}

/** Counts the body of a response. A complete body is counted immediately and the response returned unchanged. */
export function watchBody(response: HttpResponse, watch: BodyWatch): HttpResponse {
  const { body } = response;
  // Common bodies first: looking up a missing symbol on a Uint8Array is slow.
  if (body === undefined || typeof body === "string" || body instanceof Uint8Array || !isStream(body)) {
    if (body !== undefined) watch.bytes(chunkBytes(body), body);
    watch.end();
    return response;
  }
  const counted = watchIterable(body, {
    item: (chunk) => watch.bytes(chunkBytes(chunk), chunk),
    end: (_kind, thrown) => watch.end(thrown),
  });
  return withBody(response, counted);
}

export function chunkBytes(chunk: Chunk): number {
  return typeof chunk === "string" ? utf8Length(chunk) : chunk.length;
}
