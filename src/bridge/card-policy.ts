import { AgentError, type Card, type Loss, type Maybe } from "../envelope/index.js";

/**
 * What becomes of a card that names other addresses than the gateway's. `verbatim`: it stays byte for byte, signatures and
 * all. `rewrite+resign`: the gateway's addresses, signed by the gateway. `rewrite+strip`: the gateway's addresses, and
 * nobody vouches for it.
 */
export const CARD_POLICIES = ["verbatim", "rewrite+resign", "rewrite+strip"] as const;
export type CardPolicy = (typeof CARD_POLICIES)[number];

export interface CardFacts {
  /** What the gateway calls the agent. */
  readonly name: string;
  /** What is spoken with it. */
  readonly protocol: string;
  readonly policy: CardPolicy;
  /** The card as it came has signatures. */
  readonly signed: boolean;
  /** The gateway has keys to sign with. */
  readonly canSign: boolean;
  /** The address callers use for the gateway; undefined where it follows the caller's `Host`. */
  readonly publicUrl: Maybe<string>;
  /** The addresses of the agent itself, which callers are not to learn. */
  readonly behind: readonly string[];
  /** The gateway's task runtime stands in front: what it can do counts, not what the agent can. */
  readonly adopted: boolean;
}

export interface BridgedCard {
  readonly card: Card;
  /** What somebody who reads the card should know, in a sentence; a signature that was taken off is said here. */
  readonly downgrade: Maybe<string>;
  /** What the card said and no longer says. */
  readonly losses: readonly Loss[];
}

/** The card that callers of the gateway see. Refuses what would mislead them. */
export function bridgedCard(card: Card, facts: CardFacts): BridgedCard {
  const { name, protocol, policy, signed, canSign } = facts;
  if (policy === "verbatim") return { card: verbatim(card, facts), downgrade: undefined, losses: [] };
  if (policy === "rewrite+resign" && !canSign)
    throw new AgentError(
      "invalid_message",
      "a card is signed anew only by a gateway that has a key: give it one, or take signatures off",
    );
  const losses: Loss[] = [];
  const lose = (path: string, valueKind: string, reason: string): void => void losses.push({ protocol, path, valueKind, reason });
  const rewritten = rewrite(card, facts, lose);
  if (policy !== "rewrite+strip" || !signed) return { card: rewritten, downgrade: undefined, losses };
  lose("card.signatures", "array", "the addresses of a card change behind a gateway, and it has no key to sign it anew");
  const downgrade = `the card of ${name} was signed; its signatures are taken off because its addresses change`;
  return { card: rewritten, downgrade, losses };
}

/** Only where it already leads to the gateway: else clients would go past it. Within the gateway it has the gateway's name. */
function verbatim(card: Card, { name, publicUrl }: CardFacts): Card {
  if (card.original === undefined)
    throw new AgentError("invalid_message", `there is no document of ${name} that could stay as it is`);
  const past = card.interfaces.find(({ url }) => publicUrl === undefined || !isBelow(url, publicUrl));
  if (past !== undefined)
    throw new AgentError(
      "invalid_message",
      `the card of ${name} cannot stay as it is: it leads to ${past.url}, past this gateway`,
    );
  return { ...card, name };
}

/** Some bindings write `host:port` alone, which leads to all of that port. */
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

const INNER_ADDRESS = "it leads to the agent behind the gateway, where callers have no way";

/**
 * Addresses and ways to get in are the gateway's own; they are added by whoever serves the card. Links for people that lead
 * to the agent's own host are left out. Words stay as they are, examples too: they are the agent's, and no addresses.
 */
function rewrite(card: Card, { name, adopted, behind }: CardFacts, lose: Lose): Card {
  const { capabilities, documentationUrl, iconUrl, provider } = card;
  const inner = new Set([...behind, ...card.interfaces.map(({ url }) => url)].map(hostIn));
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
    // They name schemes of the agent's own card.
    skills: card.skills.map((skill) => (skill.security === undefined ? skill : { ...skill, security: undefined })),
    capabilities: adopted ? { ...capabilities, streaming: true, push: false, idempotentSend: true, resume: true } : capabilities,
  };
}

/** The name of the host, whatever the port; what is no URL is taken for `host:port`. */
function hostIn(url: string): string {
  const address = /^[a-z][a-z0-9+.-]*:\/\//i.test(url) ? url : `http://${url}`;
  return URL.canParse(address) ? new URL(address).hostname : url;
}
