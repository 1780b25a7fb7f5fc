import { CancelSource } from "../envelope/cancel.js";
import { AgentError, asProbe, type Maybe, startCall } from "../envelope/index.js";
import type { Clock } from "../policies/index.js";
import type { CardGate, DiscoveryContext, Finding, Protocol } from "../protocols/protocol.js";
import type { DiscoveryResult } from "./discovery-cache.js";
import { type Candidate, matchesHint } from "./pick-interface.js";
import { AvailabilityWatch } from "./watch-unavailable.js";

/** What discovery needs. */
export interface DiscoveryOptions {
  readonly protocols: readonly Protocol[];
  readonly context: DiscoveryContext;
  readonly clock: Clock;
  readonly discoverMs: number;
  readonly known?: Maybe<DiscoveryResult>;
  /** Whether a card may be acted on. */
  readonly check?: Maybe<CardGate>;
  /** The pinned interface: its protocol is also probed when other protocols were found. */
  readonly pin?: Maybe<string>;
}

/** How long other protocols may continue once one interface is verified. */
const LATE_MS = 1_000;

/**
 * Runs the discovery of all protocols at once. Doubtful findings come last, else the order is that of the registry. A finding
 * that holds only for the whole host is not used: it may be another agent. A card with a bad signature fails the whole
 * discovery: an attacker who can alter the card could also remove it and leave another interface.
 */
export async function discoverPeer(url: string, options: DiscoveryOptions): Promise<DiscoveryResult> {
  const { protocols, clock, discoverMs, known, check, pin } = options;
  const watch = new AvailabilityWatch(options.context.link);
  const context: DiscoveryContext = { ...options.context, link: watch.link };
  const cancel = new CancelSource();
  const timers = [
    clock.after(discoverMs, () =>
      cancel.cancel(new AgentError("deadline", `discovery of ${url} did not finish within ${discoverMs} ms`, { sent: "no" })),
    ),
  ];
  const search = { check: check && cancelOnForgery(check, cancel), pin };
  const call = asProbe(startCall({ cancel }));
  try {
    const discovered = await Promise.allSettled(
      protocols.map(async (protocol) => {
        const before = known?.findings.find((each) => each.protocol.id === protocol.id)?.finding;
        const finding = await protocol.discover(context, url, call, { ...search, known: before });
        if (finding?.proved === true && finding.wider !== true && matchesPin(protocol, pin))
          timers.push(clock.after(LATE_MS, () => cancel.cancel(superseded(url))));
        return finding;
      }),
    );
    // Only the first cancel reason is kept: a forgery detected after the deadline is found among the outcomes.
    const forgery = [cancel.reason, ...discovered.map(reasonOf)].find(isForgery);
    if (forgery !== undefined) throw forgery;
    const found = narrowest(foundBy(protocols, discovered));
    const missing = protocols.filter((protocol) => isMissing(protocol, found, pin));
    const probed = await Promise.allSettled(missing.map(async (protocol) => protocol.probe?.(context, url, call, search)));
    const more = foundBy(missing, probed);
    const findings = joined(found, more);
    // Why the pinned interface failed is more useful than the list of others.
    if (findings.length === 0 || (pin !== undefined && more.length === 0 && missing.length > 0)) {
      const tried = discovered.filter((_, index) => missing.some((protocol) => protocol === protocols[index]));
      const problem = problemOf([...tried, ...probed]);
      if (problem !== undefined && cancel.reason === undefined) throw problem;
    }
    if (findings.length === 0) throw cancel.reason ?? watch.problem(url) ?? new NoProtocolError(url, pin);
    if (findings.every(({ finding }) => finding.wider === true)) throw onlyHostWide(url, findings);
    findings.sort((a, b) => Number(a.finding.doubted ?? false) - Number(b.finding.doubted ?? false));
    return { findings, foundAt: clock.now() };
  } finally {
    for (const stop of timers) stop();
  }
}

function matchesPin({ id }: Protocol, pin: Maybe<string>): boolean {
  return pin === undefined || pin.split(/[@/]/, 1)[0] === id;
}

type FoundBy = DiscoveryResult["findings"][number];

/** Whether a protocol is probed: nothing is found, or nothing is where it should be, or the pinned interface is not found. */
function isMissing(protocol: Protocol, found: readonly FoundBy[], pin: Maybe<string>): boolean {
  if (pin === undefined) return found.every(({ finding }) => finding.absent === true);
  if (!matchesPin(protocol, pin)) return false;
  const own = found.find((each) => each.protocol === protocol);
  return own === undefined || !own.finding.peers.some((peer) => isPinned({ protocol, peer }, pin));
}

/** What a probe found comes before absent interfaces of the same protocol. */
function joined(found: readonly FoundBy[], probed: readonly FoundBy[]): FoundBy[] {
  const alone = found.filter(({ protocol }) => !probed.some((each) => each.protocol === protocol));
  return [
    ...alone,
    ...probed.map(({ protocol, finding }): FoundBy => {
      const before = found.find((each) => each.protocol === protocol)?.finding;
      if (before === undefined) return { protocol, finding };
      const peers = [...finding.peers, ...before.peers];
      return { protocol, finding: { ...finding, peers, evidence: [...before.evidence, ...finding.evidence] } };
    }),
  ];
}

function foundBy(protocols: readonly Protocol[], outcomes: readonly PromiseSettledResult<Maybe<Finding>>[]): readonly FoundBy[] {
  return protocols.flatMap((protocol, index) => {
    const outcome = outcomes[index];
    return outcome?.status === "fulfilled" && outcome.value !== undefined ? [{ protocol, finding: outcome.value }] : [];
  });
}

function reasonOf(outcome: PromiseSettledResult<unknown>): unknown {
  return outcome.status === "rejected" ? outcome.reason : undefined;
}

/** Findings for the exact address exclude findings for the whole host, which may be another agent. */
function narrowest(findings: readonly FoundBy[]): FoundBy[] {
  const exact = findings.filter(({ finding }) => finding.wider !== true);
  return exact.length > 0 ? exact : [...findings];
}

function cancelOnForgery(check: CardGate, cancel: CancelSource): CardGate {
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

function superseded(url: string): AgentError {
  return new AgentError("deadline", `another interface of ${url} was verified first`, { sent: "no" });
}

/** The first failure: an unreachable peer is reported as such, not as one with unknown protocols. */
function problemOf(outcomes: readonly PromiseSettledResult<unknown>[]): Maybe<AgentError> {
  const reason = outcomes.map(reasonOf).find((each) => each !== undefined);
  return reason === undefined ? undefined : AgentError.from(reason);
}

function onlyHostWide(url: string, findings: readonly FoundBy[]): AgentError {
  const names = [...new Set(findings.flatMap(({ finding }) => finding.peers.map(({ card }) => card.name)))];
  const { origin } = new URL(url);
  return new AgentError("not_found", `no agent found at ${url}; ${origin} serves ${names.join(", ")}`, { sent: "no" });
}

/** The peer is reachable, but answered no probe of a registered protocol, or none of the pinned one. */
export class NoProtocolError extends AgentError {
  constructor(url: string, pin: Maybe<string>) {
    super("unsupported", `${url} is reachable, but does not support ${pin ?? "any registered protocol"}`, { sent: "no" });
  }
}

/** All interfaces of the peer, the preferred one first; a pin leaves only what it names. */
export function candidatesOf(result: DiscoveryResult, pin: Maybe<string>): readonly Candidate[] {
  const all = result.findings.flatMap(({ protocol, finding }) => finding.peers.map((peer) => ({ protocol, peer })));
  if (pin === undefined) return all;
  const pinned = all.filter((candidate) => isPinned(candidate, pin));
  if (pinned.length > 0) return pinned;
  throw noSuchInterface(pin, all);
}

function isPinned(candidate: Candidate, pin: string): boolean {
  const [hint = "", binding] = pin.split("/", 2);
  return matchesHint(candidate, hint) && (binding === undefined || candidate.peer.binding === binding);
}

/** The error for an interface the peer does not have; names those it has. */
export function noSuchInterface(wanted: string, candidates: readonly Candidate[]): AgentError {
  const known = [...new Set(candidates.map(({ protocol, peer }) => `${protocol.id}@${peer.version}/${peer.binding}`))];
  return new AgentError("unsupported", `the peer has no interface for ${wanted}; available: ${known.join(", ")}`, { sent: "no" });
}
