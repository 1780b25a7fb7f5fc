import type { Maybe } from "../envelope/index.js";

/** One structured log line. Contains names, codes and numbers; never content or secrets. */
export interface LogLine {
  /** ISO 8601, UTC. */
  readonly time: string;
  readonly level: "info" | "warn";
  /** The kind of event, such as `koine.circuit`. */
  readonly event: string;
  /** A human-readable sentence. */
  readonly message: string;
  readonly trace_id: Maybe<string>;
  readonly src_agent: string;
  readonly dst_id: string;
  readonly protocol: string;
  readonly [fact: string]: LogFact;
}
export type LogFact = Maybe<string | number | readonly string[]>;

/** Must not block. Errors are ignored: a failing log must not stop a call. */
export type LogSink = (line: LogLine) => void;

/** Writes each line as one line of JSON. */
export function jsonLines(write: (text: string) => void): LogSink {
  return (line) => write(`${JSON.stringify(line)}\n`);
}
