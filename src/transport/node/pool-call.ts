import { type Dispatcher, errors } from "undici";
import { AgentError } from "../../envelope/index.js";
import { ByteCollector, bodyTooLarge, isEventStream } from "../body.js";
import type { HttpHeaders, HttpRequest, HttpResponse } from "../exchange.js";
import { ByteStream } from "./byte-stream.js";
import { connectionProblem, fellSilent, noAnswer, type Progress } from "./connection-problem.js";

export interface CallOptions {
  readonly host: string;
  readonly secure: boolean;
  readonly bodyBytes: number;
  readonly headersTimeoutMs: number;
  readonly bodyIdleMs: number;
  /** The exchange is over, streams included. */
  ended(): void;
}

/**
 * One request on a pooled connection: a plain object with the dispatcher's own callbacks, because streams and abort
 * signals per request cost more than the request. Never sends a second time.
 */
export class PoolCall implements Dispatcher.DispatchHandler {
  readonly #options: CallOptions;
  readonly #resolve: (response: HttpResponse) => void;
  readonly #reject: (error: AgentError) => void;
  readonly #off: () => void;
  #abort: ((error: Error) => void) | undefined;
  #progress: Progress = "waiting";
  #over = false;
  #given: AgentError | undefined;
  #status = 0;
  #rawHeaders: Buffer[] = [];
  #stream: ByteStream | undefined;
  readonly #collected: ByteCollector;

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
    this.#off = request.cancel.onCancel((reason) => this.giveUp(reason));
  }

  /** The caller's cancel, or a reader that stopped: ends the call now, and the connection with it. */
  giveUp(reason: AgentError): void {
    if (this.#over) return;
    this.#given = reason;
    this.#fail(reason);
    this.#abort?.(reason);
  }

  onConnect(abort: (error?: Error) => void): void {
    if (this.#given !== undefined) throw this.#given;
    // A dispatcher that puts a broken request back into its queue would send it again.
    if (this.#progress !== "waiting")
      throw new AgentError("interrupted", `${this.#options.host} must not be asked twice`, { sent: "maybe" });
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
      this.giveUp(
        new AgentError("bad_peer", `${this.#options.host} answered with content-encoding ${encoding}, which was not asked for`, {
          sent: "maybe",
        }),
      );
      return true;
    }
    if (isEventStream(findHeader(rawHeaders, "content-type"))) {
      this.#stream = new ByteStream(resume, () => this.giveUp(new AgentError("cancelled", "the reader stopped reading")));
      this.#resolve(new PooledResponse(status, rawHeaders, this.#stream));
    } else if (Number(findHeader(rawHeaders, "content-length")) > this.#options.bodyBytes) this.giveUp(this.#tooLarge());
    return true;
  }

  onData(piece: Buffer): boolean {
    if (this.#stream !== undefined) return this.#stream.push(piece);
    if (!this.#collected.add(piece)) this.giveUp(this.#tooLarge());
    return true;
  }

  onComplete(): void {
    if (this.#over) return;
    this.#end();
    if (this.#stream !== undefined) this.#stream.end();
    else this.#resolve(new PooledResponse(this.#status, this.#rawHeaders, this.#collected.whole()));
  }

  onError(error: Error): void {
    if (this.#over) return;
    const { host, secure, headersTimeoutMs, bodyIdleMs } = this.#options;
    if (error instanceof errors.HeadersTimeoutError) this.#fail(noAnswer(host, headersTimeoutMs, error));
    else if (error instanceof errors.BodyTimeoutError) this.#fail(fellSilent(host, bodyIdleMs, error));
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
    this.#over = true;
    this.#off();
    this.#options.ended();
  }
}

/** Headers are read when somebody asks: most answers are judged by their status and body. */
class PooledResponse implements HttpResponse {
  readonly #rawHeaders: Buffer[];
  #headers: HttpHeaders | undefined;

  constructor(
    readonly status: number,
    rawHeaders: Buffer[],
    readonly body: Uint8Array | AsyncIterable<Uint8Array>,
  ) {
    this.#rawHeaders = rawHeaders;
  }

  get headers(): HttpHeaders {
    this.#headers ??= readHeaders(this.#rawHeaders);
    return this.#headers;
  }
}

/** Lower-case names, repeated fields joined. No prototype, so that no name means anything else. */
function readHeaders(raw: readonly Buffer[]): HttpHeaders {
  const headers: Record<string, string> = Object.create(null);
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
