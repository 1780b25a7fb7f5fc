import { AgentError } from "../../envelope/index.js";

/** Why a record is refused, for logs and tests. The peer is told the same in every case. */
export type RecordProblem =
  /** Shorter than the smallest record. */
  | "truncated"
  | "too_large"
  /** The nonce is not that of the sequence number. */
  | "malformed"
  /** Altered, of the other direction, of another session, or with other associated data: indistinguishable. */
  | "wrong"
  | "replayed"
  /** Older than the window. */
  | "stale"
  /** A number that this session never has. */
  | "out_of_range"
  /** Not the next one, where the profile demands order. */
  | "reordered"
  /** The sequence numbers of this direction are used up. */
  | "exhausted"
  /** The session is too old, or was idle for too long. */
  | "expired"
  | "closed";

const ENDED: ReadonlySet<RecordProblem> = new Set(["exhausted", "expired", "closed"]);

/** A refused record: `bad_signature`, or `session_expired` if the session cannot be used any more. */
export class RecordError extends AgentError {
  readonly problem: RecordProblem;

  constructor(problem: RecordProblem) {
    if (ENDED.has(problem)) super("session_expired", "the sealed session has ended");
    else super("bad_signature", "the sealed record is refused");
    this.problem = problem;
  }
}
