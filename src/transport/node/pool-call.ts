import type { Dispatcher } from "undici";
import { AgentError } from "../../envelope/index.js";
import { ByteCollector, bodyTooLarge, isEventStream } from "../body.js";
import { isClosedConnection } from "../closed-connection.js";
import type { HttpHeaders, HttpRequest, HttpResponse } from "../exchange.js";
import { FieldMap } from "../field-map.js";
import type { JsonLimits } from "../json.js";
import { ByteStream } from "./byte-stream.js";
import { bodyTimedOut, connectionProblem, headersTimedOut, type Progress } from "./connection-problem.js";

export interface CallOptions {
  readonly host: string;
  readonly secure: boolean;
  readonly bodyBytes: number;
  readonly jsonLimits: JsonLimits;
  readonly headersTimeoutMs: number;
  readonly bodyIdleMs: number;
  /** The exchange has ended, including its stream. */
  ended(): void;
}

/**
 * One request on a pooled connection: a plain object with the dispatcher's callbacks, because streams and abort signals per request
 * cost more than the request. Never sends twice.
 */
export class PoolCall implements Dispatcher.DispatchHandler {
  readonly #options: CallOptions;
  /** Gives the call to a connection. Set by the link. */
  dispatch: () => unknown = () => undefined;
  readonly #resolve: (response: HttpResponse) => void;
  readonly #reject: (error: AgentError) => void;
  readonly #off: () => void;
  #abort: ((error: Error) => void) | undefined;
  #progress: Progress = "waiting";
  #ended = false;
  #dispatchedAgain = false;
  #abortReason: AgentError | undefined;
  #status = 0;
  #rawHeaders: Buffer[] = [];
  #stream: ByteStream | undefined;
  #collected: ByteCollector;

  constructor(
    request: HttpRequest,
    options: CallOptions,
    resolve: (response: HttpResponse) => void,
    reject: (error: AgentError) => void,
  ) {
    this.#options = options;
    this.#collected = new ByteCollector(options.bodyBytes);
    this.#resolve = resolve;
    this.#reject = reject;
    this.#off = request.cancel.onCancel((reason) => this.abort(reason));
  }

  /** Ends the call and its connection: the caller cancelled or the reader stopped. */
  abort(reason: AgentError): void {
    if (this.#ended) return;
    this.#abortReason = reason;
    this.#fail(reason);
    this.#abort?.(reason);
  }

  onConnect(abort: (error?: Error) => void): void {
    if (this.#abortReason !== undefined) throw this.#abortReason;
    // A dispatcher that requeues a failed request would send it again.
    if (this.#progress !== "waiting")
      throw new AgentError("interrupted", `${this.#options.host} must not be sent the request twice`, { sent: "maybe" });
    this.#abort = abort;
    this.#progress = "written";
  }

  onHeaders(status: number, rawHeaders: Buffer[], resume: () => void): boolean {
    if (status < 200) return true;
    this.#progress = "answered";
    this.#status = status;
    this.#rawHeaders = rawHeaders;
    const encoding = findHeader(rawHeaders, "content-encoding");
    if (encoding !== undefined && encoding.toLowerCase() !== "identity") {
      this.abort(
        new AgentError("bad_peer", `${this.#options.host} answered with content-encoding ${encoding}, which was not requested`, {
          sent: "maybe",
        }),
      );
      return true;
    }
    if (isEventStream(findHeader(rawHeaders, "content-type"))) {
      this.#stream = new ByteStream(resume, () => this.abort(new AgentError("cancelled", "the reader stopped reading")));
      this.#resolve(new PooledResponse(status, rawHeaders, this.#stream, this.#options.jsonLimits));
      return true;
    }
    const declared = Number(findHeader(rawHeaders, "content-length") ?? Number.NaN);
    if (declared > this.#options.bodyBytes) this.abort(this.#tooLarge());
    // No room beyond the declared length: a large answer would leave twice its size as garbage.
    else if (declared > 0) this.#collected = new ByteCollector(declared);
    return true;
  }

  onData(piece: Buffer): boolean {
    if (this.#stream !== undefined) return this.#stream.push(piece);
    if (!this.#collected.add(piece)) this.abort(this.#tooLarge());
    return true;
  }

  onComplete(): void {
    if (this.#ended) return;
    this.#end();
    if (this.#stream !== undefined) this.#stream.end();
    else this.#resolve(new PooledResponse(this.#status, this.#rawHeaders, this.#collected.whole(), this.#options.jsonLimits));
  }

  onError(error: NodeJS.ErrnoException): void {
    if (this.#ended) return;
    const { host, secure, headersTimeoutMs, bodyIdleMs } = this.#options;
    // The peer closed an idle connection in this moment, before anything was written to it: another one is opened.
    if (this.#progress === "waiting" && !this.#dispatchedAgain && isClosedConnection(error)) {
      this.#dispatchedAgain = true;
      this.dispatch();
      return;
    }
    if (error.code === "UND_ERR_HEADERS_TIMEOUT") this.#fail(headersTimedOut(host, headersTimeoutMs, error));
    else if (error.code === "UND_ERR_BODY_TIMEOUT") this.#fail(bodyTimedOut(host, bodyIdleMs, error));
    else this.#fail(connectionProblem(error, { host, secure, progress: this.#progress }));
  }

  #tooLarge(): AgentError {
    return new AgentError("too_large", `${this.#options.host}: ${bodyTooLarge(this.#options.bodyBytes).message}`, {
      sent: "maybe",
    });
  }

  #fail(error: AgentError): void {
    this.#end();
    if (this.#stream !== undefined) this.#stream.fail(error);
    else this.#reject(error);
  }

  #end(): void {
    this.#ended = true;
    this.#off();
    this.#options.ended();
  }
}

/** Headers are parsed on demand: most responses need only their status and body. */
class PooledResponse implements HttpResponse {
  readonly #rawHeaders: Buffer[];
  #headers: HttpHeaders | undefined;

  constructor(
    readonly status: number,
    rawHeaders: Buffer[],
    readonly body: Uint8Array | AsyncIterable<Uint8Array>,
    readonly jsonLimits: JsonLimits,
  ) {
    this.#rawHeaders = rawHeaders;
  }

  get headers(): HttpHeaders {
    this.#headers ??= readHeaders(this.#rawHeaders);
    return this.#headers;
  }
}

/** Lower-case names, repeated fields joined. */
function readHeaders(raw: readonly Buffer[]): HttpHeaders {
  const headers = new FieldMap();
  for (let index = 0; index + 1 < raw.length; index += 2) {
    const name = String(raw[index]).toLowerCase();
    const value = raw[index + 1]?.toString("latin1") ?? "";
    const before = headers[name];
    headers[name] = before === undefined ? value : `${before}, ${value}`;
  }
  return headers;
}

function findHeader(raw: readonly Buffer[], name: string): string | undefined {
  for (let index = 0; index + 1 < raw.length; index += 2) {
    const found = raw[index];
    if (found?.length === name.length && found.toString("latin1").toLowerCase() === name)
      return raw[index + 1]?.toString("latin1");
  }
  return undefined;
}
