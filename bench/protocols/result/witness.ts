import type { RequestEvent } from "./event.js";
import { lostWithItsProcess, peerProblems } from "./peer-witness.js";
import type { Condition } from "./plan.js";
import type { RunEvents } from "./run-events.js";

/** Text that is compressed on the wire takes at least this share of its bytes. */
const COMPRESSED = 0.5;

/** Why a run did not really happen over the wire. Empty: it did. */
export function witnessProblems(events: RunEvents, condition: Condition): readonly string[] {
  const sent = events.requests.filter(({ outcome }) => outcome !== "dropped");
  if (sent.length === 0) return ["no request was sent"];
  const problems = [...edgeProblems(events, sent), ...unseenAnswers(events, sent), ...peerProblems(events, condition)];
  return condition.faults.length > 0 || condition.coordinator !== undefined
    ? problems
    : [...problems, ...countProblems(events, sent, condition)];
}

/** Each edge carried at least the payloads that its requests and answers claim. */
function edgeProblems({ wires }: RunEvents, sent: readonly RequestEvent[]): readonly string[] {
  const ends = wires.filter(({ phase, edge }) => phase === "end" && edge.startsWith(edgeTo("")));
  const silent = ends.filter((wire) => wire.sent === 0 || wire.received === 0).map(({ edge }) => `no bytes on the edge ${edge}`);
  const short = [...new Set(sent.map(({ to }) => to))].flatMap((to) => {
    const wire = ends.find(({ edge }) => edge === edgeTo(to));
    if (wire === undefined) return [`nothing was counted on the edge ${edgeTo(to)}`];
    const answered = sent.filter((request) => request.to === to && request.outcome === "answered");
    const least = (bytes: (request: RequestEvent) => number) => COMPRESSED * answered.reduce((sum, each) => sum + bytes(each), 0);
    const lacks = wire.sent < least((each) => each.payloadBytes) || wire.received < least((each) => each.answerBytes);
    return lacks ? [`fewer bytes on the edge ${edgeTo(to)} than its requests and answers have`] : [];
  });
  return [...silent, ...short];
}

/** The name of the calling process. */
export const CALLER = "caller";

/** The name of the edge from the caller to an agent. */
export function edgeTo(agent: string): string {
  return edgeBetween(CALLER, agent);
}

export function edgeBetween(from: string, to: string): string {
  return `${from}>${to}`;
}

function unseenAnswers({ services, faults }: RunEvents, sent: readonly RequestEvent[]): readonly string[] {
  const seen = new Set(services.map(({ seq }) => seq));
  const wasLost = ({ to, stamps }: RequestEvent): boolean => lostWithItsProcess(faults, to, stamps.done);
  const unseen = sent.filter((each) => each.outcome === "answered" && !seen.has(each.seq) && !wasLost(each)).length;
  return unseen === 0 ? [] : [`${unseen} answers did not come from an agent`];
}

function countProblems({ services }: RunEvents, sent: readonly RequestEvent[], { load }: Condition): readonly string[] {
  const received = new Set(services.map(({ seq }) => seq)).size;
  const failed = sent.filter(({ outcome }) => outcome === "failed").length;
  // Of an open loop more is offered than can be answered: late answers are part of what is measured. The first messages of a run may wait
  // for processes that start and for handshakes longer than for an answer: in a scaled run a message has little time.
  const mayBeLate = ({ phase }: RequestEvent): boolean => load.loop === "open" || phase === "warm-up";
  const late = sent.filter((request) => request.outcome === "timeout" && mayBeLate(request)).length;
  const answered = sent.filter(({ outcome }) => outcome === "answered").length;
  const equal =
    failed === 0 && answered + late === sent.length && (received === sent.length || (late > 0 && received >= answered));
  return equal ? [] : [`sent ${sent.length}, received ${received}, answered ${answered}: they must be equal without faults`];
}
