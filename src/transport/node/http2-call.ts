import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  constants,
  type IncomingHttpHeaders,
  type IncomingHttpStatusHeader,
} from "node:http2";
import { AgentError } from "../../envelope/index.js";
import type { HttpHeaders, HttpRequest, HttpResponse } from "../exchange.js";
import { splitTarget } from "../request.js";
import { ByteStream } from "./byte-stream.js";
import { fellSilent, noAnswer, type Progress } from "./connection-problem.js";
import { addFields, ordinaryFields } from "./http2-fields.js";
import { http2Problem } from "./http2-problem.js";
import type { CallOptions } from "./pool-call.js";

/** What a call needs of the connection that carries it. */
export interface Http2CallContext {
  readonly session: ClientHttp2Session;
  /** The last stream that the peer says it looked at; without bound until it says so. */
  readonly lastTaken: number;
}

/** One request on one HTTP/2 stream. Its answer is always read as it comes. Never sends a second time. */
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
  over = false;
  /** The call is over before it had a connection. */
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
    this.#timer = setTimeout(() => this.#late(), options.headersTimeoutMs);
    this.#off = request.cancel.onCancel((reason) => this.giveUp(reason));
  }

  /** Writes the request. `freed` is called when the stream is gone. */
  begin(carriage: Http2CallContext, freed: () => void): void {
    const { body } = this.#request;
    let stream: ClientHttp2Stream;
    try {
      stream = carriage.session.request(headOf(this.#request), { endStream: body.length === 0 });
    } catch (cause) {
      freed();
      this.fail(notWritten(cause, this.#options.host));
      return;
    }
    this.#stream = stream;
    this.#progress = "written";
    this.#timer.refresh();
    stream.on("response", (fields) => this.#answered(fields));
    stream.on("data", (piece: Buffer) => this.#take(piece));
    stream.on("end", () => this.#complete());
    stream.on("error", (error) => {
      this.#cause = error;
    });
    stream.on("close", () => {
      freed();
      this.#closed(carriage);
    });
    if (body.length > 0) stream.end(body);
  }

  /** The caller's cancel, or a reader that stopped: ends the call now, and the stream with it. */
  giveUp(reason: AgentError): void {
    if (this.over) return;
    this.#stream?.close(constants.NGHTTP2_CANCEL);
    this.fail(reason);
  }

  fail(error: AgentError): void {
    if (this.over) return;
    this.#end();
    if (this.#body !== undefined) this.#body.fail(error);
    else this.#reject(error);
  }

  #answered(fields: IncomingHttpHeaders & IncomingHttpStatusHeader): void {
    if (this.over) return;
    this.#progress = "answered";
    const stream = this.#stream;
    const body = new ByteStream(
      () => stream?.resume(),
      () => this.giveUp(new AgentError("cancelled", "the reader stopped reading")),
    );
    this.#body = body;
    let trailers: Record<string, string> = {};
    stream?.on("trailers", (received: IncomingHttpHeaders) => {
      trailers = ordinaryFields(received);
    });
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#late(), this.#options.bodyIdleMs);
    this.#resolve(new Http2Answer(fields, body, () => trailers));
  }

  #take(piece: Buffer): void {
    // What was under way when the call was given up.
    if (this.over) return;
    this.#timer.refresh();
    if (this.#body?.push(piece) === false) this.#stream?.pause();
  }

  /** Also said when a connection breaks without a word; then the stream has a code. */
  #complete(): void {
    if (this.over || this.#body === undefined || (this.#stream?.rstCode ?? 0) !== constants.NGHTTP2_NO_ERROR) return;
    this.#end();
    this.#body.end();
  }

  #closed(carriage: Http2CallContext): void {
    if (this.over) return;
    const { id = 0, rstCode } = this.#stream ?? { rstCode: constants.NGHTTP2_INTERNAL_ERROR };
    const untouched = this.#progress === "written" && id > carriage.lastTaken;
    this.fail(http2Problem(rstCode, this.#options.host, { progress: this.#progress, untouched, cause: this.#cause }));
  }

  /** One timer for the three waits: for a connection, for the answer, and for more of it. */
  #late(): void {
    const { host, headersTimeoutMs, bodyIdleMs } = this.#options;
    if (this.#progress === "waiting") {
      this.giveUp(new AgentError("overloaded", `${host} had no room for the request in ${headersTimeoutMs} ms`, { sent: "no" }));
    } else if (this.#progress === "written") this.giveUp(noAnswer(host, headersTimeoutMs));
    else if (this.#stream?.isPaused() === true) this.#timer.refresh();
    else this.giveUp(fellSilent(host, bodyIdleMs));
  }

  #end(): void {
    this.over = true;
    clearTimeout(this.#timer);
    this.#off();
    if (this.#progress === "waiting") this.onAbandoned?.();
    this.#options.ended();
  }
}

/** Fields are read when somebody asks. */
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
  return new AgentError("encode", `this request cannot be written as HTTP: ${message}`, { sent: "no", cause });
}
