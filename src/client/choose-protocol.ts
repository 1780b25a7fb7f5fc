import { AgentError, type Layer, type Maybe } from "../envelope/index.js";
import type { Clock } from "../policies/index.js";
import type { Protocol } from "../protocols/protocol.js";
import { type CallOutcome, callOutcomes, type OutcomeOptions } from "./call-outcomes.js";
import type { TrustedInterface, TrustedInterfaces } from "./card-trust.js";
import { noSuchInterface } from "./discovery.js";
import type { Candidate } from "./pick-interface.js";

/** Selects the protocol where a peer supports several feasible ones. */
export interface ProtocolChooser {
  /** Returns one of these ids, all feasible and supported by the peer. Any other answer is an error. */
  choose(protocols: readonly string[]): string | Promise<string>;
  /** Called with the outcome of each send. It is not awaited by the call, and its errors are dropped. */
  learn?(protocol: string, outcome: CallOutcome): void | Promise<void>;
}

/** How long a chooser may take before the connection fails. */
const CHOOSE_MS = 5_000;

/** The interfaces of these protocols, by id or name, case-insensitive. No match is an error that names what is available. */
export function feasibleInterfaces(candidates: readonly Candidate[], feasible: Maybe<readonly string[]>): readonly Candidate[] {
  if (feasible === undefined) return candidates;
  const wanted = new Set(feasible.map((name) => name.toLowerCase()));
  const left = candidates.filter(({ protocol }) => namesOf(protocol).some((name) => wanted.has(name.toLowerCase())));
  if (left.length === 0)
    throw noSuchInterface(feasible.length === 0 ? "any feasible protocol" : feasible.join(" or "), candidates);
  return left;
}

function namesOf({ id, features }: Protocol): readonly string[] {
  return features === undefined ? [id] : [id, features.name];
}

/** The protocols of these interfaces, each once, in their order. */
function protocolsOf(candidates: readonly Candidate[]): readonly string[] {
  return [...new Set(candidates.map(({ protocol }) => protocol.id))];
}

/** The interfaces of the chosen protocol first, then the others, with the evidence. Unchanged where there is no choice. */
export async function chosenFirst(
  interfaces: TrustedInterfaces,
  chooser: Maybe<ProtocolChooser>,
  clock: Clock,
): Promise<{ readonly interfaces: TrustedInterfaces; readonly evidence: readonly string[] }> {
  const protocols = protocolsOf(interfaces.map(({ candidate }) => candidate));
  if (chooser === undefined || protocols.length < 2) return { interfaces, evidence: [] };
  const chosen = await withinTime(async () => chooser.choose(protocols), clock);
  const isChosen = ({ candidate }: TrustedInterface): boolean => candidate.protocol.id === chosen;
  const [first, ...more] = interfaces.filter(isChosen);
  const among = protocols.join(", ");
  if (first === undefined)
    throw new AgentError("internal", `the protocol chooser returned ${JSON.stringify(chosen)}; expected one of ${among}`, {
      sent: "no",
    });
  const others = interfaces.filter((each) => !isChosen(each));
  return { interfaces: [first, ...more, ...others], evidence: [`${chosen} was chosen among ${among}`] };
}

function withinTime(choose: () => Promise<string>, clock: Clock): Promise<string> {
  return new Promise((resolve, reject) => {
    const stopTimer = clock.after(CHOOSE_MS, () =>
      reject(new AgentError("deadline", `the protocol chooser did not answer within ${CHOOSE_MS} ms`, { sent: "no" })),
    );
    void choose().then(resolve, reject).finally(stopTimer);
  });
}

/** The layer that reports outcomes of each interface to the chooser; undefined if it takes none, or has no choice. */
export function learningBy(
  chooser: Maybe<ProtocolChooser>,
  candidates: readonly Candidate[],
  options: Omit<OutcomeOptions, "report">,
): Maybe<(candidate: Candidate) => Layer> {
  if (chooser?.learn === undefined || protocolsOf(candidates).length < 2) return undefined;
  const report = async (protocol: string, outcome: CallOutcome): Promise<void> => {
    try {
      await chooser.learn?.(protocol, outcome);
    } catch {
      // A failing chooser must not change the result of a call that has ended.
    }
  };
  return ({ protocol }) => callOutcomes({ ...options, report: (outcome) => void report(protocol.id, outcome) });
}
