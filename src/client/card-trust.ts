import { AgentError, type Card, type Maybe } from "../envelope/index.js";
import {
  type CardSignatureResult,
  type CardTrust,
  createCardCheck,
  describeCardSignature,
  publishedKeys,
} from "../security/index.js";
import type { Link } from "../transport/exchange.js";
import type { Candidate } from "./pick-interface.js";

/** A card and the result of checking its signatures. */
export interface CheckedCard {
  readonly card: Card;
  readonly trust: CardSignatureResult["result"];
  /** Human-readable. Undefined for an unsigned card when no trust settings were given. */
  readonly evidence: Maybe<string>;
}

/** Throws `bad_signature` for an altered card, and `downgrade_refused` for one that lacks a required signature. */
export type CheckCard = (card: Card) => Promise<CheckedCard>;

/** Key sets are fetched over `link`, which guards its targets and presents no credentials. */
export function cardChecker(trust: Maybe<CardTrust>, link: Link, now: () => number): CheckCard {
  const check = createCardCheck(trust, publishedKeys(trust?.trustedJku ?? [], link, now));
  return async (card) => {
    const signature = await check(card.original?.bytes);
    const { result } = signature;
    const evidence = trust === undefined && result === "unsigned" ? undefined : describeCardSignature(signature);
    if (result !== "verified" || card.original === undefined) return { card, trust: result, evidence };
    return { card: { ...card, original: { ...card.original, verifiedBy: signature.by } }, trust: result, evidence };
  };
}

/** An interface of a peer and its checked card. */
export interface TrustedInterface {
  readonly candidate: Candidate;
  readonly checked: CheckedCard;
}

/** The preferred one first; never empty. */
export type TrustedInterfaces = readonly [TrustedInterface, ...TrustedInterface[]];

/** The interfaces whose cards may be used. One whose card lacks a required signature is dropped. */
export async function trustedInterfaces(candidates: readonly Candidate[], check: CheckCard): Promise<TrustedInterfaces> {
  // The interfaces of one protocol usually share one card.
  const known = new Map<Card, Promise<CheckedCard>>();
  const trusted: TrustedInterface[] = [];
  let refused = new AgentError("unsupported", "the peer has no usable interface", { sent: "no" });
  for (const { protocol, peer } of candidates) {
    const checking = known.get(peer.card) ?? check(peer.card);
    known.set(peer.card, checking);
    try {
      const checked = await checking;
      trusted.push({ candidate: { protocol, peer: { ...peer, card: checked.card } }, checked });
    } catch (thrown) {
      refused = AgentError.from(thrown);
      if (refused.code !== "downgrade_refused") throw refused;
    }
  }
  const [first, ...others] = trusted;
  if (first === undefined) throw refused;
  return [first, ...others];
}
