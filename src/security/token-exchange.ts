import { AgentError, type Maybe, RecentMap } from "../envelope/index.js";
import { addressClass } from "./address.js";
import { blindDigest } from "./blind-digest.js";
import { hostOf, type JsonRequest } from "./fetch-json.js";
import { renewAfterMs, requestToken, type TokenClient } from "./token-endpoint.js";

/** Limits for exchanging and caching tokens. */
export interface ExchangeLimits {
  readonly fetchMs: number;
  readonly answerBytes: number;
  /** Cached tokens, one per caller. */
  readonly tokens: number;
  /** Concurrent requests. */
  readonly maxConcurrent: number;
  /** A token is renewed this long before it expires, or after four fifths of its lifetime if that is later. */
  readonly earlyMs: number;
  /** The assumed lifetime of a token without `expires_in`. */
  readonly defaultLifeMs: number;
  /** How long a refusal or failure is cached, so that a call that tries several interfaces asks once. */
  readonly retryMs: number;
}
export const DEFAULT_EXCHANGE_LIMITS: ExchangeLimits = Object.freeze({
  fetchMs: 10_000,
  answerBytes: 64 * 1024,
  tokens: 10_000,
  maxConcurrent: 256,
  earlyMs: 60_000,
  defaultLifeMs: 300_000,
  retryMs: 200,
});

/** Options of a token exchange (RFC 8693). */
export interface TokenExchangeOptions {
  /** The token endpoint: https, or plain http on this machine. */
  readonly tokenUrl: string;
  /** The gateway's client credentials, if the endpoint requires them. */
  readonly client?: Maybe<TokenClient>;
  /** The intended recipient of the new token. */
  readonly audience?: Maybe<string>;
  /** The URI of the resource the new token is for. Default: none. */
  readonly resource?: Maybe<string>;
  /** Scopes to request. Default: those the service grants. */
  readonly scopes?: Maybe<readonly string[]>;
  /** The type of callers' tokens. Default: access tokens. */
  readonly subjectTokenType?: Maybe<string>;
  /** TLS options for the endpoint. Default: the system's CAs. */
  readonly tls?: JsonRequest["tls"];
  /** Overrides of the default limits. */
  readonly limits?: Maybe<Partial<ExchangeLimits>>;
}

/** Exchanges a caller's token for one that the upstream agent accepts. */
export interface TokenExchange {
  /** Throws `unauthenticated` or `forbidden` if the service refuses, `unavailable` if it cannot be reached. */
  tokenFor(subject: string): Promise<string>;
  /** The token was rejected: the next call fetches a new one. */
  drop(subject: string, token: string): void;
}

const GRANT = "urn:ietf:params:oauth:grant-type:token-exchange";
const ACCESS_TOKEN = "urn:ietf:params:oauth:token-type:access_token";

interface CachedToken {
  readonly answer: Promise<string>;
  untilMs: number;
  token: Maybe<string>;
}

/** RFC 8693: one concurrent request per caller; the result is cached until shortly before it expires. */
export function tokenExchange(options: TokenExchangeOptions, now: () => number): TokenExchange {
  checkEndpoint(options.tokenUrl);
  const limits: ExchangeLimits = { ...DEFAULT_EXCHANGE_LIMITS, ...options.limits };
  const digestOf = blindDigest();
  const cache = new RecentMap<CachedToken>(limits.tokens);
  let inFlight = 0;

  async function exchange(subject: string, entry: () => CachedToken): Promise<string> {
    inFlight++;
    try {
      const { token, lifeMs } = await requestToken({
        url: options.tokenUrl,
        client: options.client,
        form: formFor(subject, options),
        timeoutMs: limits.fetchMs,
        maxBytes: limits.answerBytes,
        defaultLifeMs: limits.defaultLifeMs,
        tls: options.tls,
        refused: (status, error) => refusal(hostOf(options.tokenUrl), status, error),
      });
      entry().token = token;
      entry().untilMs = now() + renewAfterMs(lifeMs, limits.earlyMs);
      return token;
    } catch (thrown) {
      entry().untilMs = now() + limits.retryMs;
      throw thrown;
    } finally {
      inFlight--;
    }
  }

  function startExchange(subject: string): CachedToken {
    // Concurrent callers with the same token share this request.
    const entry: CachedToken = { answer: exchange(subject, () => entry), untilMs: Number.POSITIVE_INFINITY, token: undefined };
    entry.answer.catch(() => undefined); // the error reaches those who await it
    return entry;
  }

  return {
    async tokenFor(subject) {
      const key = digestOf(subject);
      const cached = cache.get(key);
      if (cached !== undefined && now() < cached.untilMs) return cached.answer;
      if (inFlight >= limits.maxConcurrent)
        throw new AgentError("overloaded", `more than ${limits.maxConcurrent} tokens are being exchanged`, { sent: "no" });
      const started = startExchange(subject);
      cache.set(key, started);
      return started.answer;
    },
    drop(subject, token) {
      const key = digestOf(subject);
      if (cache.get(key)?.token === token) cache.delete(key);
    },
  };
}

function formFor(subject: string, { audience, resource, scopes, subjectTokenType }: TokenExchangeOptions) {
  return {
    grant_type: GRANT,
    subject_token: subject,
    subject_token_type: subjectTokenType ?? ACCESS_TOKEN,
    requested_token_type: ACCESS_TOKEN,
    audience,
    resource,
    scope: scopes?.join(" "),
  };
}

/** Callers' tokens are sent there: never in plain text except on this machine. */
function checkEndpoint(tokenUrl: string): void {
  const url = URL.canParse(tokenUrl) ? new URL(tokenUrl) : undefined;
  const problem =
    url === undefined || (url.protocol !== "https:" && url.protocol !== "http:")
      ? "is not an http or https URL"
      : url.username !== "" || url.password !== ""
        ? "contains credentials; configure them in client"
        : url.protocol === "http:" && !isThisMachine(url.hostname)
          ? "is plain http: callers' tokens are only sent over https"
          : undefined;
  if (problem !== undefined)
    throw new AgentError("invalid_message", `the address of the token service ${problem}`, { field: "tokenUrl" });
}

function isThisMachine(hostname: string): boolean {
  return hostname === "localhost" || addressClass(hostname.replace(/^\[|\]$/g, "")) === "loopback";
}

/** Whether the service refused the gateway, the target or the caller's token. */
function refusal(host: string, status: number, error: string): AgentError {
  const word = error === "" ? "" : ` (${error})`;
  if (status === 401 || GATEWAYS_FAULT.has(error))
    return new AgentError("bad_peer", `the token service at ${host} rejected this gateway's credentials${word}`, { sent: "no" });
  if (status === 403 || NOT_FOR_THAT.has(error))
    return new AgentError("forbidden", `the token service at ${host} denied the caller a token for this agent${word}`, {
      sent: "no",
    });
  return new AgentError("unauthenticated", `the token service at ${host} rejected the caller's token${word}`, {
    sent: "no",
  });
}

const GATEWAYS_FAULT: ReadonlySet<string> = new Set(["invalid_client", "unauthorized_client", "unsupported_grant_type"]);
const NOT_FOR_THAT: ReadonlySet<string> = new Set(["invalid_target", "invalid_scope", "access_denied"]);
