import { trace } from "@opentelemetry/api";
import { type Maybe, traceIdHex } from "../envelope/index.js";
import type { CircuitState, PolicyNote, PolicySink } from "../policies/notes.js";
import { type Edge, OTHER } from "./edge.js";
import type { Hooks } from "./hooks.js";
import type { LogFact, LogSink } from "./log-lines.js";
import type { Cell, Metrics } from "./metrics.js";
import { type PolicyWords, wordsFor } from "./policy-words.js";

export interface PolicyWatchOptions {
  /** The configured name of who calls. */
  readonly srcAgent: string;
  readonly metrics?: Maybe<Metrics>;
  readonly log?: Maybe<LogSink>;
  /** True: events on the span that is active where the policy acts. */
  readonly tracing?: Maybe<boolean>;
  /** Their `onBackoff` and `onRetry`; already guarded, as `combineHooks` gives them. */
  readonly hooks?: Maybe<Hooks>;
  /** Milliseconds since the epoch. */
  readonly now?: Maybe<() => number>;
}

const CIRCUIT_FIGURES = { closed: 0, "half-open": 1, open: 2 } as const satisfies Record<CircuitState, number>;
/** Sentences and names in lines and events; longer ones are cut. */
const MAX_TEXT = 500;
/** Names of one list. */
const MAX_LISTED = 20;
/** Queues whose depth is remembered; names are configured, so this is only reached by mistake. */
const MAX_QUEUES = 3_000;

/** What policies did, as metrics, log lines, span events and hooks. Give it to each policy as its `notes`. */
export function policyWatch(options: PolicyWatchOptions): PolicySink {
  const { srcAgent, metrics, log, hooks, tracing = false } = options;
  const now = options.now ?? Date.now;
  const count = metrics === undefined ? undefined : counting(metrics);
  return (note) => {
    const edge: Edge = { srcAgent, dstId: note.destination, protocol: note.protocol ?? OTHER };
    count?.(note, edge);
    feed(hooks, note, edge);
    // How deep a queue is belongs in a chart: said for each message it would drown what matters.
    if (note.kind === "queue" || (log === undefined && !tracing)) return;
    const words = wordsFor(note);
    if (tracing) addEvent(note, words);
    if (log !== undefined) write(log, { note, edge, words, atMs: now() });
  };
}

function counting(metrics: Metrics): (note: PolicyNote, edge: Edge) => void {
  const decisions = metrics.counter("ROUTER_DECISIONS", "Destinations chosen by a policy");
  const hedges = metrics.counter("HEDGE_FIRES", "Second attempts started beside the first");
  const circuits = metrics.gauge("CIRCUIT_STATE", "0 closed, 1 half-open, 2 open");
  const depths = new QueueDepths((edge) => metrics.gauge("QUEUE_DEPTH", "Calls that wait in queues of policies").edge(edge));
  return (note, edge) => {
    if (note.kind === "decision") decisions.edge(edge).add(1);
    else if (note.kind === "hedge" && note.outcome === "fired") hedges.edge(edge).add(1);
    else if (note.kind === "circuit") circuits.edge(edge).set(CIRCUIT_FIGURES[note.to]);
    else if (note.kind === "queue") depths.set(note.queue, edge, note.depth);
  };
}

/** Several queues stand before one destination, and a label for each there is not: their sum is told. */
class QueueDepths {
  readonly #cellOf: (edge: Edge) => Cell;
  readonly #depths = new Map<string, number>();

  constructor(cellOf: (edge: Edge) => Cell) {
    this.#cellOf = cellOf;
  }

  set(queue: string, edge: Edge, depth: number): void {
    const key = JSON.stringify([queue, edge.dstId, edge.protocol]);
    const before = this.#depths.get(key);
    if (before === undefined && this.#depths.size >= MAX_QUEUES) return;
    this.#depths.set(key, depth);
    this.#cellOf(edge).add(depth - (before ?? 0));
  }
}

function feed(hooks: Maybe<Hooks>, note: PolicyNote, edge: Edge): void {
  if (note.kind === "backoff") {
    const { traceId, attempt, error, waitMs } = note;
    hooks?.onBackoff?.({ edge, traceId, attempt, error, waitMs });
  } else if (note.kind === "retry") {
    const { traceId, attempt, error } = note;
    hooks?.onRetry?.({ edge, traceId, attempt, error });
  }
}

function addEvent(note: PolicyNote, { message, facts }: PolicyWords): void {
  trace.getActiveSpan()?.addEvent(`koine.${note.kind}`, {
    message: cut(message),
    "koine.destination": cut(note.destination),
    ...attributesOf(facts),
  });
}

interface Written {
  readonly note: PolicyNote;
  readonly edge: Edge;
  readonly words: PolicyWords;
  readonly atMs: number;
}

function write(log: LogSink, { note, edge, words, atMs }: Written): void {
  try {
    log({
      time: new Date(atMs).toISOString(),
      level: words.level,
      event: `koine.${note.kind}`,
      message: cut(words.message),
      trace_id: traceIdHex(note.traceId) ?? (note.traceId && cut(note.traceId)),
      src_agent: edge.srcAgent,
      dst_id: cut(edge.dstId),
      protocol: edge.protocol,
      ...shortened(words.facts),
    });
  } catch {
    // A policy is in the middle of a call: it cannot help a log that fails.
  }
}

function shortened(facts: PolicyWords["facts"]): { readonly [name: string]: LogFact } {
  return Object.fromEntries(Object.entries(facts).map(([name, fact]) => [name, shortenedFact(fact)]));
}

function shortenedFact(fact: LogFact): LogFact {
  if (typeof fact === "string") return cut(fact);
  return typeof fact === "object" ? fact.slice(0, MAX_LISTED).map(cut) : fact;
}

/** The tracing API has no read-only lists. */
function attributesOf(facts: PolicyWords["facts"]): { [name: string]: string | number | string[] } {
  const attributes: { [name: string]: string | number | string[] } = {};
  for (const [name, fact] of Object.entries(shortened(facts)))
    if (fact !== undefined) attributes[`koine.${name}`] = typeof fact === "object" ? [...fact] : fact;
  return attributes;
}

function cut(text: string): string {
  return text.length <= MAX_TEXT ? text : `${text.slice(0, MAX_TEXT)}…`;
}
