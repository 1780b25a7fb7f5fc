import { AgentError, type Cancel, encodeBase64, isObject, type Maybe } from "../envelope/index.js";
import { fetchJson, hostOf, type JsonAnswer, type JsonQuestion } from "../security/index.js";
import type { Link } from "../transport/exchange.js";
import type { ClientCredentials } from "./credentials.js";
import type { TokenWish } from "./satisfy-security.js";

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
  readonly wish: TokenWish;
  readonly client: ClientCredentials;
  now(): number;
  /** What carries the question. Default: a connection of its own. */
  readonly link?: Maybe<Link>;
  /** For a connection of its own. */
  readonly tls?: JsonQuestion["tls"];
  readonly limits?: Maybe<TokenLimits>;
}

/** What can stand in an Authorization header, and is not longer than one may be. */
const TOKEN = /^[\x21-\x7e]{1,8192}$/;

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
    const { wish, now } = this.#options;
    try {
      const { token, lifeMs } = readToken(await this.#ask(), hostOf(wish.tokenUrl), this.#limits);
      this.#token = token;
      this.#untilMs = now() + lifeMs - Math.min(this.#limits.earlyMs, lifeMs / 5);
      return token;
    } catch (thrown) {
      this.#failure = { thrown, untilMs: now() + this.#limits.retryMs };
      throw thrown;
    }
  }

  async #ask(): Promise<JsonAnswer> {
    const { wish, client, link, tls } = this.#options;
    const form = new URLSearchParams({ grant_type: "client_credentials" });
    if (wish.scopes.length > 0) form.set("scope", wish.scopes.join(" "));
    try {
      return await fetchJson({
        method: "POST",
        url: wish.tokenUrl,
        headers: { authorization: basic(client), "content-type": "application/x-www-form-urlencoded" },
        body: form.toString(),
        timeoutMs: this.#limits.fetchMs,
        maxBytes: this.#limits.answerBytes,
        link,
        tls,
      });
    } catch (thrown) {
      const { code, message } = AgentError.from(thrown);
      throw new AgentError(code === "deadline" ? "deadline" : "unavailable", `no token could be had: ${message}`, {
        sent: "no",
        cause: thrown,
      });
    }
  }
}

/** RFC 6749 §2.3.1: both are form-encoded before they are joined. */
function basic({ clientId, clientSecret }: ClientCredentials): string {
  const encode = (text: string): string => new URLSearchParams({ "": text }).toString().slice(1);
  return `Basic ${encodeBase64(new TextEncoder().encode(`${encode(clientId)}:${encode(clientSecret)}`))}`;
}

function readToken({ status, json }: JsonAnswer, host: string, limits: TokenLimits): { token: string; lifeMs: number } {
  const answer = isObject(json) ? json : {};
  if (status === 400 || status === 401 || status === 403)
    throw new AgentError("unauthenticated", `${host} gives no token for these client credentials${errorWord(answer["error"])}`, {
      sent: "no",
    });
  if (status !== 200)
    throw new AgentError("unavailable", `no token could be had: ${host} answered with HTTP ${status}`, { sent: "no" });
  const { access_token: token, token_type: type, expires_in: seconds } = answer;
  if (typeof token !== "string" || !TOKEN.test(token) || typeof type !== "string" || type.toLowerCase() !== "bearer")
    throw new AgentError("bad_peer", `${host} answered, but not with a bearer token`, { sent: "no" });
  const life = Number(seconds);
  return { token, lifeMs: life > 0 && Number.isFinite(life) ? life * 1000 : limits.unknownLifeMs };
}

/** RFC 6749 §5.2 has words for it; anything else is not repeated. */
function errorWord(error: unknown): string {
  return typeof error === "string" && /^[a-z_]{1,64}$/.test(error) ? ` (${error})` : "";
}

function orCancelled<T>(promise: Promise<T>, cancel: Cancel): Promise<T> {
  return new Promise((resolve, reject) => {
    const off = cancel.onCancel(reject);
    promise.then(resolve, reject).finally(off);
  });
}
