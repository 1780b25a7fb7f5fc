import type { JsonObject, Maybe } from "../envelope/index.js";
import { etagOf, isFresh } from "../transport/etag.js";
import type { HttpRequest, HttpResponse } from "../transport/exchange.js";

/** A JSON document with a validator, so that clients can ask whether it changed. `changedAt` is in milliseconds since the epoch. */
export function documentResponse(
  request: HttpRequest,
  members: JsonObject,
  vary: string,
  changedAt?: Maybe<number>,
): HttpResponse {
  return textResponse(request, JSON.stringify(members), vary, changedAt);
}

/** The same for a document that is there already, byte for byte: what was signed as text stays that text. */
export function bytesResponse(request: HttpRequest, bytes: Uint8Array, vary: string, changedAt?: Maybe<number>): HttpResponse {
  return textResponse(request, asTextKept.decode(bytes), vary, changedAt);
}

/** A byte order mark is one of the bytes. */
const asTextKept = new TextDecoder("utf-8", { ignoreBOM: true });

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
