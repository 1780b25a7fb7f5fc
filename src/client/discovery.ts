import { CancelSource } from "../envelope/cancel.js";
import { AgentError, type Maybe, startCall } from "../envelope/index.js";
import type { Clock } from "../policies/index.js";
import type { CardGate, Finding, Protocol } from "../protocols/protocol.js";
import type { Link } from "../transport/exchange.js";
import type { DiscoveryResult } from "./discovery-cache.js";
import { type Candidate, matchesHint } from "./pick-interface.js";

export interface DiscoveryOptions {
  readonly protocols: readonly Protocol[];
  readonly link: Link;
  readonly clock: Clock;
  readonly discoverMs: number;
  readonly known?: Maybe<DiscoveryResult>;
  /** Whether a card may be acted on. */
  readonly check?: Maybe<CardGate>;
  /** The one way the user wants: its protocol is looked for harder. */
  readonly pin?: Maybe<string>;
}

/** Once one way in is proved, who is still looking for another has this long. */
const LATE_MS = 1_000;

/**
 * Asks every protocol at once who speaks it at this address. What was doubted comes last, else the order is that of the
 * registry. What is known of the whole host alone is no answer: it may be another agent. A card that was tampered with
 * ends it for all: whoever did that could take the card away and leave another way in.
 */
export async function discoverPeer(url: string, options: DiscoveryOptions): Promise<DiscoveryResult> {
  const { protocols, link, clock, discoverMs, known, check, pin } = options;
  const cancel = new CancelSource();
  const timers = [
    clock.after(discoverMs, () =>
      cancel.cancel(new AgentError("deadline", `nothing was found out about ${url} within ${discoverMs} ms`, { sent: "no" })),
    ),
  ];
  const search = { check: check && endingAll(check, cancel) };
  const call = startCall({ cancel });
  try {
    const asked = await Promise.allSettled(
      protocols.map(async (protocol) => {
        const before = known?.findings.find((each) => each.protocol.id === protocol.id)?.finding;
        const finding = await protocol.discover(link, url, call, { ...search, known: before });
        if (finding?.proved === true && finding.wider !== true && isWanted(protocol, pin))
          timers.push(clock.after(LATE_MS, () => cancel.cancel(deadlinePassed(url))));
        return finding;
      }),
    );
    // The first reason to stop stays, so a forgery that was seen after the time was over is looked for among the outcomes.
    const forgery = [cancel.reason, ...asked.map(reasonOf)].find(isForgery);
    if (forgery !== undefined) throw forgery;
    const found = narrowest(foundBy(protocols, asked));
    const missing = protocols.filter(
      (protocol) =>
        (pin === undefined ? found.length === 0 : isWanted(protocol, pin)) && !found.some((each) => each.protocol === protocol),
    );
    const probed = await Promise.allSettled(missing.map(async (protocol) => protocol.probe?.(link, url, call, search)));
    const findings = [...found, ...foundBy(missing, probed)];
    // Why the one way that is wanted is closed says more than which others are open.
    if (findings.length === 0 || (pin !== undefined && findings.length === found.length && missing.length > 0)) {
      const tried = asked.filter((_, index) => missing.some((protocol) => protocol === protocols[index]));
      const problem = problemOf([...tried, ...probed]);
      if (problem !== undefined && cancel.reason === undefined) throw problem;
    }
    if (findings.length === 0) throw cancel.reason ?? speaksOther(url, pin);
    if (findings.every(({ finding }) => finding.wider === true)) throw onlyTheHost(url, findings);
    findings.sort((a, b) => Number(a.finding.doubted ?? false) - Number(b.finding.doubted ?? false));
    return { findings, foundAt: clock.now() };
  } finally {
    for (const stop of timers) stop();
  }
}

/** Without a pin everybody is. */
function isWanted({ id }: Protocol, pin: Maybe<string>): boolean {
  return pin === undefined || pin.split(/[@/]/, 1)[0] === id;
}

type FoundBy = DiscoveryResult["findings"][number];

function foundBy(protocols: readonly Protocol[], asked: readonly PromiseSettledResult<Maybe<Finding>>[]): readonly FoundBy[] {
  return protocols.flatMap((protocol, index) => {
    const outcome = asked[index];
    return outcome?.status === "fulfilled" && outcome.value !== undefined ? [{ protocol, finding: outcome.value }] : [];
  });
}

function reasonOf(outcome: PromiseSettledResult<unknown>): unknown {
  return outcome.status === "rejected" ? outcome.reason : undefined;
}

/** Where somebody knows the address itself, what only the host is known for may be another agent, and is no way to this one. */
function narrowest(findings: readonly FoundBy[]): FoundBy[] {
  const exact = findings.filter(({ finding }) => finding.wider !== true);
  return exact.length > 0 ? exact : [...findings];
}

function endingAll(check: CardGate, cancel: CancelSource): CardGate {
  return async (card) => {
    try {
      await check(card);
    } catch (thrown) {
      if (isForgery(thrown)) cancel.cancel(thrown);
      throw thrown;
    }
  };
}

function isForgery(thrown: unknown): thrown is AgentError {
  return thrown instanceof AgentError && thrown.code === "bad_signature";
}

function deadlinePassed(url: string): AgentError {
  return new AgentError("deadline", `another way to reach ${url} was found meanwhile`, { sent: "no" });
}

/** Nobody listening is another thing than somebody who speaks nothing we know. */
function problemOf(outcomes: readonly PromiseSettledResult<unknown>[]): Maybe<AgentError> {
  const reason = outcomes.map(reasonOf).find((each) => each !== undefined);
  return reason === undefined ? undefined : AgentError.from(reason);
}

/** Whoever answers for the host may be another agent than the one this address means: no message goes to it by mistake. */
function onlyTheHost(url: string, findings: readonly FoundBy[]): AgentError {
  const names = [...new Set(findings.flatMap(({ finding }) => finding.peers.map(({ card }) => card.name)))];
  const { origin } = new URL(url);
  return new AgentError("not_found", `no agent answers at ${url}; at ${origin} there is ${names.join(", ")}`, { sent: "no" });
}

function speaksOther(url: string, pin: Maybe<string>): AgentError {
  const how = pin === undefined ? "in no protocol known here" : `not in ${pin}`;
  return new AgentError("unsupported", `something answers at ${url}, but ${how}`, { sent: "no" });
}

/** All ways to reach the peer, the best first; a pin leaves only what it names. */
export function candidatesOf(verdict: DiscoveryResult, pin: Maybe<string>): readonly Candidate[] {
  const all = verdict.findings.flatMap(({ protocol, finding }) => finding.peers.map((peer) => ({ protocol, peer })));
  if (pin === undefined) return all;
  const [hint = "", binding] = pin.split("/", 2);
  const pinned = all.filter(
    (candidate) => matchesHint(candidate, hint) && (binding === undefined || candidate.peer.binding === binding),
  );
  if (pinned.length > 0) return pinned;
  throw noSuchInterface(pin, all);
}

/** What was wanted, and what there is instead. */
export function noSuchInterface(wanted: string, ways: readonly Candidate[]): AgentError {
  const known = [...new Set(ways.map(({ protocol, peer }) => `${protocol.id}@${peer.version}/${peer.binding}`))];
  return new AgentError("unsupported", `the peer is not reached by ${wanted}; it is by ${known.join(", ")}`, { sent: "no" });
}
