import type { PolicyNote } from "../policies/notes.js";
import type { LogFact, LogLine } from "./log-lines.js";

/** What a note says, once for log lines and span events. */
export interface PolicyWords {
  readonly level: LogLine["level"];
  readonly message: string;
  readonly facts: { readonly [name: string]: LogFact };
}

/** A note in words. Of an error only its code: its text may be a peer's. */
export function wordsFor(note: PolicyNote): PolicyWords {
  switch (note.kind) {
    case "decision":
      return info(`${note.policy} chose ${note.destination}: ${note.because}`, { policy: note.policy, among: note.among });
    case "hedge":
      return info(`a hedge ${note.outcome} after ${Math.round(note.afterMs)} ms`, {
        outcome: note.outcome,
        after_ms: note.afterMs,
      });
    case "circuit":
      return {
        level: note.to === "open" ? "warn" : "info",
        message: `the circuit went from ${note.from} to ${note.to}: ${note.because}`,
        facts: { from: note.from, to: note.to },
      };
    case "queue":
      return info(`${note.depth} wait in ${note.queue}`, { queue: note.queue, depth: note.depth });
    case "gap":
      return {
        level: "warn",
        message: `messages ${note.first} to ${note.last} of a sequence did not come within ${note.waitMs} ms`,
        facts: { first: note.first, last: note.last, wait_ms: note.waitMs },
      };
    case "backoff":
      return info(`waits ${Math.round(note.waitMs)} ms before try ${note.attempt}`, {
        attempt: note.attempt,
        wait_ms: note.waitMs,
        error: note.error.code,
      });
    case "retry":
      return info(`try ${note.attempt} begins`, { attempt: note.attempt, error: note.error.code });
    case "repeat":
      return info(note.from === "cache" ? "answered from earlier" : "waits for the same request under way", { from: note.from });
    default:
      return note satisfies never;
  }
}

function info(message: string, facts: PolicyWords["facts"]): PolicyWords {
  return { level: "info", message, facts };
}
