import type { NoteEvent } from "../../result/peer-event.js";
import { FACT_VALUE, type FactValue } from "../team/message.js";

/** One step of the memory, with the paper's fields. Times are milliseconds since 1970, and nanoseconds on the clock of the run. */
export interface MemoryStep {
  readonly step: number;
  readonly agent_id: string;
  readonly agent_name: string;
  readonly task_id: string;
  readonly status: "completed" | "failed";
  readonly messages: readonly MemoryMessage[];
  readonly tool_calls: readonly MemoryCall[];
  readonly timestamps: {
    readonly started_at: number;
    readonly ended_at: number;
    readonly started_ns: number;
    readonly ended_ns: number;
  };
  readonly cpu_us: number;
  readonly tokens: number;
}

/** A message that the agent of a step had received when it ended. */
export interface MemoryMessage {
  readonly from: string;
  readonly to: string;
  /** `start` for a message that only starts an agent. */
  readonly fact: string;
  readonly value: FactValue;
  readonly n: number;
  readonly last: boolean;
  readonly bytes: number;
  readonly delivery: string;
  readonly ns: number;
}

export interface MemoryCall {
  readonly tool: string;
  readonly given: string;
  readonly result: string;
  readonly failure: string | null;
}

/** What a team did about one question. Made of notes, which are only ever added. */
export interface Memory {
  /** The number of the request that carried the question. */
  readonly asked: number;
  readonly steps: readonly MemoryStep[];
  readonly messages: readonly MemoryMessage[];
  /** What the final agent said; undefined if it said nothing. */
  readonly answer: string | undefined;
}

/** The memories of a run, by the number of the question. */
export function memoriesOf(notes: readonly NoteEvent[]): ReadonlyMap<number, Memory> {
  const byQuestion = new Map<number, NoteEvent[]>();
  for (const note of notes) {
    if (note.seq === undefined) continue;
    const own = byQuestion.get(note.seq) ?? [];
    own.push(note);
    byQuestion.set(note.seq, own);
  }
  return new Map([...byQuestion].map(([asked, own]) => [asked, memoryOf(asked, own)]));
}

function memoryOf(asked: number, notes: readonly NoteEvent[]): Memory {
  // Processes send their notes in batches; the clock is the same for all.
  const inOrder = notes.toSorted((a, b) => a.ns - b.ns);
  const messages = inOrder.filter(({ kind }) => kind === "message").map(messageOf);
  const steps = inOrder
    .filter(({ kind }) => kind === "step")
    .map((note) => stepOf(note, inOrder, messages))
    .sort((a, b) => a.timestamps.ended_ns - b.timestamps.ended_ns);
  const answer = inOrder.find(({ kind }) => kind === "answer")?.values["text"];
  return { asked, steps, messages, answer: typeof answer === "string" ? answer : undefined };
}

function stepOf({ agent, values }: NoteEvent, notes: readonly NoteEvent[], messages: readonly MemoryMessage[]): MemoryStep {
  const step = numberOf(values["step"]);
  const ended = numberOf(values["ended_ns"]);
  return {
    step,
    agent_id: textOf(values["agent_id"]),
    agent_name: textOf(values["agent_name"]),
    task_id: textOf(values["task_id"]),
    status: values["status"] === "completed" ? "completed" : "failed",
    messages: messages.filter(({ to, ns }) => to === agent && ns <= ended),
    tool_calls: notes.filter((note) => note.kind === "tool" && note.agent === agent && note.values["step"] === step).map(callOf),
    timestamps: {
      started_at: numberOf(values["started_at"]),
      ended_at: numberOf(values["ended_at"]),
      started_ns: numberOf(values["started_ns"]),
      ended_ns: ended,
    },
    cpu_us: numberOf(values["cpu_us"]),
    tokens: numberOf(values["tokens"]),
  };
}

function messageOf({ agent, about = "", ns, values }: NoteEvent): MemoryMessage {
  return {
    from: about,
    to: agent,
    fact: textOf(values["fact"]),
    value: factValue(values["value"]),
    n: numberOf(values["n"]),
    last: values["last"] === true,
    bytes: numberOf(values["bytes"]),
    delivery: textOf(values["delivery"]),
    ns,
  };
}

function callOf({ values }: NoteEvent): MemoryCall {
  const failure = values["failure"];
  return {
    tool: textOf(values["tool"]),
    given: textOf(values["given"]),
    result: textOf(values["result"]),
    failure: typeof failure === "string" ? failure : null,
  };
}

/** As it was written down: JSON. Empty if an event was damaged. */
function factValue(value: Value): FactValue {
  try {
    return FACT_VALUE.safeParse(JSON.parse(textOf(value))).data ?? "";
  } catch {
    return "";
  }
}

type Value = NoteEvent["values"][string] | undefined;

function numberOf(value: Value): number {
  return typeof value === "number" ? value : 0;
}

function textOf(value: Value): string {
  return typeof value === "string" ? value : "";
}
