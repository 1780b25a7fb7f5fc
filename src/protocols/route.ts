import type { Awaitable, JsonObject, Maybe } from "../envelope/index.js";
import type { SignatureProfile } from "../security/signatures/index.js";
import type { HttpRequest, RequestHead } from "../transport/exchange.js";

/**
 * A route that a protocol serves. Routes are data, so that conflicts between protocols are detected when the server starts.
 * `path` is literal, or ends in `/*` to match everything below it. Routes with a higher `rank` (default 0) are matched first.
 * Two routes that can match the same request at the same rank are rejected at start, except a session and a plain `GET`.
 */
export interface Route {
  readonly method: string;
  readonly path: string;
  readonly rank?: Maybe<number>;
  /** The route accepts WebSocket sessions, by `Served.accept`, with one of these subprotocols; empty: without one. */
  readonly upgrade?: Maybe<readonly string[]>;
  /**
   * The caller is authenticated by the message itself (`host.identify`), or some of it is answered to anyone. Callers that present
   * credentials are authenticated first all the same; of others at most `unprovenBytes` are read.
   */
  readonly proves?: Maybe<boolean>;
  /**
   * Which requests of a route with `proves` only the protocol can authenticate, whatever credentials they seem to present. Where peers are
   * not admitted by their DID, their credentials decide all the same.
   */
  provesAlone?(head: RequestHead): boolean;
  /** The exchange runs before the body has arrived and reads `request.arriving`, at most this many bytes. */
  readonly streamedBytes?: Maybe<number>;
  /** A health check: answered while the server closes. */
  readonly health?: Maybe<boolean>;
  /** How requests are signed that authenticate by HTTP message signatures. Default: as the host is configured. */
  readonly signatures?: Maybe<SignatureProfile>;
  /** Whether something is at a path below one that ends in `/*`: other paths are not this route's. Default: all are. */
  has?(path: string): boolean;
  /** Called only if the path matches. It cannot see the body. */
  when?(head: RequestHead): boolean;
  /** Decides with the body, after authentication, where several routes match. A route without it gets the request. */
  whose?(request: HttpRequest): boolean;
}

/** Members that a protocol adds to a shared document, such as `/health` or `/.well-known/agent.json`. */
export interface Contribution {
  /** A literal path. With `has` it ends in `/*`: complete documents that come and go while the server runs, each below it. */
  readonly path: string;
  /** Whether there is a document at a path now. */
  has?(path: string): boolean;
  /** Request headers that the members depend on, sent as `Vary`. */
  readonly vary: readonly string[];
  /** The members are the complete document, for example because it is signed: no other members are added. */
  readonly whole?: Maybe<boolean>;
  /** Later only if they are the complete document. */
  members(request: HttpRequest): Awaitable<JsonObject>;
}
