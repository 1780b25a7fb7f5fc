import type { CapturedMessage } from "../../../src/public/inspect.js";

/** One call of a trace with its place in the tree and in time. */
export interface TraceRow {
  readonly sighting: CapturedMessage;
  readonly depth: number;
  /** Shares of the whole trace, from 0 to 1. */
  readonly start: number;
  readonly width: number;
}

/** The calls of a trace as a tree by their spans, each below the call it follows from. Calls whose cause was not seen are roots. */
export function traceRows(sightings: readonly CapturedMessage[], now: number): readonly TraceRow[] {
  const spans = new Set(sightings.map((each) => each.span));
  const below = new Map<string, CapturedMessage[]>();
  const roots: CapturedMessage[] = [];
  for (const sighting of [...sightings].sort((a, b) => a.at - b.at || a.seq - b.seq)) {
    const { parentSpan, span } = sighting;
    if (parentSpan === undefined || parentSpan === span || !spans.has(parentSpan)) roots.push(sighting);
    else below.set(parentSpan, [...(below.get(parentSpan) ?? []), sighting]);
  }
  const began = Math.min(...sightings.map((each) => each.at));
  const whole = Math.max(1, ...sightings.map((each) => (each.endedAt ?? now) - began));

  const rows: TraceRow[] = [];
  const seen = new Set<CapturedMessage>();
  const walk = (sighting: CapturedMessage, depth: number): void => {
    if (seen.has(sighting)) return;
    seen.add(sighting);
    const { at, endedAt = now } = sighting;
    rows.push({ sighting, depth, start: (at - began) / whole, width: Math.max(0, endedAt - at) / whole });
    for (const child of below.get(sighting.span) ?? []) walk(child, depth + 1);
  };
  for (const root of roots) walk(root, 0);
  // Spans that name each other in a circle have no root; they are shown all the same.
  for (const sighting of sightings) walk(sighting, 0);
  return rows;
}

/** What came in and what went out because of it, seen from either of the two. */
export interface TraceExchange {
  readonly incoming: CapturedMessage | undefined;
  readonly outgoing: CapturedMessage | undefined;
}

export function traceExchangeOf(chosen: CapturedMessage, trace: readonly CapturedMessage[]): TraceExchange {
  if (chosen.direction === "in") {
    const follows = trace.filter((each) => each.direction === "out" && each.parentSpan === chosen.span);
    // Of several tries the one that worked is the translation that counts.
    return { incoming: chosen, outgoing: follows.find((each) => each.status === "ok") ?? follows.at(-1) };
  }
  const cause = trace.find((each) => each.direction === "in" && each.span === chosen.parentSpan);
  return { incoming: cause, outgoing: chosen };
}
