import { type Envelope, type Json, type JsonObject, parseUte, readUte, writeUte } from "../../src/index.js";
import { type CapturedMessage, META_MEMBER } from "../../src/public/inspect.js";

/**
 * Metadata of a recorded message, below `meta.koine`, where readers of UTE keep unknown members. The rest of a line is the
 * message itself, as UTE JSON.
 */
interface RecordNote {
  readonly kind: "request" | "answer";
  readonly direction: "in" | "out";
  /** `a2a@1.0/JSONRPC`. */
  readonly protocol: string;
  /** Of an answer: how the call ended. */
  readonly status?: string;
  /** Of an answer by a task: its last state. */
  readonly state?: string;
  readonly error?: { readonly code: string; readonly message: string };
  /** The message was truncated when it was captured. */
  readonly cut?: boolean;
}

/** One message of a recording. */
export interface Recorded {
  readonly envelope: Envelope;
  readonly note: RecordNote;
}

const NO_PARTS = { "urn:koine:parts:1": [] } as const;

/** The line of a request; undefined for calls without a message. */
export function requestLine(captured: CapturedMessage): string | undefined {
  return captured.envelope && lineOf(captured.envelope, noteOf(captured, "request"));
}

/** The line of an answer, also of an empty one or a failure. */
export function answerLine(captured: CapturedMessage): string | undefined {
  const { envelope, answer, events, status, error } = captured;
  if (envelope === undefined || status === "open") return undefined;
  const state = events.findLast((event) => event.state !== undefined)?.state;
  const note: RecordNote = {
    ...noteOf(captured, "answer"),
    status,
    ...(state === undefined ? {} : { state }),
    ...(error === undefined ? {} : { error }),
  };
  return lineOf(withParent(answer ?? emptyAnswer(captured), envelope["id"]), note);
}

function noteOf({ direction, via: { protocol, version, binding } }: CapturedMessage, kind: RecordNote["kind"]): RecordNote {
  const name = version === "" ? protocol : `${protocol}@${version}`;
  return { kind, direction, protocol: binding === "" ? name : `${name}/${binding}` };
}

function emptyAnswer({ envelope, endedAt, at, taskId, sessionId }: CapturedMessage): JsonObject {
  const { src = "", dst = "" } = envelope ?? {};
  const context = { session_id: sessionId, task_id: taskId };
  return { ts: (endedAt ?? at) / 1000, src: dst, dst: src, content: NO_PARTS, context, role: "agent" };
}

/** Links an answer to its request, whether or not the wire did. */
function withParent(document: JsonObject, parentId: Json | undefined): JsonObject {
  const context = document["context"];
  return { ...document, context: { ...(isObject(context) ? context : {}), parent_id: parentId } };
}

/** Reads and writes the document again, so that a line is canonical UTE. */
function lineOf(document: JsonObject, note: RecordNote): string {
  const meta = document["meta"];
  const before = isObject(meta) ? meta : {};
  const own = before[META_MEMBER];
  const noted = { ...document, meta: { ...before, [META_MEMBER]: { ...note, ...(isObject(own) ? own : {}) } } };
  return JSON.stringify(writeUte(readUte(noted), { inlineBytes: Number.POSITIVE_INFINITY }));
}

/** One line of a recording, or of any file of UTE lines: without a note, its role tells requests from answers. */
export function readLine(line: string): Recorded {
  const envelope = parseUte(line);
  const meta = envelope.extra?.["meta"];
  const note = isObject(meta) ? meta[META_MEMBER] : undefined;
  const kind = envelope.role === "agent" ? "answer" : "request";
  // Written by `lineOf`; of a foreign file every member may be missing.
  return { envelope, note: { kind, direction: "in", protocol: "", ...(isObject(note) ? (note as Partial<RecordNote>) : {}) } };
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
