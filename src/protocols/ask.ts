import { AgentError, CancelSource, type Maybe } from "../envelope/index.js";
import { wholeBody } from "../transport/body.js";
import { type Chunk, type HttpRequest, isStream } from "../transport/exchange.js";
import { readJson } from "../transport/json.js";
import { DEFAULT_LIMITS } from "../transport/limits.js";
import { changeRequest, makeRequest } from "../transport/request.js";
import { exchangeSigned } from "../transport/sign.js";
import type { Subject } from "./requirement.js";

/** A raw request, independent of the protocol clients of this library. */
export interface RawRequest {
  readonly method: string;
  readonly url: string;
  readonly headers?: Maybe<{ readonly [name: string]: Maybe<string> }>;
  readonly body?: Maybe<string | Uint8Array>;
  /** Omits the subject's headers, including credentials. */
  readonly anonymous?: Maybe<boolean>;
}

/** A complete response. */
export interface RawResponse {
  readonly status: number;
  readonly headers: { readonly [name: string]: Maybe<string> };
  readonly bytes: Uint8Array;
  readonly text: string;
  /** Undefined if the text is not JSON. */
  readonly json: unknown;
  readonly trailers: { readonly [name: string]: Maybe<string> };
}

/** A response whose body is not read yet. */
export interface OpenResponse {
  readonly status: number;
  readonly headers: { readonly [name: string]: Maybe<string> };
  readonly chunks: AsyncIterable<Chunk>;
  /** Complete after the last chunk was read. */
  trailers(): { readonly [name: string]: Maybe<string> };
  close(): void;
}

const ANSWER_BYTES = DEFAULT_LIMITS.bodyBytes;
const ANSWER_LIMITS = { jsonDepth: 256, jsonValues: DEFAULT_LIMITS.jsonValues };

/** Sends a request and reads the complete response, within a size limit. */
export async function ask(subject: Subject, request: RawRequest): Promise<RawResponse> {
  return whole(await open(subject, request));
}

/** Sends a request and returns as soon as the response head arrives. */
export function open(subject: Subject, request: RawRequest): Promise<OpenResponse> {
  return begin(subject, request).opened;
}

/** Like `open`, for checks that may cancel the request before the response head arrives. */
export function begin(subject: Subject, request: RawRequest): { readonly opened: Promise<OpenResponse>; close(): void } {
  const made = write(subject, request);
  const close = (): void => made.cancel.cancel(new AgentError("cancelled", "cancelled by the conformance check"));
  return { opened: answerTo(subject, made, close), close };
}

async function answerTo(subject: Subject, made: HttpRequest, close: () => void): Promise<OpenResponse> {
  const response = await exchangeSigned(made, (final) => subject.exchange(changeRequest(final, { signer: undefined })));
  const { body, status } = response;
  return {
    status,
    headers: lowerCase(response.headers),
    chunks: isStream(body) ? body : once(body),
    trailers: () => response.trailers?.() ?? {},
    close,
  };
}

/** Reads the rest of a response, within the size limit. */
export async function whole(opened: OpenResponse): Promise<RawResponse> {
  const bytes = await wholeBody(opened.chunks, ANSWER_BYTES);
  const text = new TextDecoder().decode(bytes);
  const { status, headers } = opened;
  return { status, headers, bytes, text, json: parse(bytes), trailers: opened.trailers() };
}

function write(subject: Subject, { method, url, body, headers: own, anonymous }: RawRequest): HttpRequest {
  const headers: { [name: string]: string } = anonymous ? {} : { ...subject.headers };
  for (const [name, value] of Object.entries(own ?? {})) if (value !== undefined) headers[name] = value;
  const signer = anonymous === true ? undefined : subject.signer;
  return makeRequest({ method, url, headers, body, cancel: new CancelSource(), signer });
}

function lowerCase(headers: RawResponse["headers"]): RawResponse["headers"] {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

async function* once(body: Maybe<Chunk>): AsyncGenerator<Chunk> {
  if (body !== undefined) yield body;
}

function parse(bytes: Uint8Array): unknown {
  try {
    return readJson(bytes, ANSWER_LIMITS);
  } catch {
    return undefined;
  }
}
