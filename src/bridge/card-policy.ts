import { AgentError, type Card, type Loss, type Maybe } from "../envelope/index.js";

/**
 * How the card of an upstream is served. `verbatim`: byte for byte, with its signatures. `rewrite+resign`: with the gateway's
 * addresses, signed by the gateway. `rewrite+strip`: with the gateway's addresses, unsigned.
 */
export const CARD_POLICIES = ["verbatim", "rewrite+resign", "rewrite+strip"] as const;
/** How an upstream's card is published. */
export type CardPolicy = (typeof CARD_POLICIES)[number];

export interface CardFacts {
  /** The name of the agent at the gateway. */
  readonly name: string;
  /** The protocol of the upstream. */
  readonly protocol: string;
  readonly policy: CardPolicy;
  /** The upstream card is signed. */
  readonly signed: boolean;
  /** The gateway has keys to sign with. */
  readonly canSign: boolean;
  /** The address callers use for the gateway; undefined where it follows the caller's `Host`. */
  readonly publicUrl: Maybe<string>;
  /** The upstream's own addresses, which callers must not see. */
  readonly upstreamUrls: readonly string[];
  /** The gateway owns the tasks: its capabilities are advertised, not those of the upstream. */
  readonly adopted: boolean;
}

export interface BridgedCard {
  readonly card: Card;
  /** What the card lost in trust, in a sentence: a removed signature, for example. */
  readonly downgrade: Maybe<string>;
  /** What was removed from the card. */
  readonly losses: readonly Loss[];
}

/** The card that callers of the gateway see. Throws for a policy that would mislead them. */
export function bridgedCard(card: Card, facts: CardFacts): BridgedCard {
  const { name, protocol, policy, signed, canSign } = facts;
  if (policy === "verbatim") return { card: verbatim(card, facts), downgrade: undefined, losses: [] };
  if (policy === "rewrite+resign" && !canSign)
    throw new AgentError(
      "invalid_message",
      "the card policy rewrite+resign needs a gateway that has a key: configure a signing key, or use rewrite+strip",
    );
  const losses: Loss[] = [];
  const lose = (path: string, valueKind: string, reason: string): void => void losses.push({ protocol, path, valueKind, reason });
  const rewritten = rewrite(card, facts, lose);
  if (policy !== "rewrite+strip" || !signed) return { card: rewritten, downgrade: undefined, losses };
  lose("card.signatures", "array", "the gateway rewrites the addresses of the card and has no key to sign it again");
  const downgrade = `the card of ${name} was signed; its signatures were removed because its addresses were rewritten`;
  return { card: rewritten, downgrade, losses };
}

/** Allowed only if the card already names the gateway: otherwise clients would bypass it. Inside the gateway its name is the configured one. */
function verbatim(card: Card, { name, publicUrl }: CardFacts): Card {
  if (card.original === undefined)
    throw new AgentError("invalid_message", `the card of ${name} cannot be served verbatim: there is no document of it`);
  const past = card.interfaces.find(({ url }) => publicUrl === undefined || !isBelow(url, publicUrl));
  if (past !== undefined)
    throw new AgentError(
      "invalid_message",
      `the card of ${name} cannot be served verbatim: it names ${past.url}, which leads past this gateway`,
    );
  return { ...card, name };
}

/** Some bindings write `host:port` alone, which covers the whole port. */
function isBelow(url: string, base: string): boolean {
  if (!URL.canParse(base)) return false;
  const above = new URL(base);
  const address = /^https?:\/\//i.test(url) ? url : `${above.protocol}//${url}`;
  if (!URL.canParse(address)) return false;
  const below = new URL(address);
  const path = above.pathname.replace(/\/$/, "");
  return below.origin === above.origin && (below.pathname === path || below.pathname.startsWith(`${path}/`));
}

type Lose = (path: string, valueKind: string, reason: string) => void;

const INNER_ADDRESS = "it names an address of the upstream, which callers cannot reach";

/**
 * Interfaces and security are the gateway's own and are added when the card is served. Links to the upstream's host are
 * removed. Descriptions and examples stay unchanged.
 */
function rewrite(card: Card, { name, adopted, upstreamUrls }: CardFacts, lose: Lose): Card {
  const { capabilities, documentationUrl, iconUrl, provider } = card;
  const inner = new Set([...upstreamUrls, ...card.interfaces.map(({ url }) => url)].map(hostIn));
  const isInner = (url: string): boolean => inner.has(hostIn(url));
  const outer = (path: string, url: Maybe<string>): Maybe<string> => {
    if (url === undefined || !isInner(url)) return url;
    lose(path, "string", INNER_ADDRESS);
    return undefined;
  };
  const hidden = provider !== undefined && isInner(provider.url);
  if (hidden) lose("card.provider", "object", INNER_ADDRESS);
  return {
    ...card,
    name,
    security: { schemes: {}, anyOf: [] },
    interfaces: [],
    original: undefined,
    documentationUrl: outer("card.documentationUrl", documentationUrl),
    iconUrl: outer("card.iconUrl", iconUrl),
    provider: hidden ? undefined : provider,
    // They name schemes of the upstream card.
    skills: card.skills.map((skill) => (skill.security === undefined ? skill : { ...skill, security: undefined })),
    capabilities: adopted ? { ...capabilities, streaming: true, push: false, idempotentSend: true, resume: true } : capabilities,
  };
}

/** The name of the host, whatever the port; what is no URL is taken for `host:port`. */
function hostIn(url: string): string {
  const address = /^[a-z][a-z0-9+.-]*:\/\//i.test(url) ? url : `http://${url}`;
  return URL.canParse(address) ? new URL(address).hostname : url;
}
