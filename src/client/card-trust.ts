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

/** A card, and what its signatures are worth here. */
export interface CheckedCard {
  readonly card: Card;
  readonly trust: CardSignatureResult["result"];
  /** For people. Undefined where there was nothing to check and nobody asked. */
  readonly evidence: Maybe<string>;
}

/** Throws `bad_signature` for a card that is not what a trusted key signed, `downgrade_refused` where one is required. */
export type CheckCard = (card: Card) => Promise<CheckedCard>;

/** Key sets are fetched over `link`, which guards where it leads and shows no credentials. */
export function cardChecker(trust: Maybe<CardTrust>, link: Link, now: () => number): CheckCard {
  const check = createCardCheck(trust, publishedKeys(trust?.trustedJku ?? [], link, now));
  return async (card) => {
    const verdict = await check(card.original?.bytes);
    const { result } = verdict;
    const evidence = trust === undefined && result === "unsigned" ? undefined : describeCardSignature(verdict);
    if (result !== "verified" || card.original === undefined) return { card, trust: result, evidence };
    return { card: { ...card, original: { ...card.original, verifiedBy: verdict.by } }, trust: result, evidence };
  };
}

/** A way to a peer, and what its card is worth. */
export interface TrustedInterface {
  readonly candidate: Candidate;
  readonly checked: CheckedCard;
}

/** The best first; never empty. */
export type TrustedInterfaces = readonly [TrustedInterface, ...TrustedInterface[]];

/** The ways whose cards may be acted on. One whose card lacks the signature we require is no way. */
export async function trustedInterfaces(candidates: readonly Candidate[], check: CheckCard): Promise<TrustedInterfaces> {
  // All ways of one protocol usually share one card.
  const known = new Map<Card, Promise<CheckedCard>>();
  const ways: TrustedInterface[] = [];
  let refused = new AgentError("unsupported", "there is no way to reach this peer", { sent: "no" });
  for (const { protocol, peer } of candidates) {
    const checking = known.get(peer.card) ?? check(peer.card);
    known.set(peer.card, checking);
    try {
      const checked = await checking;
      ways.push({ candidate: { protocol, peer: { ...peer, card: checked.card } }, checked });
    } catch (thrown) {
      refused = AgentError.from(thrown);
      if (refused.code !== "downgrade_refused") throw refused;
    }
  }
  const [first, ...others] = ways;
  if (first === undefined) throw refused;
  return [first, ...others];
}
