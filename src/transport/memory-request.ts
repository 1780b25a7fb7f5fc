import type { Cancel } from "../envelope/index.js";
import type { HttpHeaders, HttpRequest } from "./exchange.js";
import type { JsonLimits } from "./json.js";
import { IN_PROCESS, splitTarget } from "./request.js";
import { ServerRequest } from "./server-request.js";

/** The request as the server sees it: with its own cancel and connection and the headers of a socket, and without the client's call. */
export class MemoryRequest extends ServerRequest {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly target: string;
  readonly headers: HttpHeaders;
  readonly cancel: Cancel;
  readonly connection = IN_PROCESS;

  constructor({ method, target, headers, body }: HttpRequest, cancel: Cancel, limits: JsonLimits) {
    super(limits, body.length > 0);
    const { origin, path, query } = splitTarget(target);
    this.method = method;
    this.path = path;
    this.query = query;
    this.target = target;
    this.headers = {
      host: origin.replace(/^.*:\/\//, ""),
      ...headers,
      ...(body.length > 0 ? { "content-length": String(body.length) } : undefined),
    };
    this.cancel = cancel;
  }

  get rawHeaders(): readonly string[] {
    return Object.entries(this.headers).flatMap(([name, value]) => (value === undefined ? [] : [name, value]));
  }
}
