import { AgentError, ANONYMOUS, type Maybe, type Principal, subjectOf } from "../envelope/index.js";
import { isFresh } from "../transport/etag.js";
import type { Exchange, HttpHeaders, HttpRequest, HttpResponse } from "../transport/exchange.js";
import { errorResponse } from "../transport/response.js";
import { readRange } from "./byte-range.js";
import { ARTIFACT_PATH, type ArtifactLinks, notFound } from "./links.js";
import type { ArtifactInfo, ArtifactStore, ByteRange, IsReferred } from "./store.js";

/** The store, the links and the authentication of an artifact server. */
export interface ArtifactServerOptions {
  readonly store: ArtifactStore;
  readonly links: ArtifactLinks;
  /** What tasks exist. Default: an artifact is served until it expires. */
  readonly isReferred?: Maybe<IsReferred>;
  admit(request: HttpRequest): Principal | Promise<Principal>;
}

/** HTTP statuses of refusals. */
export const STATUS: { readonly [code: string]: number } = {
  invalid_message: 400,
  conflict: 409,
  too_large: 413,
  not_found: 404,
  expired: 410,
  unauthenticated: 401,
  forbidden: 403,
  overloaded: 503,
  unavailable: 503,
};

/**
 * Serves `GET` and `HEAD` on `/artifacts/{id}`. The link is the permission: its holder may read without credentials. Credentials can
 * only restrict: an authenticated caller other than the owner is refused, and invalid ones fail.
 */
export function artifactExchange(options: ArtifactServerOptions): Exchange {
  return async (request) => {
    if (request.method !== "GET" && request.method !== "HEAD")
      return errorResponse(405, new AgentError("unsupported_method", "artifacts can only be read"), { allow: "GET, HEAD" });
    try {
      return answer(request, await permitted(request, options), options.store);
    } catch (thrown) {
      const error = AgentError.from(thrown);
      return errorResponse(STATUS[error.code] ?? 500, error, { "cache-control": "no-store" });
    }
  };
}

async function permitted(
  request: HttpRequest,
  { store, links, admit, isReferred }: ArtifactServerOptions,
): Promise<ArtifactInfo> {
  const id = request.path.slice(request.path.lastIndexOf(ARTIFACT_PATH) + ARTIFACT_PATH.length);
  const grant = links.check(id, request.query);
  const caller = await callerOf(request, admit);
  const info = await store.find(id, isReferred);
  if (info === undefined || !grant.isFor(info.owner)) throw notFound();
  if (caller.scheme !== "anonymous" && !isOwner(caller, info.owner)) throw notFound();
  return info;
}

/** A link has no tenant, so a caller without one may have created it in any of its tenants. */
function isOwner(caller: Principal, owner: string): boolean {
  return caller.owner === (caller.tenant === undefined ? subjectOf(owner) : owner);
}

async function callerOf(request: HttpRequest, admit: ArtifactServerOptions["admit"]): Promise<Principal> {
  try {
    return await admit(request);
  } catch (thrown) {
    const error = AgentError.from(thrown);
    if (error.code === "unauthenticated" && request.headers["authorization"] === undefined) return ANONYMOUS;
    throw error;
  }
}

function answer(request: HttpRequest, info: ArtifactInfo, store: ArtifactStore): HttpResponse {
  const etag = `"${info.sha256}"`;
  const headers = describe(info, etag);
  if (isFresh(request.headers["if-none-match"], etag)) return { status: 304, headers, body: undefined };
  const range = rangeOf(request, info.bytes, etag);
  if (range === "unsatisfiable")
    return {
      status: 416,
      headers: { ...headers, "content-range": `bytes */${info.bytes}`, "content-length": "0" },
      body: undefined,
    };
  const { start, end } = range === "whole" ? { start: 0, end: info.bytes } : range;
  const sent: HttpHeaders = {
    ...headers,
    "content-length": String(end - start),
    ...(range === "whole"
      ? { "content-digest": digestOf(info) }
      : { "content-range": `bytes ${start}-${end - 1}/${info.bytes}` }),
  };
  const body = request.method === "HEAD" || start === end ? undefined : store.read(info, { start, end });
  return { status: range === "whole" ? 200 : 206, headers: sent, body };
}

/** RFC 9110 §13.1.5: the whole artifact is sent if the version differs. Ranges apply to `GET` only (§14.2). */
function rangeOf({ method, headers }: HttpRequest, size: number, etag: string): ByteRange | "whole" | "unsatisfiable" {
  const condition = headers["if-range"];
  if (method !== "GET" || (condition !== undefined && condition !== etag)) return "whole";
  return readRange(headers["range"], size);
}

/** Untrusted bytes under our name: must not be executed, sniffed or cached by intermediaries. */
function describe(info: ArtifactInfo, etag: string): { readonly [name: string]: string } {
  return {
    "content-type": safeMediaType(info.mediaType),
    "content-disposition": disposition(info.name),
    "x-content-type-options": "nosniff",
    "content-security-policy": "default-src 'none'; sandbox",
    "cache-control": "private, no-store",
    "accept-ranges": "bytes",
    etag,
    "repr-digest": digestOf(info), // RFC 9530 §3: of the whole artifact, also in a range response
  };
}

function digestOf({ sha256 }: ArtifactInfo): string {
  return `sha-256=:${Buffer.from(sha256, "hex").toString("base64")}:`;
}

function safeMediaType(mediaType: Maybe<string>): string {
  return mediaType !== undefined && /^[\w.+-]{1,100}\/[\w.+-]{1,100}(;[\x20-\x7e]{0,200})?$/.test(mediaType)
    ? mediaType
    : "application/octet-stream";
}

/** RFC 6266 with the UTF-8 form of RFC 8187: the name cannot break out of the header or the quotes. */
function disposition(name: Maybe<string>): string {
  if (name === undefined || name === "") return "attachment";
  const short = name.slice(0, 200).replaceAll(/[\ud800-\udfff]/gu, "_"); // lone surrogates cannot be escaped
  const ascii = short.replaceAll(/[^\w. -]/g, "_");
  const escaped = encodeURIComponent(short).replaceAll(/['()*]/g, (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`);
  return `attachment; filename="${ascii}"; filename*=UTF-8''${escaped}`;
}
