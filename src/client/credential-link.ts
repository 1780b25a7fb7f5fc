import { AgentError, type Card, type Maybe } from "../envelope/index.js";
import { type HttpRequest, type HttpResponse, isStream, type Link } from "../transport/exchange.js";
import { TokenHolder } from "./credential-token.js";
import { type Credentials, credentialHeaders, isAtOrigin, type PresentedCredentials, presentCredentials } from "./credentials.js";
import { type Plan, satisfy, type TokenRequest } from "./satisfy-security.js";

/** One edge's credentials on its links: never shown anywhere but at the peer's own origin, because a card may name any address. */
export interface CredentialLinks {
  /** Shows what was configured: for finding out what the peer is. */
  readonly plain: Link;
  /** Shows what this card asks for. */
  linkFor(card: Card): Link;
  /** Why this card's demand cannot be met, before anything is sent. */
  problemWith(card: Card): Maybe<AgentError>;
}

interface Met {
  readonly link: Link;
  readonly problem: Maybe<AgentError>;
}

/** Token addresses of one peer; more is a card that plays. */
const MAX_TOKEN_HOLDERS = 16;

export function credentialLinks(link: Link, url: string, credentials: Credentials, now: () => number): CredentialLinks {
  const plain = showing(link, url, { headers: credentialHeaders(credentials) });
  const met = new WeakMap<Card, Met>();
  const holders = new Map<string, TokenHolder>();

  function holderOf(wish: TokenRequest): TokenHolder {
    const key = JSON.stringify(wish);
    const known = holders.get(key);
    if (known !== undefined) return known;
    if (holders.size >= MAX_TOKEN_HOLDERS)
      throw new AgentError("forbidden", `the peer names more than ${MAX_TOKEN_HOLDERS} ways to get a token`, { sent: "no" });
    const { oauth2: client = { clientId: "", clientSecret: "" }, tls } = credentials;
    // The peer's own origin is reached as the peer is; another address is the user's own word, and gets no certificate of ours.
    const way = isAtOrigin(wish.tokenUrl, url) ? { link } : { tls: tls?.ca === undefined ? undefined : { ca: tls.ca } };
    const holder = new TokenHolder({ wish, client, now, ...way });
    holders.set(key, holder);
    return holder;
  }

  function meet(card: Card): Met {
    try {
      const plan = satisfy(card.security, credentials, url);
      return {
        link: plan.token === undefined ? showing(link, url, plan) : tokened(link, url, plan, holderOf(plan.token)),
        problem: undefined,
      };
    } catch (thrown) {
      return { link: plain, problem: AgentError.from(thrown) };
    }
  }

  function metFor(card: Card): Met {
    const known = met.get(card) ?? meet(card);
    met.set(card, known);
    return known;
  }

  return { plain, linkFor: (card) => metFor(card).link, problemWith: (card) => metFor(card).problem };
}

function showing(link: Link, url: string, shown: PresentedCredentials): Link {
  return {
    ...link,
    exchange: (request) => link.exchange(isAtOrigin(request.target, url) ? presentCredentials(request, shown) : request),
    close: () => link.close(),
  };
}

function tokened(link: Link, url: string, plan: Plan, holder: TokenHolder): Link {
  const send = (request: HttpRequest, token: string): Promise<HttpResponse> =>
    Promise.resolve(
      link.exchange(presentCredentials(request, { ...plan, headers: { ...plan.headers, authorization: `Bearer ${token}` } })),
    );

  /** A refused token did nothing, so one more try with a new one is safe. */
  async function exchange(request: HttpRequest): Promise<HttpResponse> {
    if (!isAtOrigin(request.target, url)) return link.exchange(request);
    const token = await holder.get(request.cancel);
    const response = await send(request, token);
    if (!isRefused(response)) return response;
    holder.drop(token);
    const newer = await holder.get(request.cancel);
    if (newer === token) return response;
    if (isStream(response.body)) void response.body[Symbol.asyncIterator]().return?.();
    return send(request, newer);
  }
  return { ...link, exchange, close: () => link.close() };
}

/** 401, or what gRPC says for it in an answer that has nothing else. */
export function isRefused({ status, headers }: HttpResponse): boolean {
  return status === 401 || headers["grpc-status"] === "16";
}
