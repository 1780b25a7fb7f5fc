import type { ClientHttp2Session, ClientHttp2Stream, IncomingHttpHeaders, IncomingHttpStatusHeader } from "node:http2";
import { AgentError } from "../../envelope/index.js";
import type { HttpHeaders, HttpRequest, HttpResponse } from "../exchange.js";
import { splitTarget } from "../request.js";
import { ByteStream } from "./byte-stream.js";
import { bodyTimedOut, headersTimedOut, type Progress } from "./connection-problem.js";
import { addFields, ordinaryFields } from "./http2-fields.js";
import { http2Problem } from "./http2-problem.js";
import { http2 } from "./lazy-module.js";
import type { CallOptions } from "./pool-call.js";

/** What a call needs from its connection. */
export interface Http2CallContext {
  readonly session: ClientHttp2Session;
  /** The last stream id that the peer processed (GOAWAY); unbounded until it is known. */
  readonly lastProcessed: number;
}

/** One request on one HTTP/2 stream. Its response is always streamed. Never sends twice. */
export class Http2Call {
  readonly #request: HttpRequest;
  readonly #options: CallOptions;
  readonly #resolve: (response: HttpResponse) => void;
  readonly #reject: (error: AgentError) => void;
  readonly #off: () => void;
  #timer: NodeJS.Timeout;
  #progress: Progress = "waiting";
  #stream: ClientHttp2Stream | undefined;
  #body: ByteStream | undefined;
  #cause: unknown;
  ended = false;
  /** Called if the call ends before it has a connection. */
  onAbandoned: (() => void) | undefined;

  constructor(
    request: HttpRequest,
    options: CallOptions,
    resolve: (response: HttpResponse) => void,
    reject: (error: AgentError) => void,
  ) {
    this.#request = request;
    this.#options = options;
    this.#resolve = resolve;
    this.#reject = reject;
    this.#timer = setTimeout(() => this.#onTimeout(), options.headersTimeoutMs);
    this.#off = request.cancel.onCancel((reason) => this.abort(reason));
  }

  /** Writes the request. `freed` is called when the stream is closed. */
  begin(connection: Http2CallContext, onFreed: () => void): void {
    const { body } = this.#request;
    let stream: ClientHttp2Stream;
    try {
      stream = connection.session.request(headOf(this.#request), { endStream: body.length === 0 });
    } catch (cause) {
      onFreed();
      this.fail(notWritten(cause, this.#options.host));
      return;
    }
    this.#stream = stream;
    this.#progress = "written";
    this.#timer.refresh();
    stream.on("response", (fields) => this.#answered(fields));
    stream.on("data", (piece: Buffer) => this.#onData(piece));
    stream.on("end", () => this.#complete());
    stream.on("error", (error) => {
      this.#cause = error;
    });
    stream.on("close", () => {
      onFreed();
      this.#closed(connection);
    });
    if (body.length > 0) stream.end(body);
  }

  /** Ends the call and its stream: the caller cancelled or the reader stopped. */
  abort(reason: AgentError): void {
    if (this.ended) return;
    this.#stream?.close(http2().constants.NGHTTP2_CANCEL);
    this.fail(reason);
  }

  fail(error: AgentError): void {
    if (this.ended) return;
    this.#end();
    if (this.#body !== undefined) this.#body.fail(error);
    else this.#reject(error);
  }

  #answered(fields: IncomingHttpHeaders & IncomingHttpStatusHeader): void {
    if (this.ended) return;
    this.#progress = "answered";
    const stream = this.#stream;
    const body = new ByteStream(
      () => stream?.resume(),
      () => this.abort(new AgentError("cancelled", "the reader stopped reading")),
    );
    this.#body = body;
    let trailers: Record<string, string> = {};
    stream?.on("trailers", (received: IncomingHttpHeaders) => {
      trailers = ordinaryFields(received);
    });
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#onTimeout(), this.#options.bodyIdleMs);
    this.#resolve(new Http2Answer(fields, body, () => trailers));
  }

  #onData(piece: Buffer): void {
    // Events that arrive after the call was abandoned.
    if (this.ended) return;
    this.#timer.refresh();
    if (this.#body?.push(piece) === false) this.#stream?.pause();
  }

  /** Also called when a connection breaks without an error; the stream then has a code. */
  #complete(): void {
    if (this.ended || this.#body === undefined || (this.#stream?.rstCode ?? 0) !== http2().constants.NGHTTP2_NO_ERROR) return;
    this.#end();
    this.#body.end();
  }

  #closed(connection: Http2CallContext): void {
    if (this.ended) return;
    const { id = 0, rstCode } = this.#stream ?? { rstCode: http2().constants.NGHTTP2_INTERNAL_ERROR };
    const untouched = this.#progress === "written" && id > connection.lastProcessed;
    this.fail(http2Problem(rstCode, this.#options.host, { progress: this.#progress, untouched, cause: this.#cause }));
  }

  /** One timer for three waits: for a connection, for the response head, and for more of the body. */
  #onTimeout(): void {
    const { host, headersTimeoutMs, bodyIdleMs } = this.#options;
    if (this.#progress === "waiting") {
      this.abort(new AgentError("overloaded", `${host} had no free stream within ${headersTimeoutMs} ms`, { sent: "no" }));
    } else if (this.#progress === "written") this.abort(headersTimedOut(host, headersTimeoutMs));
    else if (this.#stream?.isPaused() === true) this.#timer.refresh();
    else this.abort(bodyTimedOut(host, bodyIdleMs));
  }

  #end(): void {
    this.ended = true;
    clearTimeout(this.#timer);
    this.#off();
    if (this.#progress === "waiting") this.onAbandoned?.();
    this.#options.ended();
  }
}

/** Fields are parsed on demand. */
class Http2Answer implements HttpResponse {
  readonly status: number;
  readonly #fields: IncomingHttpHeaders;
  #headers: HttpHeaders | undefined;

  constructor(
    fields: IncomingHttpHeaders & IncomingHttpStatusHeader,
    readonly body: AsyncIterable<Uint8Array>,
    readonly trailers: () => { readonly [name: string]: string },
  ) {
    this.status = fields[":status"] ?? 0;
    this.#fields = fields;
  }

  get headers(): HttpHeaders {
    this.#headers ??= ordinaryFields(this.#fields);
    return this.#headers;
  }
}

function headOf(request: HttpRequest): ReturnType<typeof addFields> {
  const { origin, path, query } = splitTarget(request.target);
  const mark = origin.indexOf("://");
  const { host, ...fields } = request.headers;
  return addFields(
    {
      ":method": request.method,
      ":scheme": origin.slice(0, mark),
      ":authority": host ?? origin.slice(mark + 3),
      ":path": query === "" ? path : `${path}?${query}`,
    },
    fields,
  );
}

function notWritten(cause: unknown, host: string): AgentError {
  const code = cause instanceof Error && "code" in cause ? String(cause.code) : "";
  if (/SESSION|GOAWAY/.test(code)) {
    return new AgentError("unavailable", `the connections to ${host} were closed (${code})`, { sent: "no", cause });
  }
  const message = cause instanceof Error ? cause.message : code;
  return new AgentError("encode", `this request is not valid HTTP: ${message}`, { sent: "no", cause });
}
