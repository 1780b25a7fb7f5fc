import { AgentError, type Call, type Cancel, isObject, type JsonObject, type Maybe, type Part } from "../envelope/index.js";
import { responseJson, wholeBody } from "../transport/body.js";
import type { Exchange, HttpResponse } from "../transport/exchange.js";
import { DEFAULT_LIMITS } from "../transport/limits.js";
import { makeRequest } from "../transport/request.js";
import { writeReference } from "./reference.js";
import type { ByteRange } from "./store.js";
import { PIECE_BYTES, UPLOAD_OFFER, UPLOAD_PATH } from "./uploads.js";

/** Content that is read in pieces, so that it is never in memory as a whole: a file, for example. */
export interface UploadSource {
  readonly bytes: number;
  /** SHA-256 of the whole content, 64 lower-case hex digits. */
  readonly sha256: string;
  readonly name?: Maybe<string>;
  readonly mediaType?: Maybe<string>;
  /** The bytes of a range, at most `pieceBytes` of the receiver. */
  read(range: ByteRange): Promise<Uint8Array>;
}

/** The transport of an upload, and who is told about its progress. */
export interface UploadContext {
  readonly exchange: Exchange;
  readonly call: Call;
  /** Addresses of the peer, the most likely first. The store is looked for at each, and at the folders above. */
  readonly addresses: readonly string[];
  onProgress?(sent: number, bytes: number): void;
  /** Waits before the next try. */
  wait(ms: number, cancel: Cancel): Promise<void>;
}

/** What a peer offers. */
export interface UploadOffer {
  /** Uploads begin here. */
  readonly url: string;
  readonly artifactBytes: number;
}

/** Folders above an address that are looked at. */
const MAX_FOLDERS = 4;
/** Tries in a row that stored nothing. */
const MAX_TRIES = 6;
const RETRY_MS = 200;
const OFFER_BYTES = 64 * 1024;
/** Of a peer's message. */
const SAID_CHARS = 300;

/** The artifact store of the peer; undefined if it has none that Koine knows, as a peer of another make. */
export async function findUploads(context: UploadContext): Promise<Maybe<UploadOffer>> {
  for (const url of candidatesOf(context.addresses)) {
    const offer = await readOffer(url, context);
    if (offer !== undefined) return offer;
  }
  return undefined;
}

/**
 * Uploads the content in pieces and returns the part that refers to it. After a cut it goes on where the peer stands, also in a later
 * call for the same content.
 */
export async function uploadPart(source: UploadSource, offer: UploadOffer, context: UploadContext): Promise<Part> {
  const { bytes, sha256, name, mediaType } = source;
  if (bytes > offer.artifactBytes)
    throw new AgentError("too_large", `the peer stores at most ${offer.artifactBytes} bytes as one artifact`, { sent: "no" });
  let state: Maybe<Progress>;
  for (let tries = 0; ; ) {
    const before = state?.offset ?? 0;
    try {
      state = await begin(source, offer, context);
      while (state.url === undefined) {
        context.onProgress?.(state.offset, bytes);
        state = await sendPiece(source, state, offer, context);
      }
      context.onProgress?.(bytes, bytes);
      return writeReference({ kind: "raw", bytes: new Uint8Array(0), name, mediaType }, state.url, {
        kind: "raw",
        bytes,
        sha256,
      });
    } catch (thrown) {
      const error = AgentError.from(thrown);
      tries = (state?.offset ?? 0) > before ? 1 : tries + 1;
      if (!isTemporary(error) || context.call.cancel.cancelled || tries >= MAX_TRIES) throw error;
      await context.wait(RETRY_MS * 2 ** tries, context.call.cancel);
    }
  }
}

interface Progress {
  readonly id: string;
  readonly offset: number;
  readonly pieceBytes: number;
  readonly url: Maybe<string>;
}

function isTemporary({ code }: AgentError): boolean {
  return code === "interrupted" || code === "unavailable" || code === "deadline";
}

/** `http://h/x/y` is looked for at `/x/y/artifacts`, `/x/artifacts` and `/artifacts`. */
function candidatesOf(addresses: readonly string[]): ReadonlySet<string> {
  const found = new Set<string>();
  for (const address of addresses) {
    if (!URL.canParse(address)) continue;
    const url = new URL(address);
    if (url.protocol !== "http:" && url.protocol !== "https:") continue;
    const folders = url.pathname.split("/").filter((name) => name !== "");
    for (let kept = Math.min(folders.length, MAX_FOLDERS); kept >= 0; kept--)
      found.add(
        `${url.origin}${folders
          .slice(0, kept)
          .map((name) => `/${name}`)
          .join("")}${UPLOAD_PATH}`,
      );
  }
  return found;
}

async function readOffer(url: string, { exchange, call }: UploadContext): Promise<Maybe<UploadOffer>> {
  const request = makeRequest({ method: "GET", url, headers: { accept: "application/json" }, cancel: call.cancel, call });
  const response = await exchange(request);
  const isJson = response.headers["content-type"]?.startsWith("application/json") === true;
  const body = await wholeBody(response.body, OFFER_BYTES);
  if (response.status !== 200 || !isJson) return undefined;
  const offer = parsed(body);
  if (!isObject(offer) || offer["artifacts"] !== UPLOAD_OFFER || typeof offer["artifactBytes"] !== "number") return undefined;
  return { url, artifactBytes: offer["artifactBytes"] };
}

/** A foreign peer may answer anything here. */
function parsed(body: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(body));
  } catch {
    return undefined;
  }
}

async function begin(source: UploadSource, offer: UploadOffer, { exchange, call }: UploadContext): Promise<Progress> {
  const { bytes, sha256, name, mediaType } = source;
  const request = makeRequest({
    method: "POST",
    url: offer.url,
    headers: { "content-type": "application/json", accept: "application/json" },
    body: JSON.stringify({ bytes, sha256, name, mediaType }),
    cancel: call.cancel,
    call,
  });
  return progressOf(await exchange(request));
}

async function sendPiece(source: UploadSource, state: Progress, offer: UploadOffer, context: UploadContext): Promise<Progress> {
  const { exchange, call } = context;
  const start = state.offset;
  const end = Math.min(start + Math.min(state.pieceBytes, PIECE_BYTES), source.bytes);
  const piece = await source.read({ start, end });
  if (piece.length !== end - start)
    throw new AgentError("conflict", "the content became shorter while it was sent", { sent: "maybe" });
  const request = makeRequest({
    method: "PATCH",
    url: `${offer.url}/${state.id}`,
    headers: {
      "content-type": "application/octet-stream",
      "content-range": `bytes ${start}-${end - 1}/${source.bytes}`,
      accept: "application/json",
    },
    body: piece,
    cancel: call.cancel,
    call,
  });
  return progressOf(await exchange(request));
}

async function progressOf(response: HttpResponse): Promise<Progress> {
  const value = await responseJson(response, DEFAULT_LIMITS);
  if (response.status !== 200 && response.status !== 409) throw refusedBy(response.status, value);
  if (!isObject(value)) throw unexpected();
  const { id, offset, pieceBytes, url } = value;
  if (typeof id !== "string" || !/^[\w-]{1,128}$/.test(id)) throw unexpected();
  if (typeof offset !== "number" || !Number.isSafeInteger(offset) || offset < 0) throw unexpected();
  if (typeof pieceBytes !== "number" || !Number.isSafeInteger(pieceBytes) || pieceBytes < 1) throw unexpected();
  return { id, offset, pieceBytes, url: typeof url === "string" ? url : undefined };
}

function unexpected(): AgentError {
  return new AgentError("bad_peer", "the peer's artifact store answered in an unexpected form", { sent: "maybe" });
}

const CODES: { readonly [status: number]: AgentError["code"] } = {
  400: "invalid_message",
  401: "unauthenticated",
  403: "forbidden",
  404: "interrupted", // the upload is gone: it begins again
  413: "too_large",
  429: "overloaded",
  503: "unavailable",
};

function refusedBy(status: number, value: unknown): AgentError {
  const { reason, message } = errorIn(value);
  const code = reason === "overloaded" ? reason : (CODES[status] ?? "bad_peer");
  const said = typeof message === "string" ? message.slice(0, SAID_CHARS) : `status ${status}`;
  return new AgentError(code, `the peer's artifact store refused the upload: ${said}`, { sent: "maybe", status });
}

/** The error of a Koine response. */
function errorIn(value: unknown): JsonObject {
  const error = isObject(value) ? value["error"] : undefined;
  return isObject(error) ? (error as JsonObject) : {}; // it was JSON
}
