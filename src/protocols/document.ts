import type { JsonObject, Maybe } from "../envelope/index.js";
import { etagOf, isFresh } from "../transport/etag.js";
import type { HttpRequest, HttpResponse } from "../transport/exchange.js";

/** A JSON document with an ETag, for conditional requests. `changedAt` is in milliseconds since the epoch. */
export function documentResponse(
  request: HttpRequest,
  members: JsonObject,
  vary: string,
  changedAt?: Maybe<number>,
): HttpResponse {
  return textResponse(request, JSON.stringify(members), vary, changedAt);
}

/** Like `documentResponse`, for an already encoded document: a signed text must not be re-encoded. */
export function bytesResponse(request: HttpRequest, bytes: Uint8Array, vary: string, changedAt?: Maybe<number>): HttpResponse {
  return textResponse(request, utf8.decode(bytes), vary, changedAt);
}

/** Keeps a byte order mark. */
const utf8 = new TextDecoder("utf-8", { ignoreBOM: true });

function textResponse(request: HttpRequest, text: string, vary: string, changedAt: Maybe<number>): HttpResponse {
  const etag = etagOf(text);
  const headers = {
    "content-type": "application/json",
    "cache-control": "max-age=60",
    etag,
    ...(changedAt === undefined ? {} : { "last-modified": new Date(changedAt).toUTCString() }),
    ...(vary === "" ? {} : { vary }),
  };
  if (isFresh(request.headers["if-none-match"], etag)) return { status: 304, headers, body: undefined };
  return { status: 200, headers, body: request.method === "HEAD" ? undefined : text };
}
