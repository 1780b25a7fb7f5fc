import { AgentError, type Card, type Maybe } from "../envelope/index.js";
import { type HttpRequest, type HttpResponse, isStream, type Link } from "../transport/exchange.js";
import { changeRequests } from "../transport/links.js";
import { TokenHolder } from "./credential-token.js";
import { type Credentials, credentialHeaders, isAtOrigin, type PresentedCredentials, presentCredentials } from "./credentials.js";
import { type Plan, satisfy, type TokenRequest } from "./satisfy-security.js";

/** The links of one connection that present credentials: only at the peer's own origin, because a card may name any address. */
export interface CredentialLinks {
  /** Presents the configured headers: for discovery. */
  readonly plain: Link;
  /** Presents what this card requires. */
  linkFor(card: Card): Link;
  /** Why this card's requirement cannot be satisfied, known before anything is sent. */
  problemWith(card: Card): Maybe<AgentError>;
}

interface Satisfied {
  readonly link: Link;
  readonly problem: Maybe<AgentError>;
}

/** Token endpoints of one peer; a card that names more is hostile. */
const MAX_TOKEN_HOLDERS = 16;

export function credentialLinks(link: Link, url: string, credentials: Credentials, now: () => number): CredentialLinks {
  const plain = presenting(link, url, { headers: credentialHeaders(credentials), signer: credentials.signer });
  const byCard = new WeakMap<Card, Satisfied>();
  const holders = new Map<string, TokenHolder>();

  function holderOf(token: TokenRequest): TokenHolder {
    const key = JSON.stringify(token);
    const known = holders.get(key);
    if (known !== undefined) return known;
    if (holders.size >= MAX_TOKEN_HOLDERS)
      throw new AgentError("forbidden", `the peer names more than ${MAX_TOKEN_HOLDERS} token endpoints`, { sent: "no" });
    const { oauth2: client = { clientId: "", clientSecret: "" }, tls } = credentials;
    // The peer's own origin uses the peer's link; an endpoint elsewhere is configured by the user and gets no client certificate.
    const transport = isAtOrigin(token.tokenUrl, url) ? { link } : { tls: tls?.ca === undefined ? undefined : { ca: tls.ca } };
    const holder = new TokenHolder({ token, client, now, ...transport });
    holders.set(key, holder);
    return holder;
  }

  function satisfyCard(card: Card): Satisfied {
    try {
      const plan = satisfy(card.security, credentials, url);
      return {
        link: plan.token === undefined ? presenting(link, url, plan) : withToken(link, url, plan, holderOf(plan.token)),
        problem: undefined,
      };
    } catch (thrown) {
      return { link: plain, problem: AgentError.from(thrown) };
    }
  }

  function satisfiedFor(card: Card): Satisfied {
    const known = byCard.get(card) ?? satisfyCard(card);
    byCard.set(card, known);
    return known;
  }

  return { plain, linkFor: (card) => satisfiedFor(card).link, problemWith: (card) => satisfiedFor(card).problem };
}

function presenting(link: Link, url: string, presented: PresentedCredentials): Link {
  return changeRequests(link, (request) => (isAtOrigin(request.target, url) ? presentCredentials(request, presented) : request));
}

function withToken(link: Link, url: string, plan: Plan, holder: TokenHolder): Link {
  const presentToken = (request: HttpRequest, token: string): HttpRequest =>
    presentCredentials(request, { ...plan, headers: { ...plan.headers, authorization: `Bearer ${token}` } });
  const send = (request: HttpRequest, token: string): Promise<HttpResponse> =>
    Promise.resolve(link.exchange(presentToken(request, token)));

  /** A request with a rejected token had no effect, so one retry with a new token is safe. */
  async function exchange(request: HttpRequest): Promise<HttpResponse> {
    if (!isAtOrigin(request.target, url)) return link.exchange(request);
    const token = await holder.get(request.cancel);
    const response = await send(request, token);
    if (!isUnauthenticated(response)) return response;
    holder.drop(token);
    const newer = await holder.get(request.cancel);
    if (newer === token) return response;
    if (isStream(response.body)) void response.body[Symbol.asyncIterator]().return?.();
    return send(request, newer);
  }

  async function openSession(open: NonNullable<Link["open"]>, request: HttpRequest, subprotocols: readonly string[]) {
    if (!isAtOrigin(request.target, url)) return open(request, subprotocols);
    const token = await holder.get(request.cancel);
    try {
      return await open(presentToken(request, token), subprotocols);
    } catch (thrown) {
      if (AgentError.from(thrown).code !== "unauthenticated") throw thrown;
      holder.drop(token);
      const newer = await holder.get(request.cancel);
      if (newer === token) throw thrown;
      return open(presentToken(request, newer), subprotocols);
    }
  }
  const open = link.open?.bind(link);
  return {
    exchange,
    ...(open === undefined ? undefined : { open: (request, subprotocols) => openSession(open, request, subprotocols) }),
    close: () => link.close(),
  };
}

/** 401, or gRPC UNAUTHENTICATED in a headers-only response. */
export function isUnauthenticated({ status, headers }: HttpResponse): boolean {
  return status === 401 || headers["grpc-status"] === "16";
}
