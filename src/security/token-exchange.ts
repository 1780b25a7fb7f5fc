import { AgentError, type Maybe, RecentMap } from "../envelope/index.js";
import { addressClass } from "./address.js";
import { blindDigest } from "./blind-digest.js";
import { hostOf, type JsonQuestion } from "./fetch-json.js";
import { askForToken, renewAfterMs, type TokenClient } from "./token-endpoint.js";

/** What bounds the exchanging and keeping of tokens. */
export interface ExchangeLimits {
  readonly fetchMs: number;
  readonly answerBytes: number;
  /** Exchanged tokens that are remembered, each for its caller. */
  readonly tokens: number;
  /** Questions under way at once. */
  readonly atOnce: number;
  /** A token is renewed this long before it expires, or after four fifths of its life if that comes later. */
  readonly earlyMs: number;
  /** The life of a token that does not say how long it lives. */
  readonly unknownLifeMs: number;
  /** A refusal or failure holds for this long, so that a call that tries several ways to its peer asks once. */
  readonly retryMs: number;
}
export const DEFAULT_EXCHANGE_LIMITS: ExchangeLimits = Object.freeze({
  fetchMs: 10_000,
  answerBytes: 64 * 1024,
  tokens: 10_000,
  atOnce: 256,
  earlyMs: 60_000,
  unknownLifeMs: 300_000,
  retryMs: 200,
});

export interface TokenExchangeOptions {
  /** The token endpoint: https, or plain http on this machine. */
  readonly tokenUrl: string;
  /** How the gateway proves who it is. Without it the endpoint must take anybody's word. */
  readonly client?: Maybe<TokenClient>;
  /** For whom the new token is meant: names, and addresses. */
  readonly audience?: Maybe<string>;
  readonly resource?: Maybe<string>;
  readonly scopes?: Maybe<readonly string[]>;
  /** What callers' tokens are. Default: access tokens. */
  readonly subjectTokenType?: Maybe<string>;
  readonly tls?: JsonQuestion["tls"];
  readonly limits?: Maybe<Partial<ExchangeLimits>>;
}

/** Somebody's token for another one that an agent behind a gateway takes. */
export interface TokenExchange {
  /** Throws `unauthenticated` or `forbidden` where the service refuses, `unavailable` where it cannot be asked. */
  tokenFor(subject: string): Promise<string>;
  /** It was not taken: the next one is fetched anew. */
  drop(subject: string, token: string): void;
}

const GRANT = "urn:ietf:params:oauth:grant-type:token-exchange";
const ACCESS_TOKEN = "urn:ietf:params:oauth:token-type:access_token";

interface Kept {
  readonly answer: Promise<string>;
  untilMs: number;
  token: Maybe<string>;
}

/** RFC 8693: one question for each caller at a time, and its answer is kept until shortly before it expires. */
export function tokenExchange(options: TokenExchangeOptions, now: () => number): TokenExchange {
  checkEndpoint(options.tokenUrl);
  const limits: ExchangeLimits = { ...DEFAULT_EXCHANGE_LIMITS, ...options.limits };
  const digestOf = blindDigest();
  const kept = new RecentMap<Kept>(limits.tokens);
  let underWay = 0;

  async function exchange(subject: string, entry: () => Kept): Promise<string> {
    underWay++;
    try {
      const { token, lifeMs } = await askForToken({
        url: options.tokenUrl,
        client: options.client,
        form: formFor(subject, options),
        timeoutMs: limits.fetchMs,
        maxBytes: limits.answerBytes,
        unknownLifeMs: limits.unknownLifeMs,
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
      underWay--;
    }
  }

  function ask(subject: string): Kept {
    // While the question is under way everybody who has the same token waits for it.
    const entry: Kept = { answer: exchange(subject, () => entry), untilMs: Number.POSITIVE_INFINITY, token: undefined };
    entry.answer.catch(() => undefined); // whoever waits hears of it
    return entry;
  }

  return {
    async tokenFor(subject) {
      const key = digestOf(subject);
      const known = kept.get(key);
      if (known !== undefined && now() < known.untilMs) return known.answer;
      if (underWay >= limits.atOnce)
        throw new AgentError("overloaded", `more than ${limits.atOnce} tokens are being exchanged`, { sent: "no" });
      const asked = ask(subject);
      kept.set(key, asked);
      return asked.answer;
    },
    drop(subject, token) {
      const key = digestOf(subject);
      if (kept.get(key)?.token === token) kept.delete(key);
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

/** Callers' tokens go there: never in clear text beyond this machine. The address itself is the operator's own word. */
function checkEndpoint(tokenUrl: string): void {
  const url = URL.canParse(tokenUrl) ? new URL(tokenUrl) : undefined;
  const problem =
    url === undefined || (url.protocol !== "https:" && url.protocol !== "http:")
      ? "is not an http or https URL"
      : url.username !== "" || url.password !== ""
        ? "contains credentials; they belong into client"
        : url.protocol === "http:" && !isThisMachine(url.hostname)
          ? "is clear text: callers' tokens are sent by https only"
          : undefined;
  if (problem !== undefined)
    throw new AgentError("invalid_message", `the address of the token service ${problem}`, { field: "tokenUrl" });
}

function isThisMachine(hostname: string): boolean {
  return hostname === "localhost" || addressClass(hostname.replace(/^\[|\]$/g, "")) === "loopback";
}

/** The service speaks of the caller's token, of what it is to be exchanged for, or of the gateway. */
function refusal(host: string, status: number, error: string): AgentError {
  const word = error === "" ? "" : ` (${error})`;
  if (status === 401 || GATEWAYS_FAULT.has(error))
    return new AgentError("bad_peer", `the token service at ${host} does not let this gateway in${word}`, { sent: "no" });
  if (status === 403 || NOT_FOR_THAT.has(error))
    return new AgentError("forbidden", `the token service at ${host} gives the caller no token for this agent${word}`, {
      sent: "no",
    });
  return new AgentError("unauthenticated", `the token service at ${host} does not take the caller's token${word}`, {
    sent: "no",
  });
}

const GATEWAYS_FAULT: ReadonlySet<string> = new Set(["invalid_client", "unauthorized_client", "unsupported_grant_type"]);
const NOT_FOR_THAT: ReadonlySet<string> = new Set(["invalid_target", "invalid_scope", "access_denied"]);
