import type { IncomingMessage, ServerResponse } from "node:http";
import type { Maybe } from "../../envelope/index.js";
import type { Exchange, Intake } from "../exchange.js";
import { DEFAULT_LIMITS, type Limits } from "../limits.js";
import { HttpHandler } from "./http-handler.js";
import type { TrustedProxies } from "./trusted-proxies.js";

/** Options of `requestListener`. */
export interface RequestListenerOptions {
  /** Size and time limits. Default: `DEFAULT_LIMITS`. */
  readonly limits?: Maybe<Limits>;
  /** The mount point. Express provides it; plain `http` and Fastify do not. */
  readonly basePath?: Maybe<string>;
  /** The paths below the mount point that are served. Every other path goes to `next` where there is one. Default: all. */
  readonly claims?: Maybe<(path: string) => boolean>;
  /** Reverse proxies in front of the other server. PROXY protocol is that server's business. */
  readonly trustedProxies?: Maybe<TrustedProxies>;
  /** Receives errors of the exchange and its streams. */
  readonly onError?: Maybe<(thrown: unknown) => void>;
}

/**
 * An exchange as a Node request listener, for plain `http`, Express (`app.use(path, listener)`) and Fastify (`reply.hijack()`, then
 * `listener(request.raw, reply.raw)`). Mount it before any body parser. Time limits, sockets and shutdown are the host's.
 */
export function requestListener(
  server: Exchange | Intake,
  options: RequestListenerOptions = {},
): (req: IncomingMessage, res: ServerResponse, next?: () => void) => void {
  const { limits = DEFAULT_LIMITS, basePath, claims, onError, trustedProxies } = options;
  const handler = new HttpHandler(server, { limits, basePath, claims, onError, trustedProxies });
  return (req, res, next) => handler.handle(req, res, next);
}
