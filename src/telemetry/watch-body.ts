import { watchIterable } from "../policies/index.js";
import { type Chunk, type HttpResponse, isStream } from "../transport/exchange.js";
import { utf8Length } from "./content-bytes.js";

/** What is told about the body of one response. */
export interface BodyWatch {
  /** As they come; a whole body comes at once. */
  bytes(count: number): void;
  /** Exactly once: nothing follows. `thrown` is set when the body was cut. */
  end(thrown?: unknown): void;
}

/** The same response with its body counted. A whole body is counted now, and the response is handed back as it is. */
export function watchBody(response: HttpResponse, watch: BodyWatch): HttpResponse {
  const { body } = response;
  // The usual bodies first: asking a Uint8Array for a symbol it does not have is slow.
  if (body === undefined || typeof body === "string" || body instanceof Uint8Array || !isStream(body)) {
    if (body !== undefined) watch.bytes(chunkBytes(body));
    watch.end();
    return response;
  }
  const counted = watchIterable(body, {
    item: (chunk) => watch.bytes(chunkBytes(chunk)),
    end: (_how, thrown) => watch.end(thrown),
  });
  const { status, headers, idle } = response;
  if (response.trailers === undefined) return { status, headers, body: counted, idle };
  return { status, headers, body: counted, idle, trailers: () => response.trailers?.() ?? {} };
}

export function chunkBytes(chunk: Chunk): number {
  return typeof chunk === "string" ? utf8Length(chunk) : chunk.length;
}
