import { AgentError, type Cancel, type Maybe } from "../envelope/index.js";
import { hostOf, type IssuedToken, type JsonRequest, renewAfterMs, requestToken } from "../security/index.js";
import type { Link } from "../transport/exchange.js";
import type { ClientCredentials } from "./credentials.js";
import type { TokenRequest } from "./satisfy-security.js";

/** What bounds the fetching and keeping of a token. */
export interface TokenLimits {
  readonly fetchMs: number;
  readonly answerBytes: number;
  /** A token is renewed this long before it expires, or after four fifths of its life if that comes later. */
  readonly earlyMs: number;
  /** The life of a token that does not say how long it lives. */
  readonly unknownLifeMs: number;
  /** A failure holds for this long, so that a call that tries several ways to its peer asks once. */
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
  readonly wish: TokenRequest;
  readonly client: ClientCredentials;
  now(): number;
  /** What carries the question. Default: a connection of its own. */
  readonly link?: Maybe<Link>;
  /** For a connection of its own. */
  readonly tls?: JsonRequest["tls"];
  readonly limits?: Maybe<TokenLimits>;
}

/** One token for one peer: fetched when needed, by one question at a time, and kept until shortly before it expires. */
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

  /** The token to show now. Whoever stops waiting does not stop the question: others may wait for it too. */
  get(cancel: Cancel): string | Promise<string> {
    const atMs = this.#options.now();
    if (this.#token !== undefined && atMs < this.#untilMs) return this.#token;
    if (this.#failure !== undefined && atMs < this.#failure.untilMs) return Promise.reject(this.#failure.thrown);
    this.#fetching ??= this.#fetch().finally(() => {
      this.#fetching = undefined;
    });
    return orCancelled(this.#fetching, cancel);
  }

  /** The peer did not take this token. A newer one stays. */
  drop(token: string): void {
    if (this.#token === token) this.#token = undefined;
  }

  async #fetch(): Promise<string> {
    const { now } = this.#options;
    try {
      const { token, lifeMs } = await this.#ask();
      this.#token = token;
      this.#untilMs = now() + renewAfterMs(lifeMs, this.#limits.earlyMs);
      return token;
    } catch (thrown) {
      this.#failure = { thrown, untilMs: now() + this.#limits.retryMs };
      throw thrown;
    }
  }

  #ask(): Promise<IssuedToken> {
    const { wish, client, link, tls } = this.#options;
    const { fetchMs, answerBytes, unknownLifeMs } = this.#limits;
    return requestToken({
      url: wish.tokenUrl,
      client,
      form: { grant_type: "client_credentials", scope: wish.scopes.length > 0 ? wish.scopes.join(" ") : undefined },
      timeoutMs: fetchMs,
      maxBytes: answerBytes,
      defaultLifeMs: unknownLifeMs,
      link,
      tls,
      refused(_status, error) {
        const why = `${hostOf(wish.tokenUrl)} gives no token for these client credentials${error === "" ? "" : ` (${error})`}`;
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
