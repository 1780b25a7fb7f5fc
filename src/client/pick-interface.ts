import { AgentError, type Maybe } from "../envelope/index.js";
import type { Peer, Protocol } from "../protocols/protocol.js";

/** One way to call a peer: a protocol, a version and an address. */
export interface Candidate {
  readonly protocol: Protocol;
  readonly peer: Peer;
}

/** Percent of the sends, by `protocol` or `protocol@version`; what is left over follows the peer's card. */
export type Shares = Readonly<Record<string, number>>;

/** `a2a@0.3` names a protocol and a version of it, `a2a` the protocol alone. */
export function matchesHint({ protocol, peer }: Candidate, hint: string): boolean {
  const at = hint.indexOf("@");
  return at < 0 ? protocol.id === hint : protocol.id === hint.slice(0, at) && peer.version === hint.slice(at + 1);
}

/**
 * Which candidate carries this message: the one its hint names, else one drawn by the shares, else the first, which is the
 * order of the peer's card. A hint nobody answers to is an error, never a silent second choice.
 */
export function pickInterface(
  candidates: readonly Candidate[],
  hint: Maybe<string>,
  shares: Shares,
  random: () => number,
): Candidate {
  const [first] = candidates;
  if (first === undefined) throw new AgentError("unsupported", "there is no way left to reach this peer", { sent: "no" });
  if (hint !== undefined && hint !== "") {
    const hinted = candidates.find((candidate) => hint.split("|").some((each) => matchesHint(candidate, each)));
    if (hinted !== undefined) return hinted;
    const known = candidates.map(({ protocol, peer }) => `${protocol.id}@${peer.version}`);
    throw new AgentError(
      "unsupported_version",
      `the peer is not reached by ${hint}; it is by ${[...new Set(known)].join(", ")}`,
      { sent: "no" },
    );
  }
  return drawn(candidates, shares, random) ?? first;
}

function drawn(candidates: readonly Candidate[], shares: Shares, random: () => number): Maybe<Candidate> {
  const entries = Object.entries(shares);
  if (entries.length === 0) return undefined;
  let point = random() * 100;
  for (const [hint, percent] of entries) {
    if (point < percent) return candidates.find((candidate) => matchesHint(candidate, hint));
    point -= percent;
  }
  return undefined;
}
