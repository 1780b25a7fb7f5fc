import type { PolicyNote } from "../policies/notes.js";
import type { LogFact, LogLine } from "./log-lines.js";

/** The text and facts of a note, shared by log lines and span events. */
export interface PolicyText {
  readonly level: LogLine["level"];
  readonly message: string;
  readonly facts: { readonly [name: string]: LogFact };
}

/** Describes a note. Errors appear as their code only: the message may come from a peer. */
export function describeNote(note: PolicyNote): PolicyText {
  switch (note.kind) {
    case "decision":
      return info(`${note.policy} chose ${note.destination}: ${note.because}`, { policy: note.policy, among: note.among });
    case "hedge":
      return info(`hedge ${note.outcome} after ${Math.round(note.afterMs)} ms`, {
        outcome: note.outcome,
        after_ms: note.afterMs,
      });
    case "circuit":
      return {
        level: note.to === "open" ? "warn" : "info",
        message: `circuit changed from ${note.from} to ${note.to}: ${note.because}`,
        facts: { from: note.from, to: note.to },
      };
    case "queue":
      return info(`${note.depth} calls queued in ${note.queue}`, { queue: note.queue, depth: note.depth });
    case "gap":
      return {
        level: "warn",
        message: `messages ${note.first} to ${note.last} of a sequence did not arrive within ${note.waitMs} ms`,
        facts: { first: note.first, last: note.last, wait_ms: note.waitMs },
      };
    case "backoff":
      return info(`waiting ${Math.round(note.waitMs)} ms before attempt ${note.attempt}`, {
        attempt: note.attempt,
        wait_ms: note.waitMs,
        error: note.error.code,
        face: note.error.face,
      });
    case "retry":
      return info(`attempt ${note.attempt} started`, { attempt: note.attempt, error: note.error.code, face: note.error.face });
    case "floor":
      return {
        level: "warn",
        message: `a call was ${note.outcome === "lowered" ? "sent without" : "refused for lack of"}: ${note.requirement} (${note.because})`,
        facts: { outcome: note.outcome, requirement: note.requirement },
      };
    case "repeat":
      return info(note.from === "cache" ? "answered from the cache" : "waiting for an identical request in flight", {
        from: note.from,
      });
    default:
      return note satisfies never;
  }
}

function info(message: string, facts: PolicyText["facts"]): PolicyText {
  return { level: "info", message, facts };
}
