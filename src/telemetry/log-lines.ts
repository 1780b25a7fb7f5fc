import type { Maybe } from "../envelope/index.js";

/** One thing that happened, flat, for whoever reads logs by machine. Holds names, codes and figures; never content or secrets. */
export interface LogLine {
  /** ISO 8601, UTC. */
  readonly time: string;
  readonly level: "info" | "warn";
  /** What kind of thing, such as `koine.circuit`. */
  readonly event: string;
  /** One sentence for people. */
  readonly message: string;
  readonly trace_id: Maybe<string>;
  readonly src_agent: string;
  readonly dst_id: string;
  readonly protocol: string;
  readonly [fact: string]: LogFact;
}
export type LogFact = Maybe<string | number | readonly string[]>;

/** Must not wait. What it throws is dropped: a log that is full must not stop a call. */
export type LogSink = (line: LogLine) => void;

/** Each line as one line of JSON, to wherever `write` puts it. */
export function jsonLines(write: (text: string) => void): LogSink {
  return (line) => write(`${JSON.stringify(line)}\n`);
}
