import { AgentError, CancelSource, type Maybe } from "../envelope/index.js";
import { ByteCollector, bytesOf } from "./body.js";
import {
  type Chunk,
  type Connection,
  type Exchange,
  type HttpHeaders,
  type HttpResponse,
  type Intake,
  isStream,
} from "./exchange.js";
import { FieldMap } from "./field-map.js";
import { answerRequest, intakeOf } from "./intake.js";
import type { JsonLimits } from "./json.js";
import { DEFAULT_LIMITS, type Limits } from "./limits.js";
import {
  belowBase,
  bodyConsumed,
  foreignEncoding,
  refuseConsumed,
  refuseEncoding,
  refuseFailed,
  refuseOutside,
  refuseOverloaded,
} from "./refusal.js";
import { splitTarget } from "./request.js";
import { ServerRequest } from "./server-request.js";

type WebRequest = globalThis.Request;
type WebResponse = globalThis.Response;

export interface FetchHandlerOptions {
  readonly limits?: Maybe<Limits>;
  /** The mount point; the exchange sees the path below it. */
  readonly basePath?: Maybe<string>;
  /** Connection facts, if the host knows them. A web request has none, so by default no caller counts as loopback. */
  readonly connectionOf?: Maybe<(request: WebRequest) => Connection>;
  readonly onError?: Maybe<(thrown: unknown) => void>;
}

/**
 * An exchange as a fetch handler, for Hono, Next and similar runtimes. It has no trailers, client certificates or sockets; time
 * limits and shutdown are the host's.
 */
export function fetchHandler(
  server: Exchange | Intake,
  options: FetchHandlerOptions = {},
): (request: WebRequest) => Promise<WebResponse> {
  const limits = options.limits ?? DEFAULT_LIMITS;
  const intake = intakeOf(server, limits);
  const basePath = options.basePath ?? "";
  let openStreams = 0;

  async function answer(web: WebRequest, cancel: CancelSource): Promise<HttpResponse> {
    const path = belowBase(splitTarget(web.url).path, basePath);
    if (path === undefined) return refuseOutside(basePath);
    const headers = headersOf(web);
    const encoding = foreignEncoding(headers);
    if (encoding !== undefined) return refuseEncoding(encoding);
    if (web.bodyUsed) {
      options.onError?.(bodyConsumed());
      return refuseConsumed();
    }
    const connection = options.connectionOf?.(web) ?? unknownConnection(web.url);
    const request = new WebIncoming({ web, path, headers, connection, cancel, limits });
    return answerRequest(intake, request, limits, (maxBytes) => readBody(web, maxBytes));
  }

  return async function handle(web: WebRequest): Promise<WebResponse> {
    const cancel = new CancelSource();
    const onAbort = (): void => cancel.cancel(new AgentError("cancelled", "the caller disconnected"));
    if (web.signal.aborted) onAbort();
    else web.signal.addEventListener("abort", onAbort, { once: true });
    try {
      const response = await answer(web, cancel);
      const { body } = response;
      if (!isStream(body)) return toWeb(response, body);
      if (openStreams >= limits.openStreams) {
        await body[Symbol.asyncIterator]().return?.();
        const refusal = refuseOverloaded();
        return toWeb(refusal, refusal.body as string); // refusals are complete texts
      }
      openStreams++;
      return toWeb(
        response,
        webStream(body, { cancel, idle: response.idle, onError: options.onError, done: () => openStreams-- }),
      );
    } catch (thrown) {
      options.onError?.(thrown);
      const refusal = refuseFailed();
      return toWeb(refusal, refusal.body as string); // refusals are complete texts
    }
  };
}

interface WebStart {
  readonly web: WebRequest;
  readonly path: string;
  readonly headers: HttpHeaders;
  readonly connection: Connection;
  readonly cancel: CancelSource;
  readonly limits: JsonLimits;
}

class WebIncoming extends ServerRequest {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly target: string;
  readonly headers: HttpHeaders;
  readonly connection: Connection;
  readonly cancel: CancelSource;
  readonly #web: WebRequest;

  constructor(start: WebStart) {
    super(start.limits, start.web.body !== null);
    this.#web = start.web;
    this.method = start.web.method;
    this.path = start.path;
    this.query = splitTarget(start.web.url).query;
    this.target = start.web.url;
    this.headers = start.headers;
    this.connection = start.connection;
    this.cancel = start.cancel;
  }

  get rawHeaders(): readonly string[] {
    return [...this.#web.headers].flat();
  }
}

function headersOf(web: WebRequest): HttpHeaders {
  const headers = new FieldMap();
  for (const [name, value] of web.headers) headers[name] = value;
  return headers;
}

function unknownConnection(url: string): Connection {
  return { remote: "", secure: url.startsWith("https:"), loopback: false };
}

/** Undefined if the body exceeds the limit. */
async function readBody(web: WebRequest, maxBytes: number): Promise<Uint8Array | undefined> {
  if (Number(web.headers.get("content-length")) > maxBytes) return undefined;
  const reader = web.body?.getReader();
  const collected = new ByteCollector(maxBytes);
  while (reader !== undefined) {
    const { done, value } = await reader.read();
    if (done) break;
    if (!collected.add(value)) {
      await reader.cancel();
      return undefined;
    }
  }
  return collected.whole();
}

function toWeb(response: HttpResponse, body: Maybe<Chunk> | ReadableStream<Uint8Array>): WebResponse {
  const headers = new globalThis.Headers();
  for (const [name, value] of Object.entries(response.headers)) {
    if (value !== undefined && name !== "connection") headers.set(name, value);
  }
  const { status } = response;
  // The platform forbids content for these statuses.
  const content = status === 204 || status === 304 ? null : (body ?? null);
  return new globalThis.Response(content as ReadableStream | string | null, { status, headers }); // bytes are content too; two typings of one buffer disagree
}

interface WebStreamOptions {
  readonly cancel: CancelSource;
  readonly idle: HttpResponse["idle"];
  readonly onError: FetchHandlerOptions["onError"];
  done(): void;
}

/** Pulls a chunk when the reader has room; a failure errors the stream, so that it never looks complete. */
function webStream(body: AsyncIterable<Chunk>, options: WebStreamOptions): ReadableStream<Uint8Array> {
  const iterator = body[Symbol.asyncIterator]();
  const { idle } = options;
  let timer: ReturnType<typeof setInterval> | undefined;
  let ended = false;

  function finish(): void {
    if (ended) return;
    ended = true;
    clearInterval(timer);
    options.done();
  }

  function stop(): void {
    finish();
    iterator.return?.().catch(() => undefined);
  }

  return new ReadableStream<Uint8Array>({
    start(controller) {
      options.cancel.onCancel(stop);
      if (idle === undefined) return;
      timer = setInterval(() => {
        if ((controller.desiredSize ?? 0) > 0) controller.enqueue(bytesOf(idle.chunk));
      }, idle.everyMs);
    },
    async pull(controller) {
      try {
        const step = await iterator.next();
        if (step.done !== true) {
          controller.enqueue(bytesOf(step.value));
          return;
        }
        finish();
        controller.close();
      } catch (thrown) {
        if (!ended) options.onError?.(thrown);
        finish();
        controller.error(thrown);
      }
    },
    cancel() {
      stop();
      options.cancel.cancel(new AgentError("cancelled", "the caller disconnected"));
    },
  });
}
