import { type Maybe, traceIdHex } from "../envelope/index.js";
import type { CircuitState, PolicyNote, PolicySink, QueueName } from "../policies/notes.js";
import { type Edge, OTHER } from "./edge.js";
import type { Hooks } from "./hooks.js";
import type { LogFact, LogSink } from "./log-lines.js";
import type { CellFamily, Metrics } from "./metrics.js";
import { isOpenTelemetryUsed, openTelemetry } from "./open-telemetry.js";
import { describeNote, type PolicyText } from "./policy-text.js";

/** Options of `policyWatch`. */
export interface PolicyWatchOptions {
  /** The configured name of the caller. */
  readonly srcAgent: string;
  /** Where counters are kept. Default: none. */
  readonly metrics?: Maybe<Metrics>;
  /** Receives a log line per note. Default: none. */
  readonly log?: Maybe<LogSink>;
  /** True: adds events to the active span. */
  readonly tracing?: Maybe<boolean>;
  /** Receives `onBackoff` and `onRetry`; already guarded by `combineHooks`. */
  readonly hooks?: Maybe<Hooks>;
  /** Milliseconds since the epoch. */
  readonly now?: Maybe<() => number>;
}

const CIRCUIT_FIGURES = { closed: 0, "half-open": 1, open: 2 } as const satisfies Record<CircuitState, number>;
/** Maximum length of messages and names in lines and events. */
const MAX_TEXT = 500;
/** Maximum number of names in one list. */
const MAX_LISTED = 20;
/** Tracked destinations; names are configured, so this is a safety limit. */
const MAX_DESTINATIONS = 1_000;

/** Reports policy actions as metrics, log lines, span events and hooks. Pass it to each policy as `notes`. */
export function policyWatch(options: PolicyWatchOptions): PolicySink {
  const { srcAgent, metrics, log, hooks, tracing = false } = options;
  const now = options.now ?? Date.now;
  const count = metrics === undefined ? undefined : createCounters(metrics);
  return (note) => {
    const edge: Edge = { srcAgent, dstId: note.destination, protocol: note.protocol ?? OTHER };
    count?.(note, edge);
    callHooks(hooks, note, edge);
    // Queue depth is a metric only: one line per message would flood the log.
    if (note.kind === "queue" || (log === undefined && !tracing)) return;
    const text = describeNote(note);
    if (tracing && isOpenTelemetryUsed()) addEvent(note, text);
    if (log !== undefined) write(log, { note, edge, text, atMs: now() });
  };
}

function createCounters(metrics: Metrics): (note: PolicyNote, edge: Edge) => void {
  const decisions = metrics.counter("ROUTER_DECISIONS", "Destinations chosen by a policy");
  const hedges = metrics.counter("HEDGE_FIRES", "Second attempts started beside the first");
  const lowered = metrics.counter("FLOOR_LOWERED", "Calls sent with less security than they arrived with");
  const refused = metrics.counter("FLOOR_REFUSED", "Calls refused because they would have had too little security");
  const retries = metrics.counter("REQUEST_RETRIES", "Attempts after the first");
  const circuits = new Gauges(metrics.gauge("CIRCUIT_STATE", "0 closed, 1 half-open, 2 open"));
  const depths = new QueueDepths(new Gauges(metrics.gauge("QUEUE_DEPTH", "Calls that wait in queues")));
  return (note, edge) => {
    if (note.kind === "decision") decisions.edge(edge).add(1);
    else if (note.kind === "hedge" && note.outcome === "fired") hedges.edge(edge).add(1);
    else if (note.kind === "floor") (note.outcome === "lowered" ? lowered : refused).edge(edge).add(1);
    else if (note.kind === "retry") retries.edge(edge).add(1);
    else if (note.kind === "circuit") circuits.set(edge, CIRCUIT_FIGURES[note.to]);
    else if (note.kind === "queue") depths.set(note.queue, edge, note.depth);
  };
}

/** One gauge per destination: when the destination is called by another protocol, the series of the old one ends. */
class Gauges {
  readonly #family: CellFamily;
  readonly #edges = new Map<string, Edge>();

  constructor(family: CellFamily) {
    this.#family = family;
  }

  set(edge: Edge, value: number): void {
    const before = this.#edges.get(edge.dstId);
    if (before === undefined && this.#edges.size >= MAX_DESTINATIONS) return;
    if (before !== undefined && before.protocol !== edge.protocol) this.#family.remove(before);
    this.#edges.set(edge.dstId, edge);
    this.#family.edge(edge).set(value);
  }
}

/** Several queues may lead to one destination and share its labels, so the gauge holds their sum. */
class QueueDepths {
  readonly #gauges: Gauges;
  readonly #depths = new Map<string, Partial<Record<QueueName, number>>>();

  constructor(gauges: Gauges) {
    this.#gauges = gauges;
  }

  set(queue: QueueName, edge: Edge, depth: number): void {
    const depths = this.#depths.get(edge.dstId) ?? {};
    if (!this.#depths.has(edge.dstId) && this.#depths.size >= MAX_DESTINATIONS) return;
    depths[queue] = depth;
    this.#depths.set(edge.dstId, depths);
    this.#gauges.set(
      edge,
      Object.values(depths).reduce((sum, each) => sum + each, 0),
    );
  }
}

function callHooks(hooks: Maybe<Hooks>, note: PolicyNote, edge: Edge): void {
  if (note.kind === "backoff") {
    const { traceId, attempt, error, waitMs } = note;
    hooks?.onBackoff?.({ edge, traceId, attempt, error, waitMs });
  } else if (note.kind === "retry") {
    const { traceId, attempt, error } = note;
    hooks?.onRetry?.({ edge, traceId, attempt, error });
  }
}

function addEvent(note: PolicyNote, { message, facts }: PolicyText): void {
  openTelemetry()
    .trace.getActiveSpan()
    ?.addEvent(`koine.${note.kind}`, {
      message: cut(message),
      "koine.destination": cut(note.destination),
      ...attributesOf(facts),
    });
}

interface PolicyLine {
  readonly note: PolicyNote;
  readonly edge: Edge;
  readonly text: PolicyText;
  readonly atMs: number;
}

function write(log: LogSink, { note, edge, text, atMs }: PolicyLine): void {
  try {
    log({
      time: new Date(atMs).toISOString(),
      level: text.level,
      event: `koine.${note.kind}`,
      message: cut(text.message),
      trace_id: traceIdHex(note.traceId) ?? (note.traceId && cut(note.traceId)),
      src_agent: edge.srcAgent,
      dst_id: cut(edge.dstId),
      protocol: edge.protocol,
      ...shortened(text.facts),
    });
  } catch {
    // A failing log must not affect the call.
  }
}

function shortened(facts: PolicyText["facts"]): { readonly [name: string]: LogFact } {
  return Object.fromEntries(Object.entries(facts).map(([name, fact]) => [name, shortenedFact(fact)]));
}

function shortenedFact(fact: LogFact): LogFact {
  if (typeof fact === "string") return cut(fact);
  return typeof fact === "object" ? fact.slice(0, MAX_LISTED).map(cut) : fact;
}

/** The tracing API requires mutable arrays. */
function attributesOf(facts: PolicyText["facts"]): { [name: string]: string | number | string[] } {
  const attributes: { [name: string]: string | number | string[] } = {};
  for (const [name, fact] of Object.entries(shortened(facts)))
    if (fact !== undefined) attributes[`koine.${name}`] = typeof fact === "object" ? [...fact] : fact;
  return attributes;
}

function cut(text: string): string {
  return text.length <= MAX_TEXT ? text : `${text.slice(0, MAX_TEXT)}…`;
}
