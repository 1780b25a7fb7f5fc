import type { AgentError, Maybe } from "../envelope/index.js";

/** On every note: in which trace, and towards whom, by its configured name. */
interface Noted {
  readonly traceId: Maybe<string>;
  readonly destination: string;
  /** Of the destination, where it is known which one is spoken. */
  readonly protocol: Maybe<string>;
}
type Note<K extends string, Fields> = Noted & { readonly kind: K } & Fields;

export type CircuitState = "closed" | "open" | "half-open";
export type QueueName = "bulkhead" | "ordering" | "reorder";

/** What a policy did, for whoever watches: metrics, log lines, span events, the page. */
export type PolicyNote =
  /** A destination was chosen among several; `because` is one sentence for people. */
  | Note<"decision", { readonly policy: string; readonly among: readonly string[]; readonly because: string }>
  /**
   * A second attempt was started beside the first (`fired`), and how that went. `stray`: the one that lost could not be
   * called off, and its work may be going on; `error` says why.
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
  /** How many wait now. */
  | Note<"queue", { readonly queue: QueueName; readonly depth: number }>
  /** Messages of a sequence, by their numbers, were waited for in vain, and the one behind them went on. */
  | Note<"gap", { readonly first: number; readonly last: number; readonly waitMs: number }>
  | Note<"backoff", { readonly attempt: number; readonly waitMs: number; readonly error: AgentError }>
  | Note<"retry", { readonly attempt: number; readonly error: AgentError }>
  /** An answer was given from the cache of earlier ones, or waited for the same request under way. */
  | Note<"repeat", { readonly from: "cache" | "under-way" }>;

export type PolicyNoteKind = PolicyNote["kind"];
/** Must not throw, and must not wait. */
export type PolicySink = (note: PolicyNote) => void;
