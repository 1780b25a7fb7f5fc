import type { BenchEventOf } from "./event.js";
import type { PeerRequestEvent } from "./peer-event.js";
import type { Condition } from "./plan.js";
import type { RunEvents } from "./run-events.js";

/** Text that is compressed on the wire takes at least this share of its bytes. */
const COMPRESSED = 0.5;
/** A killed process takes the events of its last moments with it. */
const LOST_NS = 1_000_000_000;

/** Why messages between agents did not really go over the wire. Empty: they did, or there were none. */
export function peerProblems(events: RunEvents, condition: Condition): readonly string[] {
  const { peerServices, faults } = events;
  const endNs = events.phases.find(({ phase }) => phase === "end")?.ns ?? Number.POSITIVE_INFINITY;
  // Bytes are counted at the end of the window; later messages are in no count.
  const peerRequests = events.peerRequests.filter(({ stamps }) => stamps.done <= endNs);
  const known = new Set(peerRequests.map(({ id }) => id));
  const arrived = new Set(peerServices.map(({ id }) => id).filter((id) => known.has(id)));
  const answered = peerRequests.filter(({ outcome }) => outcome === "answered");
  const unseen = answered.filter(({ id, to, stamps }) => !arrived.has(id) && !lostWithItsProcess(faults, to, stamps.done)).length;
  const problems = [
    ...edgeProblems(events, answered),
    ...(unseen === 0 ? [] : [`${unseen} answers between agents did not come from an agent`]),
  ];
  if (condition.faults.length > 0) return problems;
  const [sent, received] = [peerRequests.filter(({ outcome }) => outcome !== "cancelled").length, arrived.size];
  if (sent === answered.length && received >= sent) return problems;
  return [
    ...problems,
    `between agents: sent ${sent}, received ${received}, answered ${answered.length}: they must be equal without faults`,
  ];
}

/** Each edge carried at least the payloads that its messages and answers claim. */
function edgeProblems({ wires }: RunEvents, answered: readonly PeerRequestEvent[]): readonly string[] {
  const bytes = new Map<string, { sent: number; received: number }>();
  for (const { from, to, payloadBytes, answerBytes } of answered) {
    const edge = `${from}>${to}`;
    const sum = bytes.get(edge) ?? { sent: 0, received: 0 };
    bytes.set(edge, { sent: sum.sent + payloadBytes, received: sum.received + answerBytes });
  }
  const ends = new Map(wires.filter(({ phase }) => phase === "end").map((wire) => [wire.edge, wire]));
  return [...bytes].flatMap(([edge, least]) => {
    const wire = ends.get(edge);
    if (wire === undefined) return [`nothing was counted on the edge ${edge}`];
    const lacks = wire.sent < least.sent * COMPRESSED || wire.received < least.received * COMPRESSED;
    return lacks ? [`fewer bytes on the edge ${edge} than its messages and answers have`] : [];
  });
}

/** Whether the process of an agent was killed just after this moment: its last events cannot have arrived. */
export function lostWithItsProcess(faults: readonly BenchEventOf<"fault">[], agent: string, ns: number): boolean {
  return faults.some(
    (fault) =>
      fault.kind === "kill" &&
      fault.step === "begin" &&
      fault.target === agent &&
      fault.ns >= ns - LOST_NS &&
      fault.ns <= ns + LOST_NS,
  );
}
