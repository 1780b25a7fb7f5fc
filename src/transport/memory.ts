import { AgentError, CancelSource, type Maybe } from "../envelope/index.js";
import { bytesOf, isEventStream, wholeBody } from "./body.js";
import {
  type Chunk,
  type Exchange,
  type HttpHeaders,
  type HttpRequest,
  type HttpResponse,
  isStream,
  type Link,
} from "./exchange.js";
import { DEFAULT_LIMITS, type Limits } from "./limits.js";
import { foreignEncoding, refuseEncoding, refuseFailed, refuseTooLarge } from "./refusal.js";
import { IN_PROCESS, makeRequest, splitTarget } from "./request.js";

export interface MemoryOptions {
  readonly limits?: Maybe<Limits>;
  /** Receives errors of the server side; the client only sees a 500 or a cut stream. */
  readonly onError?: Maybe<(thrown: unknown) => void>;
}

/** Connects a protocol client to a server without a socket, with the same limits, refusals and cuts. */
export function memoryLink(exchange: Exchange, options: MemoryOptions = {}): Link {
  const limits = options.limits ?? DEFAULT_LIMITS;
  const live = new Set<CancelSource>();
  let closing = false;
  let drained: (() => void) | undefined;

  function ended(call: CancelSource): void {
    live.delete(call);
    if (live.size === 0) drained?.();
  }

  async function carry(request: HttpRequest): Promise<HttpResponse> {
    if (closing) throw new AgentError("unavailable", "the link is closed", { sent: "no" });
    if (request.cancel.reason !== undefined) throw request.cancel.reason;
    if (request.body.length > limits.bodyBytes) return completeResponse(refuseTooLarge(limits.bodyBytes), limits);
    const encoding = foreignEncoding(request.headers);
    if (encoding !== undefined) return completeResponse(refuseEncoding(encoding), limits);

    const call = new CancelSource();
    live.add(call);
    const off = request.cancel.onCancel((reason) => call.cancel(reason));
    const end = (): void => {
      off();
      ended(call);
    };
    try {
      const response = await orCancelled(answer(exchange, serverRequest(request, call, limits), options.onError), call);
      if (isStream(response.body) && isStreamed(response.headers["content-type"])) {
        return { ...head(response), body: new MemoryStream(response.body, call, end) };
      }
      const collected = await orCancelled(completeResponse(response, limits), call);
      end();
      return collected;
    } catch (thrown) {
      end();
      throw thrown;
    }
  }

  async function close(): Promise<void> {
    closing = true;
    if (live.size === 0) return;
    const all = new Promise<void>((resolve) => {
      drained = resolve;
    });
    const timer = setTimeout(() => {
      for (const call of live) call.cancel(new AgentError("interrupted", "the link was closed", { sent: "maybe" }));
      drained?.();
    }, limits.drainMs);
    await all;
    clearTimeout(timer);
  }

  return { exchange: carry, close };
}

/** The request as the server sees it: with its own cancel and connection and the headers of a socket. */
function serverRequest(request: HttpRequest, cancel: CancelSource, limits: Limits): HttpRequest {
  const headers: HttpHeaders = {
    host: splitTarget(request.target).origin.replace(/^.*:\/\//, ""),
    ...request.headers,
    ...(request.body.length > 0 ? { "content-length": String(request.body.length) } : undefined),
  };
  const { method, target: url, body } = request;
  return makeRequest({ method, url, headers, body, cancel, connection: IN_PROCESS, jsonDepth: limits.jsonDepth });
}

async function answer(exchange: Exchange, request: HttpRequest, onError: MemoryOptions["onError"]): Promise<HttpResponse> {
  try {
    return await exchange(request);
  } catch (thrown) {
    onError?.(thrown);
    return refuseFailed();
  }
}

async function completeResponse(response: HttpResponse, limits: Limits): Promise<HttpResponse> {
  try {
    return { ...head(response), body: await wholeBody(response.body, limits.bodyBytes) };
  } catch (thrown) {
    if (thrown instanceof AgentError && thrown.code === "too_large") throw thrown;
    throw cut(thrown);
  }
}

/** Everything but the body. Trailers are read after the body has ended. */
function head(response: HttpResponse): Omit<HttpResponse, "body"> {
  const { status, headers } = response;
  return response.trailers === undefined ? { status, headers } : { status, headers, trailers: () => response.trailers?.() ?? {} };
}

/** Media types that are read as a stream, as over a socket. */
function isStreamed(contentType: string | undefined): boolean {
  return isEventStream(contentType) || contentType?.startsWith("application/grpc") === true;
}

function orCancelled<T>(work: Promise<T>, call: CancelSource): Promise<T> {
  return new Promise((resolve, reject) => {
    const off = call.onCancel(reject);
    work.then(resolve, reject).finally(off);
  });
}

function cut(cause: unknown): AgentError {
  return new AgentError("interrupted", "the response was cut short", { sent: "maybe", cause });
}

/** Streams chunk by chunk, never ahead of the reader. */
class MemoryStream implements AsyncIterableIterator<Uint8Array> {
  readonly #inner: AsyncIterator<Chunk>;
  readonly #call: CancelSource;
  readonly #end: () => void;
  #ended = false;
  #returned = false;

  constructor(body: AsyncIterable<Chunk>, call: CancelSource, end: () => void) {
    this.#inner = body[Symbol.asyncIterator]();
    this.#call = call;
    this.#end = end;
    call.onCancel(() => this.#stop());
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<Uint8Array, undefined>> {
    if (this.#call.reason !== undefined && !this.#returned) throw this.#call.reason;
    if (this.#ended) return { done: true, value: undefined };
    try {
      const step = await orCancelled(this.#inner.next(), this.#call);
      if (step.done !== true) return { done: false, value: bytesOf(step.value) };
    } catch (thrown) {
      const reason = this.#call.reason ?? cut(thrown);
      this.#finish();
      throw reason;
    }
    this.#finish();
    return { done: true, value: undefined };
  }

  async return(): Promise<IteratorResult<Uint8Array, undefined>> {
    this.#returned = true;
    if (!this.#ended) {
      this.#stop();
      this.#call.cancel(new AgentError("cancelled", "the reader stopped reading"));
    }
    return { done: true, value: undefined };
  }

  /** Not awaited: a suspended generator settles `return()` only when its wait ends. */
  #stop(): void {
    if (this.#ended) return;
    this.#finish();
    this.#inner.return?.().catch(() => undefined);
  }

  #finish(): void {
    this.#ended = true;
    this.#end();
  }
}
