import { AgentError, type Cancel, type Maybe } from "../envelope/index.js";
import { hostOf, type IssuedToken, type JsonRequest, renewAfterMs, requestToken } from "../security/index.js";
import type { Link } from "../transport/exchange.js";
import type { ClientCredentials } from "./credentials.js";
import type { TokenRequest } from "./satisfy-security.js";

/** Limits of fetching and caching a token. */
export interface TokenLimits {
  readonly fetchMs: number;
  readonly answerBytes: number;
  /** A token is renewed this long before it expires, or after four fifths of its lifetime if that comes later. */
  readonly earlyMs: number;
  /** The assumed lifetime of a token without `expires_in`. */
  readonly unknownLifeMs: number;
  /** A failure is cached for this long, so that a call that tries several interfaces asks once. */
  readonly retryMs: number;
}
export const DEFAULT_TOKEN_LIMITS: TokenLimits = Object.freeze({
  fetchMs: 10_000,
  answerBytes: 64 * 1024,
  earlyMs: 60_000,
  unknownLifeMs: 300_000,
  retryMs: 200,
});

export interface TokenHolderOptions {
  readonly token: TokenRequest;
  readonly client: ClientCredentials;
  now(): number;
  /** The transport of token requests. Default: a connection of its own. */
  readonly link?: Maybe<Link>;
  /** For a connection of its own. */
  readonly tls?: JsonRequest["tls"];
  readonly limits?: Maybe<TokenLimits>;
}

/** One token for one peer: fetched when needed, one request at a time, and kept until shortly before it expires. */
export class TokenHolder {
  readonly #options: TokenHolderOptions;
  readonly #limits: TokenLimits;
  #token: Maybe<string>;
  #untilMs = 0;
  #fetching: Maybe<Promise<string>>;
  #failure: Maybe<{ readonly thrown: unknown; readonly untilMs: number }>;

  constructor(options: TokenHolderOptions) {
    this.#options = options;
    this.#limits = options.limits ?? DEFAULT_TOKEN_LIMITS;
  }

  /** The current token. Cancelling a wait does not cancel the request: other calls may wait for it too. */
  get(cancel: Cancel): string | Promise<string> {
    const atMs = this.#options.now();
    if (this.#token !== undefined && atMs < this.#untilMs) return this.#token;
    if (this.#failure !== undefined && atMs < this.#failure.untilMs) return Promise.reject(this.#failure.thrown);
    this.#fetching ??= this.#fetch().finally(() => {
      this.#fetching = undefined;
    });
    return orCancelled(this.#fetching, cancel);
  }

  /** Drops a token the peer rejected. A newer one stays. */
  drop(token: string): void {
    if (this.#token === token) this.#token = undefined;
  }

  async #fetch(): Promise<string> {
    const { now } = this.#options;
    try {
      const { token, lifeMs } = await this.#request();
      this.#token = token;
      this.#untilMs = now() + renewAfterMs(lifeMs, this.#limits.earlyMs);
      return token;
    } catch (thrown) {
      this.#failure = { thrown, untilMs: now() + this.#limits.retryMs };
      throw thrown;
    }
  }

  #request(): Promise<IssuedToken> {
    const { token, client, link, tls } = this.#options;
    const { fetchMs, answerBytes, unknownLifeMs } = this.#limits;
    return requestToken({
      url: token.tokenUrl,
      client,
      form: { grant_type: "client_credentials", scope: token.scopes.length > 0 ? token.scopes.join(" ") : undefined },
      timeoutMs: fetchMs,
      maxBytes: answerBytes,
      defaultLifeMs: unknownLifeMs,
      link,
      tls,
      refused(_status, error) {
        const why = `${hostOf(token.tokenUrl)} issued no token for these client credentials${error === "" ? "" : ` (${error})`}`;
        return new AgentError("unauthenticated", why, { sent: "no" });
      },
    });
  }
}

function orCancelled<T>(promise: Promise<T>, cancel: Cancel): Promise<T> {
  return new Promise((resolve, reject) => {
    const off = cancel.onCancel(reject);
    promise.then(resolve, reject).finally(off);
  });
}
