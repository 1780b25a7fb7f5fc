import type { BenchEventOf } from "./event.js";
import type { PlannedFault } from "./plan.js";
import type { RunEvents } from "./run-events.js";
import type { Victim } from "./storm-schema.js";

const NS_PER_US = 1_000;
type Fault = BenchEventOf<"fault">;

/** A right answer that went through an agent or over a link. */
export interface AnswerHop {
  readonly through: string;
  /** When it was there. */
  readonly ns: number;
  /** When the caller had the answer. */
  readonly answeredNs: number;
}

export interface VictimFacts {
  readonly events: RunEvents;
  readonly begins: readonly Fault[];
  readonly planned: readonly PlannedFault[];
  readonly hops: readonly AnswerHop[];
}

/** How one victim came back, from the fault to the first right answer through it. */
export function victimOf(victim: string, { events, begins, planned, hops }: VictimFacts): Victim {
  const own = planned.filter((fault) => (fault.victim ?? fault.target) === victim);
  const targets = new Set(own.map(({ target }) => target));
  const begunNs = Math.min(...begins.filter(({ target }) => targets.has(target)).map(({ ns }) => ns));
  const ends = events.faults.filter(({ step, target, ns }) => step === "end" && targets.has(target) && ns >= begunNs);
  const endNs = firstPerTarget(ends);
  const notesOf = (kind: string, from: number) =>
    events.notes.filter((note) => note.kind === kind && note.ns >= from).sort((a, b) => a.ns - b.ns);
  const ownNote = (kind: string) =>
    endNs === undefined ? undefined : notesOf(kind, begunNs).find(({ agent }) => agent === victim);
  const isRestarted = own.some(({ kind }) => kind === "kill" || kind === "listener");
  const listening = isRestarted ? ownNote("listening")?.ns : endNs;
  const rejoined = isRestarted ? ownNote("rejoined")?.ns : undefined;
  const useful = firstUseful(victim, listening, { events, hops });
  // A question may be answered before the first peer has replied to the greeting: then there was nothing to wait for.
  const accepted = rejoined === undefined || useful === undefined ? listening : Math.min(rejoined, useful);
  const us = (from: number | undefined, to: number | undefined): number | null =>
    from === undefined || to === undefined ? null : (to - from) / NS_PER_US;
  return {
    victim,
    recoveryUs: us(begunNs, useful),
    downUs: us(begunNs, endNs),
    startUs: us(endNs, listening),
    rejoinUs: isRestarted ? us(listening, accepted) : null,
    workUs: us(accepted, useful),
    usefulUs: us(listening, useful),
    detections: detectionsOf(victim, notesOf("dead", begunNs), { begunNs, endNs: listening ?? Number.POSITIVE_INFINITY }),
    restored: restoredOf(ownNote("restored")),
    reconnect: reconnectOf(ownNote("reconnect")),
  };
}

/** One question to an agent that was coming back. */
export interface Probe {
  readonly sentNs: number;
  readonly answeredNs: number;
  readonly right: boolean;
}

/** In the order in which they were asked. */
export function probesOf(notes: RunEvents["notes"], victim: string): readonly Probe[] {
  return notes
    .filter(({ kind, about }) => kind === "probe" && about === victim)
    .map(({ ns, values }) => ({ sentNs: Number(values["sent"]), answeredNs: ns, right: values["right"] === true }))
    .sort((a, b) => a.sentNs - b.sentNs);
}

/** The first right answer through a victim since it listens: to a probe, or to a question of the load. */
function firstUseful(
  victim: string,
  listening: number | undefined,
  { events, hops }: Pick<VictimFacts, "events" | "hops">,
): number | undefined {
  if (listening === undefined) return undefined;
  const loaded = hops.find(({ through, ns }) => through === victim && ns >= listening)?.answeredNs;
  const probed = probesOf(events.notes, victim).find(({ right, answeredNs }) => right && answeredNs >= listening)?.answeredNs;
  return loaded === undefined || probed === undefined ? (loaded ?? probed) : Math.min(loaded, probed);
}

/** When all of the faults were taken back; undefined if none was. */
function firstPerTarget(ends: readonly Fault[]): number | undefined {
  const first = new Map<string, number>();
  for (const { target, ns } of ends) first.set(target, Math.min(first.get(target) ?? ns, ns));
  return first.size === 0 ? undefined : Math.max(...first.values());
}

function detectionsOf(
  victim: string,
  notes: readonly BenchEventOf<"note">[],
  { begunNs, endNs }: { readonly begunNs: number; readonly endNs: number },
): Victim["detections"] {
  // Of a link, the agent that calls over it notices that it does not reach the other.
  const [from, to] = victim.includes(">") ? victim.split(">") : [undefined, victim];
  const first = new Map<string, Victim["detections"][number]>();
  for (const { agent, about, ns, values } of notes) {
    if (about !== to || (from !== undefined && agent !== from) || ns > endNs || first.has(agent)) continue;
    first.set(agent, { by: agent, us: (ns - begunNs) / NS_PER_US, seenBy: String(values["seenBy"] ?? "") });
  }
  return [...first.values()];
}

function restoredOf(note: BenchEventOf<"note"> | undefined): Victim["restored"] {
  if (note === undefined) return null;
  const { source, fragments, bytes, us } = note.values;
  return { source: String(source), fragments: Number(fragments), bytes: Number(bytes), us: Number(us) };
}

function reconnectOf(note: BenchEventOf<"note"> | undefined): Victim["reconnect"] {
  if (note === undefined) return null;
  const { connections, sent, received } = note.values;
  return { connections: Number(connections), sent: Number(sent), received: Number(received) };
}
