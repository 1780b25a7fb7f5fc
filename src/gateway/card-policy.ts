import { AgentError, type Card, type Maybe } from "../envelope/index.js";

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
  readonly policy: CardPolicy;
  /** The card as it came has signatures. */
  readonly signed: boolean;
  /** The gateway has keys to sign with. */
  readonly canSign: boolean;
  /** The address callers use for the gateway; undefined where it follows the caller's `Host`. */
  readonly publicUrl: Maybe<string>;
  /** The gateway's task runtime stands in front: what it can do counts, not what the agent can. */
  readonly adopted: boolean;
}

export interface CardInFront {
  readonly card: Card;
  /** What somebody who reads the card should know, in a sentence; a signature that was taken off is said here. */
  readonly downgrade: Maybe<string>;
}

/** The card that callers of the gateway see. Refuses what would mislead them. */
export function cardInFront(card: Card, facts: CardFacts): CardInFront {
  const { policy, signed, canSign } = facts;
  if (policy === "verbatim") return { card: verbatim(card, facts), downgrade: undefined };
  if (policy === "rewrite+resign" && !canSign)
    throw new AgentError(
      "invalid_message",
      "a card is signed anew only by a gateway that has a key: give it one, or take signatures off",
    );
  const rewritten = rewrite(card, facts);
  const stripped = policy === "rewrite+strip" && signed;
  return {
    card: rewritten,
    downgrade: stripped
      ? `the card of ${facts.name} was signed; its signatures are taken off because its addresses change`
      : undefined,
  };
}

/** Only where it already leads to the gateway: else clients would go past it. */
function verbatim(card: Card, { name, publicUrl }: CardFacts): Card {
  if (card.original === undefined)
    throw new AgentError("invalid_message", `there is no document of ${name} that could stay as it is`);
  const past = card.interfaces.find(({ url }) => publicUrl === undefined || !isBelow(url, publicUrl));
  if (past !== undefined)
    throw new AgentError(
      "invalid_message",
      `the card of ${name} cannot stay as it is: it leads to ${past.url}, past this gateway`,
    );
  return card;
}

function isBelow(url: string, base: string): boolean {
  if (!URL.canParse(url) || !URL.canParse(base)) return false;
  const [below, above] = [new URL(url), new URL(base)];
  const path = above.pathname.replace(/\/$/, "");
  return below.origin === above.origin && (below.pathname === path || below.pathname.startsWith(`${path}/`));
}

/** Addresses and ways to get in are the gateway's own; they are added by whoever serves the card. */
function rewrite(card: Card, { name, adopted }: CardFacts): Card {
  const { capabilities } = card;
  return {
    ...card,
    name,
    security: { schemes: {}, anyOf: [] },
    interfaces: [],
    original: undefined,
    capabilities: adopted
      ? { ...capabilities, streaming: true, push: false, idempotentSend: true, resume: true }
      : { ...capabilities, push: capabilities.push },
  };
}
