import type { AgentError } from "../envelope/index.js";
import { type Exchange, type HttpRequest, type HttpResponse, isStream } from "./exchange.js";

/**
 * The response to a request whose body was refused unread. The exchange still runs, so that the refusal has the format of the addressed
 * protocol; reading the body throws the reason. `fallback` is the response if the exchange fails.
 */
export async function respondUnread(
  exchange: Exchange,
  request: HttpRequest,
  problem: AgentError,
  fallback: HttpResponse,
): Promise<HttpResponse> {
  const unread = new UnreadRequest(request, problem);
  try {
    const { status, headers, body } = await exchange(unread);
    if (isStream(body)) {
      await body[Symbol.asyncIterator]().return?.();
      return fallback;
    }
    // If nothing read the body, the response stands. JSON-RPC sends errors with status 200.
    const finalStatus = unread.bodyRead && status < 400 ? fallback.status : status;
    return { status: finalStatus, headers: { ...headers, connection: "close" }, body };
  } catch {
    return fallback;
  }
}

/** A request without its body. */
class UnreadRequest implements HttpRequest {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly target: string;
  readonly headers: HttpRequest["headers"];
  readonly rawHeaders: readonly string[];
  readonly connection: HttpRequest["connection"];
  readonly cancel: HttpRequest["cancel"];
  readonly #problem: AgentError;
  bodyRead = false;

  constructor(request: HttpRequest, problem: AgentError) {
    this.method = request.method;
    this.path = request.path;
    this.query = request.query;
    this.target = request.target;
    this.headers = request.headers;
    this.rawHeaders = request.rawHeaders;
    this.connection = request.connection;
    this.cancel = request.cancel;
    this.#problem = problem;
  }

  get body(): Uint8Array {
    this.bodyRead = true;
    throw this.#problem;
  }

  json(): unknown {
    this.bodyRead = true;
    throw this.#problem;
  }
}
