import type { AgentError } from "../envelope/index.js";
import { type Exchange, type HttpRequest, type HttpResponse, isStream } from "./exchange.js";

/**
 * The answer to a request whose body was refused before it was read. The exchange is asked all the same, so that the
 * refusal has the form of the protocol that was addressed; whoever there wants the body hears why there is none.
 * `otherwise` is the answer where nobody finds words.
 */
export async function answerUnread(
  exchange: Exchange,
  request: HttpRequest,
  problem: AgentError,
  otherwise: HttpResponse,
): Promise<HttpResponse> {
  const unread = new UnreadRequest(request, problem);
  try {
    const { status, headers, body } = await exchange(unread);
    if (isStream(body)) {
      await body[Symbol.asyncIterator]().return?.();
      return otherwise;
    }
    // Nobody needed the body: then the answer stands for itself. JSON-RPC says everything with status 200.
    const said = unread.wanted && status < 400 ? otherwise.status : status;
    return { status: said, headers: { ...headers, connection: "close" }, body };
  } catch {
    return otherwise;
  }
}

/** Everything of a request but its body. */
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
  wanted = false;

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
    this.wanted = true;
    throw this.#problem;
  }

  json(): unknown {
    this.wanted = true;
    throw this.#problem;
  }
}
