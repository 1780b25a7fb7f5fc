import type { IncomingMessage, ServerResponse } from "node:http";
import type { Maybe } from "../../envelope/index.js";
import type { Exchange } from "../exchange.js";
import { DEFAULT_LIMITS, type Limits } from "../limits.js";
import { HttpHandler } from "./http-handler.js";

export interface RequestListenerOptions {
  readonly limits?: Maybe<Limits>;
  /** The mount point. Express provides it; plain `http` and Fastify do not. */
  readonly basePath?: Maybe<string>;
  /** The paths below the mount point that are served. Every other path goes to `next` where there is one. Default: all. */
  readonly claims?: Maybe<(path: string) => boolean>;
  readonly onError?: Maybe<(thrown: unknown) => void>;
}

/**
 * An exchange as a Node request listener, for plain `http`, Express (`app.use(path, listener)`) and Fastify (`reply.hijack()`, then
 * `listener(request.raw, reply.raw)`). Mount it before any body parser. Time limits, sockets and shutdown are the host's.
 */
export function requestListener(
  exchange: Exchange,
  options: RequestListenerOptions = {},
): (req: IncomingMessage, res: ServerResponse, next?: () => void) => void {
  const { limits = DEFAULT_LIMITS, basePath, claims, onError } = options;
  const handler = new HttpHandler(exchange, { limits, basePath, claims, onError });
  return (req, res, next) => handler.handle(req, res, next);
}
