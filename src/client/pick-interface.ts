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

/** Why an interface does not have a version that a message allows. */
export function fitsVersions({ peer }: Candidate, versions: Maybe<Context>): Maybe<AgentError> {
  return versions && versionProblem(peer.version, versions);
}

/** The interfaces with a version that a message allows. Throws if there is none: nothing is sent. */
export function fittingInterfaces(candidates: readonly Candidate[], versions: Maybe<Context>): readonly Candidate[] {
  if (versions === undefined) return candidates;
  let problem: Maybe<AgentError>;
  const fitting = candidates.filter((candidate) => {
    const misfit = fitsVersions(candidate, versions);
    problem ??= misfit;
    return misfit === undefined;
  });
  if (fitting.length > 0 || problem === undefined) return fitting;
  const known = [...new Set(candidates.map(({ protocol, peer }) => `${protocol.id}@${peer.version}`))].join(", ");
  const why = problem.code === "unsupported_version" ? `${problem.message}; available: ${known}` : problem.message;
  throw new AgentError(problem.code, why, { ...problem.facts, sent: "no" });
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
    const known = candidates.map(({ protocol, peer }) => `${protocol.id}@${peer.version}`);
    throw new AgentError(
      "unsupported_version",
      `the peer has no interface for ${hint}; available: ${[...new Set(known)].join(", ")}`,
      { sent: "no" },
    );
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
