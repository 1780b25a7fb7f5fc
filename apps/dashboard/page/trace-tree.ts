import type { CapturedMessage } from "../../../src/public/inspect.js";

/** One call of a trace with its position in the tree and in time. */
export interface TraceRow {
  readonly message: CapturedMessage;
  readonly depth: number;
  /** Fractions of the whole trace, from 0 to 1. */
  readonly start: number;
  readonly width: number;
}

/** Orders the calls of a trace as a tree by their spans. Calls with an unknown parent are roots. */
export function traceRows(messages: readonly CapturedMessage[], now: number): readonly TraceRow[] {
  const spans = new Set(messages.map((each) => each.span));
  const below = new Map<string, CapturedMessage[]>();
  const roots: CapturedMessage[] = [];
  for (const message of [...messages].sort((a, b) => a.at - b.at || a.seq - b.seq)) {
    const { parentSpan, span } = message;
    if (parentSpan === undefined || parentSpan === span || !spans.has(parentSpan)) roots.push(message);
    else below.set(parentSpan, [...(below.get(parentSpan) ?? []), message]);
  }
  const startedAt = Math.min(...messages.map((each) => each.at));
  const whole = Math.max(1, ...messages.map((each) => (each.endedAt ?? now) - startedAt));

  const rows: TraceRow[] = [];
  const visited = new Set<CapturedMessage>();
  const walk = (message: CapturedMessage, depth: number): void => {
    if (visited.has(message)) return;
    visited.add(message);
    const { at, endedAt = now } = message;
    rows.push({ message, depth, start: (at - startedAt) / whole, width: Math.max(0, endedAt - at) / whole });
    for (const child of below.get(message.span) ?? []) walk(child, depth + 1);
  };
  for (const root of roots) walk(root, 0);
  // Spans that form a cycle have no root; they are shown as roots.
  for (const message of messages) walk(message, 0);
  return rows;
}

/** An inbound message and the outbound message it caused. */
export interface TraceExchange {
  readonly incoming: CapturedMessage | undefined;
  readonly outgoing: CapturedMessage | undefined;
}

export function traceExchangeOf(chosen: CapturedMessage, trace: readonly CapturedMessage[]): TraceExchange {
  if (chosen.direction === "in") {
    const follows = trace.filter((each) => each.direction === "out" && each.parentSpan === chosen.span);
    // Of several attempts, show the successful one.
    return { incoming: chosen, outgoing: follows.find((each) => each.status === "ok") ?? follows.at(-1) };
  }
  const cause = trace.find((each) => each.direction === "in" && each.span === chosen.parentSpan);
  return { incoming: cause, outgoing: chosen };
}
