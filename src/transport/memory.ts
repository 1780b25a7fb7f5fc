import { AgentError, CancelSource, type Maybe } from "../envelope/index.js";
import { bytesOf, isEventStream, wholeBody } from "./body.js";
import { type Chunk, type Exchange, type HttpRequest, type HttpResponse, type Intake, isStream, type Link } from "./exchange.js";
import { answerRequest, intakeOf } from "./intake.js";
import { DEFAULT_LIMITS, type Limits } from "./limits.js";
import { MemoryRequest } from "./memory-request.js";
import { MemorySessions } from "./memory-sessions.js";
import { foreignEncoding, refuseEncoding, refuseFailed } from "./refusal.js";
import { exchangeSigned } from "./sign.js";

export interface MemoryOptions {
  readonly limits?: Maybe<Limits>;
  /** Receives errors of the server side; the client only sees a 500 or a cut stream. */
  readonly onError?: Maybe<(thrown: unknown) => void>;
}

/** Connects a protocol client to a server without a socket, with the same limits, refusals and cuts. */
export function memoryLink(server: Exchange | Intake, options: MemoryOptions = {}): Link {
  const limits = options.limits ?? DEFAULT_LIMITS;
  const intake = intakeOf(server, limits);
  const sessions =
    intake.upgrade === undefined ? undefined : new MemorySessions(intake, limits, (thrown) => options.onError?.(thrown));
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
      const response = await orCancelled(answer(request, call), call);
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

  async function answer(request: HttpRequest, cancel: CancelSource): Promise<HttpResponse> {
    try {
      const { body } = request;
      return await answerRequest(intake, new MemoryRequest(request, cancel, limits), limits, (maxBytes) =>
        body.length > maxBytes ? undefined : body,
      );
    } catch (thrown) {
      options.onError?.(thrown);
      return refuseFailed();
    }
  }

  async function drain(): Promise<void> {
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

  async function close(): Promise<void> {
    closing = true;
    await Promise.all([drain(), sessions?.close()]);
  }

  const exchange: Exchange = (request) => (request.signer === undefined ? carry(request) : exchangeSigned(request, carry));
  if (sessions === undefined) return { exchange, close };
  return { exchange, open: (request, subprotocols) => sessions.open(request, subprotocols), close };
}

async function completeResponse(response: HttpResponse, limits: Limits): Promise<HttpResponse> {
  try {
    return { ...head(response), body: await wholeBody(response.body, limits.bodyBytes), jsonLimits: limits };
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
