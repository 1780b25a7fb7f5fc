import type { Layer, Maybe } from "../../src/index.js";
import type { PolicyNote, PolicySink } from "../../src/public/policies.js";

/** One line of the event list. */
export interface GatewayEvent {
  readonly at: number;
  readonly kind: string;
  readonly subject: string;
  readonly says: string;
  readonly traceId?: Maybe<string>;
}

/** A caller seen recently. */
export interface RecentCaller {
  readonly id: string;
  readonly owner: string;
  lastAt: number;
  /** Protocol of the last call. */
  protocol: string;
}

const EVENT_LIMIT = 500;
const CALLERS = 200;
const HISTORY = 120;

/** Recent policy events, callers and state changes, all bounded. */
export class Observations {
  readonly events: GatewayEvent[] = [];
  /** The last change of each circuit. */
  readonly circuits = new Map<string, { readonly at: number; readonly because: string }>();
  /** Depth history of each queue, oldest first. */
  readonly queues = new Map<string, number[]>();
  readonly counters = { decisions: 0, retries: 0, hedges: 0, repeats: 0, gaps: 0, circuits: 0, lowered: 0, refused: 0 };
  readonly #callers = new Map<string, RecentCaller>();
  readonly #listeners = new Set<() => void>();
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Most recent caller last. */
  get callers(): readonly RecentCaller[] {
    return [...this.#callers.values()];
  }

  onChange(run: () => void): () => void {
    this.#listeners.add(run);
    return () => void this.#listeners.delete(run);
  }

  changed(): void {
    for (const run of this.#listeners) run();
  }

  record(kind: string, subject: string, says: string, traceId?: Maybe<string>): void {
    this.events.push({ at: this.#now(), kind, subject, says, traceId });
    if (this.events.length > EVENT_LIMIT) this.events.shift();
    this.changed();
  }

  /** Records callers without changing calls. */
  readonly layer: Layer = (next) => (operation, call) => {
    const { id, owner } = call.caller;
    const known = this.#callers.get(owner) ?? { id, owner, lastAt: 0, protocol: "" };
    known.lastAt = this.#now();
    known.protocol = call.via?.protocol ?? known.protocol;
    this.#callers.delete(owner);
    this.#callers.set(owner, known);
    if (this.#callers.size > CALLERS) this.#callers.delete(this.#callers.keys().next().value ?? "");
    return next(operation, call);
  };

  readonly notes: PolicySink = (note) => {
    const description = this.#describe(note);
    if (description !== undefined) this.record(note.kind, note.destination, description, note.traceId);
    else this.changed();
  };

  #describe(note: PolicyNote): Maybe<string> {
    const { counters } = this;
    switch (note.kind) {
      case "decision":
        counters.decisions++;
        return `${note.policy}: ${note.because}`;
      case "hedge":
        if (note.outcome === "fired") counters.hedges++;
        return `second attempt ${HEDGED[note.outcome]} after ${Math.round(note.afterMs)} ms`;
      case "circuit":
        counters.circuits++;
        this.circuits.set(note.destination, { at: this.#now(), because: note.because });
        return `${note.from} → ${note.to}: ${note.because}`;
      case "retry":
        counters.retries++;
        return `attempt ${note.attempt + 1} after ${note.error.code}`;
      case "repeat":
        counters.repeats++;
        return note.from === "cache" ? "answered from the cache" : "joined an identical request in progress";
      case "gap":
        counters.gaps++;
        return `messages ${note.first} to ${note.last} did not arrive within ${note.waitMs} ms`;
      case "floor":
        counters[note.outcome]++;
        return `${note.outcome === "lowered" ? `sent without: ${note.requirement}` : `refused for lack of: ${note.requirement}`} (${note.because})`;
      case "queue":
        this.#recordDepth(`${note.destination} ${note.queue}`, note.depth);
        return undefined;
      case "backoff":
        return undefined;
    }
  }

  #recordDepth(queue: string, depth: number): void {
    const history = this.queues.get(queue) ?? [];
    history.push(depth);
    if (history.length > HISTORY) history.shift();
    this.queues.set(queue, history);
  }
}

const HEDGED = { fired: "was started", won: "won", lost: "lost", stray: "could not be cancelled" } as const;
