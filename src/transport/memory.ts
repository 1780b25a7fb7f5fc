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
  /** What the server side threw; its caller only sees a 500 or a cut stream. */
  readonly onError?: Maybe<(thrown: unknown) => void>;
}

/** Plugs a client half into a server half without a socket, with the same limits, refusals and cuts as one. */
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
    if (request.body.length > limits.bodyBytes) return whole(refuseTooLarge(limits.bodyBytes), limits);
    const encoding = foreignEncoding(request.headers);
    if (encoding !== undefined) return whole(refuseEncoding(encoding), limits);

    const call = new CancelSource();
    live.add(call);
    const off = request.cancel.onCancel((reason) => call.cancel(reason));
    const end = (): void => {
      off();
      ended(call);
    };
    try {
      const response = await orCancelled(answer(exchange, arriving(request, call, limits), options.onError), call);
      if (isStream(response.body) && comesInPieces(response.headers["content-type"])) {
        return { ...head(response), body: new MemoryStream(response.body, call, end) };
      }
      const collected = await orCancelled(whole(response, limits), call);
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

/** The request as the server side sees it: its own cancel, its own connection, the headers a socket would have shown. */
function arriving(request: HttpRequest, cancel: CancelSource, limits: Limits): HttpRequest {
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

async function whole(response: HttpResponse, limits: Limits): Promise<HttpResponse> {
  try {
    return { ...head(response), body: await wholeBody(response.body, limits.bodyBytes) };
  } catch (thrown) {
    if (thrown instanceof AgentError && thrown.code === "too_large") throw thrown;
    throw cut(thrown);
  }
}

/** Everything but the body. The trailers are asked for when the body has ended. */
function head(response: HttpResponse): Omit<HttpResponse, "body"> {
  const { status, headers } = response;
  return response.trailers === undefined ? { status, headers } : { status, headers, trailers: () => response.trailers?.() ?? {} };
}

/** The media types that are read as they come, as over a socket. */
function comesInPieces(contentType: string | undefined): boolean {
  return isEventStream(contentType) || contentType?.startsWith("application/grpc") === true;
}

function orCancelled<T>(work: Promise<T>, call: CancelSource): Promise<T> {
  return new Promise((resolve, reject) => {
    const off = call.onCancel(reject);
    work.then(resolve, reject).finally(off);
  });
}

function cut(cause: unknown): AgentError {
  return new AgentError("interrupted", "the answer was cut short", { sent: "maybe", cause });
}

/** Chunk by chunk, never ahead of its reader. */
class MemoryStream implements AsyncIterableIterator<Uint8Array> {
  readonly #inner: AsyncIterator<Chunk>;
  readonly #call: CancelSource;
  readonly #end: () => void;
  #over = false;
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
    if (this.#over) return { done: true, value: undefined };
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
    if (!this.#over) {
      this.#stop();
      this.#call.cancel(new AgentError("cancelled", "the reader stopped reading"));
    }
    return { done: true, value: undefined };
  }

  /** Not awaited: a generator that waits settles its `return()` only when the wait ends. */
  #stop(): void {
    if (this.#over) return;
    this.#finish();
    this.#inner.return?.().catch(() => undefined);
  }

  #finish(): void {
    this.#over = true;
    this.#end();
  }
}
