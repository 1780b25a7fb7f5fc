import type { Admitted, Awaitable, Call, Cancel, Maybe } from "../envelope/index.js";
import type { Connection, HttpHeaders, HttpRequest, RequestSigner } from "./exchange.js";
import { type JsonLimits, readJson } from "./json.js";
import { DEFAULT_LIMITS } from "./limits.js";

export interface RequestStart {
  readonly method: string;
  /** The absolute URL. */
  readonly url: string;
  /** Lower-case names. */
  readonly headers?: Maybe<HttpHeaders>;
  readonly body?: Maybe<Uint8Array | string>;
  /** The call that sends the request; also the default of `cancel`. */
  readonly call?: Maybe<Call>;
  readonly cancel?: Maybe<Cancel>;
  readonly connection?: Maybe<Connection>;
  /** Signs the final request. */
  readonly signer?: Maybe<RequestSigner>;
  /** Limits of `json()`. Default: `DEFAULT_LIMITS`. */
  readonly limits?: Maybe<JsonLimits>;
}

const NO_HEADERS: HttpHeaders = Object.freeze({});
const NO_BODY = new Uint8Array(0);
const encoder = new TextEncoder();
/** Node's `Buffer`, where there is one: it takes the bytes from a pool, for a quarter of the time, and connections write nothing else. */
const native = (globalThis as { readonly Buffer?: { from(text: string): Uint8Array } }).Buffer;

/** A cancel that never fires. */
export const NEVER: Cancel = Object.freeze({
  cancelled: false,
  reason: undefined,
  cancel: () => undefined,
  onCancel: () => () => undefined,
});

/** The connection of in-process requests. */
export const IN_PROCESS: Connection = Object.freeze({ remote: "memory", secure: true, loopback: true });

/** Creates an outgoing request, for links and tests. */
export function makeRequest(start: RequestStart): HttpRequest {
  return new MadeRequest(start);
}

/** A copy with other headers, another address or a signer. It belongs to the same call. */
export function changeRequest(
  request: HttpRequest,
  change: { readonly url?: string; readonly headers?: HttpHeaders; readonly signer?: Maybe<RequestSigner> },
): HttpRequest {
  const { method, target, headers, body, call, cancel, connection, signer } = request;
  return new MadeRequest({
    method,
    url: change.url ?? target,
    headers: change.headers ?? headers,
    body,
    call,
    cancel,
    connection,
    signer: "signer" in change ? change.signer : signer,
  });
}

/** Members are derived on demand. */
class MadeRequest implements HttpRequest {
  readonly method: string;
  readonly target: string;
  readonly headers: HttpHeaders;
  readonly body: Uint8Array;
  readonly connection: Connection;
  call: Maybe<Call>;
  admitted: Maybe<Awaitable<Admitted>> = undefined;
  readonly cancel: Cancel;
  readonly signer: Maybe<RequestSigner>;
  readonly #limits: JsonLimits;
  #json: unknown;
  #parsed = false;

  constructor(start: RequestStart) {
    this.method = start.method;
    this.target = start.url;
    this.headers = start.headers ?? NO_HEADERS;
    this.body = typeof start.body === "string" ? encoded(start.body) : (start.body ?? NO_BODY);
    this.connection = start.connection ?? IN_PROCESS;
    this.call = start.call;
    this.cancel = start.cancel ?? start.call?.cancel ?? NEVER;
    this.signer = start.signer;
    this.#limits = start.limits ?? DEFAULT_LIMITS;
  }

  get path(): string {
    return splitTarget(this.target).path;
  }

  get query(): string {
    return splitTarget(this.target).query;
  }

  get rawHeaders(): readonly string[] {
    return Object.entries(this.headers).flatMap(([name, value]) => (value === undefined ? [] : [name, value]));
  }

  json(): unknown {
    if (!this.#parsed) {
      this.#json = readJson(this.body, this.#limits);
      this.#parsed = true;
    }
    return this.#json;
  }
}

function encoded(text: string): Uint8Array {
  return native === undefined ? encoder.encode(text) : native.from(text);
}

/** The address of a session as the HTTP address that it is opened at: `ws:` is `http:`, `wss:` is `https:`. */
export function httpAddress(url: string): string {
  // Nearly every address begins with another letter.
  return (url.charCodeAt(0) | 0x20) === 0x77 && /^wss?:\/\//i.test(url) ? `http${url.slice(2)}` : url;
}

export interface Target {
  /** Scheme and authority; empty for a target in origin form. */
  readonly origin: string;
  readonly path: string;
  readonly query: string;
}

/** Splits an address into its parts without decoding, normalising or checking. */
export function splitTarget(target: string): Target {
  const scheme = target.charCodeAt(0) === 0x2f ? -1 : target.indexOf("://");
  const authority = scheme === -1 ? 0 : scheme + 3;
  const hash = target.indexOf("#", authority);
  const end = hash === -1 ? target.length : hash;
  const mark = target.indexOf("?", authority);
  const query = mark === -1 || mark > end ? end : mark;
  const slash = target.indexOf("/", authority);
  const path = slash === -1 || slash > query ? query : slash;
  if (scheme === -1) return { origin: "", path: target.slice(0, query), query: target.slice(query + 1, end) };
  return { origin: target.slice(0, path), path: target.slice(path, query) || "/", query: target.slice(query + 1, end) };
}
