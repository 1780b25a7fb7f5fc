import type { AgentError, Call, Maybe, Operation, Requirement } from "../envelope/index.js";
import { traceIdOf } from "./trace-id.js";

/** Fields of every note. */
interface Noted {
  readonly traceId: Maybe<string>;
  readonly destination: string;
  /** The protocol of the destination, if known. */
  readonly protocol: Maybe<string>;
}
type Note<K extends string, Fields> = Noted & { readonly kind: K } & Fields;

/** The states of a circuit breaker. */
export type CircuitState = "closed" | "open" | "half-open";
/** The queues whose depth is reported. */
export type QueueName = "bulkhead" | "connections" | "ordering" | "reorder";

/** What a policy did, for metrics, log lines, span events and the dashboard. */
export type PolicyNote =
  /** A destination was chosen among several; `because` is one sentence for people. */
  | Note<"decision", { readonly policy: string; readonly among: readonly string[]; readonly because: string }>
  /**
   * A second attempt was started (`fired`), and its outcome. `stray`: the losing attempt could not be
   * cancelled, and its work may continue; `error` says why.
   */
  | Note<
      "hedge",
      {
        readonly outcome: "fired" | "won" | "lost" | "stray";
        readonly afterMs: number;
        readonly error?: Maybe<AgentError>;
      }
    >
  | Note<"circuit", { readonly from: CircuitState; readonly to: CircuitState; readonly because: string }>
  /** The current queue depth. */
  | Note<"queue", { readonly queue: QueueName; readonly depth: number }>
  /** Missing messages of a sequence were skipped after `waitMs`. */
  | Note<"gap", { readonly first: number; readonly last: number; readonly waitMs: number }>
  | Note<"backoff", { readonly attempt: number; readonly waitMs: number; readonly error: AgentError }>
  | Note<"retry", { readonly attempt: number; readonly error: AgentError }>
  /** A call was sent with less security than it must have, or refused because it would have been. */
  | Note<"floor", { readonly outcome: "lowered" | "refused"; readonly requirement: Requirement; readonly because: string }>
  /** An answer came from the cache, or joined the same request in flight. */
  | Note<"repeat", { readonly from: "cache" | "under-way" }>;

/** The kind of a note. */
export type PolicyNoteKind = PolicyNote["kind"];
/** Receives notes. Must not throw or block. */
export type PolicySink = (note: PolicyNote) => void;

/** The destination of a policy, and the receiver of its notes. */
export interface PolicyContext {
  /** Configured, never taken from the wire: it is a metric label. */
  readonly destination: string;
  /** The protocol of the destination, for notes. */
  readonly protocol?: Maybe<string>;
  /** Receives notes. Default: none. */
  readonly notes?: Maybe<PolicySink>;
}

type OwnFields<N extends PolicyNote> = N extends PolicyNote ? Omit<N, "traceId" | "destination" | "protocol"> : never;

/** Reports a note for a call; does nothing without a sink. */
export function noteFor({ destination, protocol, notes }: PolicyContext) {
  return (operation: Operation, call: Call, fields: OwnFields<PolicyNote>): void => {
    if (notes === undefined) return;
    // `OwnFields` took away exactly the three members that are put back here.
    notes({ ...fields, traceId: traceIdOf(operation, call), destination, protocol } as PolicyNote);
  };
}
