import { CancelSource } from "../envelope/cancel.js";
import { AgentError, type Maybe, startCall } from "../envelope/index.js";
import type { Clock } from "../policies/index.js";
import type { CardGate, Finding, Protocol } from "../protocols/protocol.js";
import type { Link } from "../transport/exchange.js";
import { type Candidate, matchesHint } from "./pick-interface.js";
import type { Verdict } from "./verdicts.js";

export interface FindOptions {
  readonly protocols: readonly Protocol[];
  readonly link: Link;
  readonly clock: Clock;
  readonly discoverMs: number;
  readonly known?: Maybe<Verdict>;
  /** Whether a card may be acted on. */
  readonly check?: Maybe<CardGate>;
}

/** Asks every protocol at once who speaks it at this address. Proved findings come first, then the order of the registry. */
export async function find(url: string, options: FindOptions): Promise<Verdict> {
  const { protocols, link, clock, discoverMs, known, check } = options;
  const cancel = new CancelSource();
  const stop = clock.after(discoverMs, () =>
    cancel.cancel(new AgentError("deadline", `nothing was found out about ${url} within ${discoverMs} ms`, { sent: "no" })),
  );
  try {
    const asked = await Promise.allSettled(
      protocols.map((protocol) => {
        const before = known?.findings.find((each) => each.protocol.id === protocol.id)?.finding;
        return protocol.discover(link, url, startCall({ cancel }), { known: before, check });
      }),
    );
    const findings = asked.flatMap((outcome, index) => {
      const protocol = protocols[index];
      return outcome.status === "fulfilled" && outcome.value !== undefined && protocol !== undefined
        ? [{ protocol, finding: outcome.value }]
        : [];
    });
    if (findings.length === 0) throw notFound(url, asked, cancel.reason);
    findings.sort((a, b) => Number(b.finding.proved) - Number(a.finding.proved));
    return { findings, foundAt: clock.now() };
  } finally {
    stop();
  }
}

/** Nobody listening is another thing than somebody who speaks nothing we know. */
function notFound(
  url: string,
  asked: readonly PromiseSettledResult<Maybe<Finding>>[],
  timedOut: AgentError | undefined,
): AgentError {
  if (timedOut !== undefined) return timedOut;
  const failed = asked.find((outcome) => outcome.status === "rejected");
  if (failed !== undefined) return AgentError.from(failed.reason);
  return new AgentError("unsupported", `something answers at ${url}, but in no protocol known here`, { sent: "no" });
}

/** All ways to reach the peer, the best first; a pin leaves only what it names. */
export function candidatesOf(verdict: Verdict, pin: Maybe<string>): readonly Candidate[] {
  const all = verdict.findings.flatMap(({ protocol, finding }) => finding.peers.map((peer) => ({ protocol, peer })));
  if (pin === undefined) return all;
  const [hint = "", binding] = pin.split("/", 2);
  const pinned = all.filter(
    (candidate) => matchesHint(candidate, hint) && (binding === undefined || candidate.peer.binding === binding),
  );
  if (pinned.length > 0) return pinned;
  const known = [...new Set(all.map(({ protocol, peer }) => `${protocol.id}@${peer.version}/${peer.binding}`))];
  throw new AgentError("unsupported", `the peer is not reached by ${pin}; it is by ${known.join(", ")}`, { sent: "no" });
}
