import { AgentError, type Layer, type Maybe } from "../envelope/index.js";
import type { Clock } from "../policies/index.js";
import type { Protocol } from "../protocols/protocol.js";
import { type CallOutcome, callOutcomes, type OutcomeOptions } from "./call-outcomes.js";
import type { TrustedInterface, TrustedInterfaces } from "./card-trust.js";
import { noSuchInterface } from "./discovery.js";
import type { Candidate } from "./pick-interface.js";

/** Who chooses where a peer speaks several feasible protocols. */
export interface ProtocolChooser {
  /** One of these ids, which are all feasible and all spoken by the peer. Any other answer is an error. */
  choose(protocols: readonly string[]): string | Promise<string>;
  /** Hears how each send by one of them ended. Nobody waits for it, and what it throws is dropped. */
  learn?(protocol: string, outcome: CallOutcome): void | Promise<void>;
}

/** How long a chooser may take before the connection fails. */
const CHOOSE_MS = 5_000;

/** The ways that are by one of these protocols, by id or by name, however it is capitalised. None is an error that says what there is. */
export function feasibleInterfaces(ways: readonly Candidate[], feasible: Maybe<readonly string[]>): readonly Candidate[] {
  if (feasible === undefined) return ways;
  const wanted = new Set(feasible.map((name) => name.toLowerCase()));
  const left = ways.filter(({ protocol }) => namesOf(protocol).some((name) => wanted.has(name.toLowerCase())));
  if (left.length === 0) throw noSuchInterface(feasible.length === 0 ? "any feasible protocol" : feasible.join(" or "), ways);
  return left;
}

function namesOf({ id, features }: Protocol): readonly string[] {
  return features === undefined ? [id] : [id, features.name];
}

/** The protocols of these ways, each once, in their order. */
function protocolsOf(ways: readonly Candidate[]): readonly string[] {
  return [...new Set(ways.map(({ protocol }) => protocol.id))];
}

/** The ways by the protocol that was chosen, then the others, and how that came about. Without a choice everything stays as it is. */
export async function chosenFirst(
  ways: TrustedInterfaces,
  chooser: Maybe<ProtocolChooser>,
  clock: Clock,
): Promise<{ readonly ways: TrustedInterfaces; readonly evidence: readonly string[] }> {
  const protocols = protocolsOf(ways.map(({ candidate }) => candidate));
  if (chooser === undefined || protocols.length < 2) return { ways, evidence: [] };
  const chosen = await withinTime(async () => chooser.choose(protocols), clock);
  const isChosen = ({ candidate }: TrustedInterface): boolean => candidate.protocol.id === chosen;
  const [first, ...more] = ways.filter(isChosen);
  const among = protocols.join(", ");
  if (first === undefined)
    throw new AgentError("internal", `the chooser answered ${JSON.stringify(chosen)}, which is none of ${among}`, { sent: "no" });
  const others = ways.filter((way) => !isChosen(way));
  return { ways: [first, ...more, ...others], evidence: [`${chosen} was chosen among ${among}`] };
}

function withinTime(choose: () => Promise<string>, clock: Clock): Promise<string> {
  return new Promise((resolve, reject) => {
    const takeBack = clock.after(CHOOSE_MS, () =>
      reject(new AgentError("deadline", `the chooser named no protocol within ${CHOOSE_MS} ms`, { sent: "no" })),
    );
    void choose().then(resolve, reject).finally(takeBack);
  });
}

/** What tells the chooser how sends go by each way; undefined where it does not want to hear it, or has no choice. */
export function learningBy(
  chooser: Maybe<ProtocolChooser>,
  ways: readonly Candidate[],
  options: Omit<OutcomeOptions, "tell">,
): Maybe<(way: Candidate) => Layer> {
  if (chooser?.learn === undefined || protocolsOf(ways).length < 2) return undefined;
  const tell = async (protocol: string, outcome: CallOutcome): Promise<void> => {
    try {
      await chooser.learn?.(protocol, outcome);
    } catch {
      // The call is over and was what it was, whether anybody learned from it or not.
    }
  };
  return ({ protocol }) => callOutcomes({ ...options, tell: (outcome) => void tell(protocol.id, outcome) });
}
