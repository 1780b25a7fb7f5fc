import { answerOf, type EventOf, type Json, type JsonObject, type Part } from "../../src/index.js";
import type { Recorded } from "./record-lines.js";

/** What an answer amounts to, whatever protocol it came by. Ids, times, source and destination are not part of it. */
export interface Outcome {
  /** Of the task; a bare message is an answer that is complete. A failed call is `error:` and its code. */
  readonly state: string;
  readonly parts: readonly Part[];
}

export interface Difference {
  readonly what: "state" | "text" | "parts";
  readonly recorded: string;
  readonly now: string;
}

/** The states of a task that says nothing more than that its answer is there. */
const COMPLETE = "completed";

export function recordedOutcome({ envelope, note }: Recorded): Outcome {
  if (note.status === "failed") return { state: `error:${note.error?.code ?? "unknown"}`, parts: [] };
  return { state: note.state ?? COMPLETE, parts: envelope.content };
}

export function outcomeOf(event: EventOf<"send"> | undefined): Outcome {
  if (event?.kind === "message") return { state: COMPLETE, parts: event.message.content };
  if (event?.kind === "task") return { state: event.task.status.state, parts: answerOf(event.task) };
  return { state: "unknown", parts: [] };
}

/** Nothing where both say the same. */
export function differences(recorded: Outcome, now: Outcome): readonly Difference[] {
  const found: Difference[] = [];
  if (recorded.state !== now.state) found.push({ what: "state", recorded: recorded.state, now: now.state });
  if (!saysTheSame(recorded.parts, now.parts))
    found.push({ what: "text", recorded: textsOf(recorded.parts).join("\n"), now: textsOf(now.parts).join("\n") });
  const [before, after] = [otherParts(recorded.parts), otherParts(now.parts)];
  if (before !== after) found.push({ what: "parts", recorded: before, now: after });
  return found;
}

/** One protocol has parts where another has one text: where a text was cut makes no difference. */
function saysTheSame(a: readonly Part[], b: readonly Part[]): boolean {
  const [left, right] = [textsOf(a), textsOf(b)];
  return [left.join(""), left.join("\n")].some((text) => text === right.join("") || text === right.join("\n"));
}

function textsOf(parts: readonly Part[]): readonly string[] {
  return parts.flatMap((part) => (part.kind === "text" ? [part.text] : []));
}

/** Everything that is no text, in order, one per line. */
function otherParts(parts: readonly Part[]): string {
  return parts.flatMap((part) => (part.kind === "text" ? [] : [lineOf(part)])).join("\n");
}

function lineOf(part: Exclude<Part, { readonly kind: "text" }>): string {
  if (part.kind === "data") return `data ${canonical(part.data)}`;
  if (part.kind === "url") return `url ${part.url}`;
  return `raw ${part.mediaType ?? ""} ${Buffer.from(part.bytes).toString("base64")}`;
}

/** The order of members says nothing. */
function canonical(value: Json | undefined): string {
  if (Array.isArray(value)) return `[${value.map((item: Json) => canonical(item)).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value ?? null);
  const members = Object.entries(value as JsonObject).filter(([, member]) => member !== undefined);
  members.sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${canonical(member)}`).join(",")}}`;
}

/** Lines that went and came, without those both have at the beginning and at the end. */
export function changedLines({ recorded, now }: Difference): readonly string[] {
  const [before, after] = [recorded.split("\n"), now.split("\n")];
  let start = 0;
  while (start < before.length && start < after.length && before[start] === after[start]) start++;
  let end = 0;
  while (end < before.length - start && end < after.length - start && before.at(-1 - end) === after.at(-1 - end)) end++;
  return [
    ...before.slice(start, before.length - end).map((line) => `- ${line}`),
    ...after.slice(start, after.length - end).map((line) => `+ ${line}`),
  ];
}
