import { AgentError, type Context, type Maybe, versionProblem } from "../envelope/index.js";
import type { Peer, Protocol } from "../protocols/protocol.js";

/** One interface of a peer: a protocol, a version and an address. */
export interface Candidate {
  readonly protocol: Protocol;
  readonly peer: Peer;
}

/** Percentage of sends by `protocol` or `protocol@version`; the remainder follows the peer's card. */
export type Shares = Readonly<Record<string, number>>;

/** `a2a@0.3` names a protocol and a version of it, `a2a` the protocol alone. */
export function matchesHint({ protocol, peer }: Candidate, hint: string): boolean {
  const at = hint.indexOf("@");
  return at < 0 ? protocol.id === hint : protocol.id === hint.slice(0, at) && peer.version === hint.slice(at + 1);
}

/**
 * Selects the interface for a message: the one its hint names, else one drawn by the shares, else the first in the order of
 * the peer's card. A hint that matches none is an error; there is no silent fallback.
 */
export function pickInterface(
  candidates: readonly Candidate[],
  hint: Maybe<string>,
  shares: Shares,
  random: () => number,
): Candidate {
  const [first] = candidates;
  if (first === undefined) throw new AgentError("unsupported", "the peer has no usable interface", { sent: "no" });
  if (hint !== undefined && hint !== "") {
    const hinted = candidates.find((candidate) => hint.split("|").some((each) => matchesHint(candidate, each)));
    if (hinted !== undefined) return hinted;
    throw new AgentError("unsupported_version", `the peer has no interface for ${hint}; available: ${namesOf(candidates)}`, {
      sent: "no",
    });
  }
  return drawByShare(candidates, shares, random) ?? first;
}

function drawByShare(candidates: readonly Candidate[], shares: Shares, random: () => number): Maybe<Candidate> {
  const entries = Object.entries(shares);
  if (entries.length === 0) return undefined;
  let point = random() * 100;
  for (const [hint, percent] of entries) {
    if (point < percent) return candidates.find((candidate) => matchesHint(candidate, hint));
    point -= percent;
  }
  return undefined;
}

/** What the author of a message says about its interface. */
export interface InterfaceWish {
  readonly hint: Maybe<string>;
  /** With `min_version` or `max_version`. */
  readonly versions: Maybe<Context>;
}

/** Whether an interface may be used instead of another one: with a range of versions, only another version of the same protocol. */
export function mayReplace(other: Candidate, chosen: Candidate, { hint, versions }: InterfaceWish): boolean {
  if (versions === undefined) return true;
  const hinted = hint === undefined || hint === "" || hint.split("|").some((each) => matchesHint(other, each));
  return hinted && other.protocol.id === chosen.protocol.id && versionProblem(other.peer.version, versions) === undefined;
}

/**
 * The interface of the protocol of `chosen` with a version that the message allows. Version numbers of different protocols have
 * no common order, so a range never changes the protocol. Throws if no version fits: nothing is sent.
 */
export function withinVersions(chosen: Candidate, candidates: readonly Candidate[], wish: InterfaceWish): Candidate {
  const problem = wish.versions && versionProblem(chosen.peer.version, wish.versions);
  if (problem === undefined) return chosen;
  const fitting = candidates.find((candidate) => mayReplace(candidate, chosen, wish));
  if (fitting !== undefined) return fitting;
  const why = problem.code === "unsupported_version" ? `${problem.message}; available: ${namesOf(candidates)}` : problem.message;
  throw new AgentError(problem.code, why, { ...problem.facts, sent: "no" });
}

function namesOf(candidates: readonly Candidate[]): string {
  return [...new Set(candidates.map(({ protocol, peer }) => `${protocol.id}@${peer.version}`))].join(", ");
}
