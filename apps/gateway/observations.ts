import type { Layer, Maybe } from "../../src/index.js";
import type { PolicyNote, PolicySink } from "../../src/public/policies.js";

/** What happened, in one line. */
export interface GatewayEvent {
  readonly at: number;
  readonly kind: string;
  readonly subject: string;
  readonly says: string;
  readonly traceId?: Maybe<string>;
}

/** Somebody who called lately. */
export interface RecentCaller {
  readonly id: string;
  readonly owner: string;
  lastAt: number;
  /** By which protocol, last. */
  protocol: string;
}

const HAPPENINGS = 500;
const CALLERS = 200;
const HISTORY = 120;

/** What the gateway itself saw: what policies did, who called, what changed. Bounded in everything. */
export class Observations {
  readonly happenings: GatewayEvent[] = [];
  /** The last change of each circuit. */
  readonly circuits = new Map<string, { readonly at: number; readonly because: string }>();
  /** How deep each queue was, oldest first. */
  readonly queues = new Map<string, number[]>();
  readonly counters = { decisions: 0, retries: 0, hedges: 0, repeats: 0, gaps: 0, circuits: 0 };
  readonly #callers = new Map<string, RecentCaller>();
  readonly #listeners = new Set<() => void>();
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** The last who called is the last. */
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

  say(kind: string, subject: string, says: string, traceId?: Maybe<string>): void {
    this.happenings.push({ at: this.#now(), kind, subject, says, traceId });
    if (this.happenings.length > HAPPENINGS) this.happenings.shift();
    this.changed();
  }

  /** For `serve`: sees who calls, and changes nothing. */
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
    const words = this.#wordsOf(note);
    if (words !== undefined) this.say(note.kind, note.destination, words, note.traceId);
    else this.changed();
  };

  #wordsOf(note: PolicyNote): Maybe<string> {
    const { counters } = this;
    switch (note.kind) {
      case "decision":
        counters.decisions++;
        return `${note.policy}: ${note.because}`;
      case "hedge":
        if (note.outcome === "fired") counters.hedges++;
        return `the second attempt ${HEDGED[note.outcome]} after ${Math.round(note.afterMs)} ms`;
      case "circuit":
        counters.circuits++;
        this.circuits.set(note.destination, { at: this.#now(), because: note.because });
        return `${note.from} → ${note.to}: ${note.because}`;
      case "retry":
        counters.retries++;
        return `try ${note.attempt + 1}, after ${note.error.code}`;
      case "repeat":
        counters.repeats++;
        return note.from === "cache" ? "answered from the cache" : "joined the same request under way";
      case "gap":
        counters.gaps++;
        return `messages ${note.first} to ${note.last} did not come within ${note.waitMs} ms`;
      case "queue":
        this.#deep(`${note.destination} ${note.queue}`, note.depth);
        return undefined;
      case "backoff":
        return undefined;
    }
  }

  #deep(queue: string, depth: number): void {
    const history = this.queues.get(queue) ?? [];
    history.push(depth);
    if (history.length > HISTORY) history.shift();
    this.queues.set(queue, history);
  }
}

const HEDGED = { fired: "was started", won: "won", lost: "lost", stray: "could not be called off" } as const;
