import type { AgentStarted } from "../processes/tasks.js";
import { BENCH_EVENT, type BenchEvent } from "../result/index.js";

/** What processes of a run send, and what is wrong with it. */

/** The events that a process sent, one or several. Undefined: something else than an event of this run. */
export function eventsIn(note: unknown, run: string): readonly (BenchEvent | undefined)[] {
  return (isNotes(note) ? note.notes : [note]).map((each) => {
    const { data } = BENCH_EVENT.safeParse(each);
    return data !== undefined && "run" in data && data.run === run ? data : undefined;
  });
}

function isNotes(note: unknown): note is { readonly notes: readonly unknown[] } {
  return typeof note === "object" && note !== null && "notes" in note && Array.isArray(note.notes);
}

export function portOf({ ports }: AgentStarted, agent: string): number {
  const port: unknown = ports?.[agent];
  if (typeof port !== "number" || !Number.isInteger(port) || port <= 0)
    throw new Error(`the process of ${agent} does not say where it listens`);
  return port;
}

export function portProblem(thrown: unknown): Error {
  const text = thrown instanceof Error ? thrown.message : String(thrown);
  const port = /EADDRINUSE[^\n]*:(\d+)/.exec(text)?.[1];
  return new Error(port === undefined ? text : `port ${port} is already in use; choose another --base-port, or none`);
}
