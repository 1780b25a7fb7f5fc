import { answerOf, type EventOf, type Json, type JsonObject, type Part } from "../../src/index.js";
import type { Recorded } from "./record-lines.js";

/** The comparable part of an answer, in any protocol: without ids, times, source and destination. */
export interface Outcome {
  /** The state of the task; `completed` for a bare message, `error:` and the code for a failed call. */
  readonly state: string;
  readonly parts: readonly Part[];
}

export interface Difference {
  readonly what: "state" | "text" | "parts";
  readonly recorded: string;
  readonly now: string;
}

/** The state of a bare message. */
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

/** Empty if both are equal. */
export function differences(recorded: Outcome, now: Outcome): readonly Difference[] {
  const found: Difference[] = [];
  if (recorded.state !== now.state) found.push({ what: "state", recorded: recorded.state, now: now.state });
  if (!hasSameText(recorded.parts, now.parts))
    found.push({ what: "text", recorded: textsOf(recorded.parts).join("\n"), now: textsOf(now.parts).join("\n") });
  const [before, after] = [otherParts(recorded.parts), otherParts(now.parts)];
  if (before !== after) found.push({ what: "parts", recorded: before, now: after });
  return found;
}

/** How text is split into parts differs between protocols, so it is ignored. */
function hasSameText(a: readonly Part[], b: readonly Part[]): boolean {
  const [left, right] = [textsOf(a), textsOf(b)];
  return [left.join(""), left.join("\n")].some((text) => text === right.join("") || text === right.join("\n"));
}

function textsOf(parts: readonly Part[]): readonly string[] {
  return parts.flatMap((part) => (part.kind === "text" ? [part.text] : []));
}

/** All parts but text, in order, one per line. */
function otherParts(parts: readonly Part[]): string {
  return parts.flatMap((part) => (part.kind === "text" ? [] : [lineOf(part)])).join("\n");
}

function lineOf(part: Exclude<Part, { readonly kind: "text" }>): string {
  if (part.kind === "data") return `data ${canonical(part.data)}`;
  if (part.kind === "url") return `url ${part.url}`;
  return `raw ${part.mediaType ?? ""} ${Buffer.from(part.bytes).toString("base64")}`;
}

/** JSON with sorted members. */
function canonical(value: Json | undefined): string {
  if (Array.isArray(value)) return `[${value.map((item: Json) => canonical(item)).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value ?? null);
  const members = Object.entries(value as JsonObject).filter(([, member]) => member !== undefined);
  members.sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${canonical(member)}`).join(",")}}`;
}

/** Removed and added lines, without the common beginning and end. */
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
