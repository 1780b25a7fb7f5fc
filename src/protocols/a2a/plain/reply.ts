import {
  type AgentEvent,
  dataPart,
  type Envelope,
  isObject,
  type JsonObject,
  type Maybe,
  type Part,
  type Task,
  type TaskEvent,
  TaskFold,
  textPart,
} from "../../../envelope/index.js";
import { blame, readArray, readObject } from "../../../transport/fields.js";
import { END_OF_STREAM } from "../../../transport/sse-items.js";
import { plainErrorFrom } from "../../plain-error.js";
import { type PlainReader, StreamedTask } from "../../plain-stream.js";
import type { IdSource } from "../../protocol.js";
import { v03 } from "../codec/codec-0.3.js";
import { v1 } from "../codec/codec-1.0.js";
import type { DecodeFacts } from "../dialect.js";

/** What a reply is decoded with: the message that it answers, and ids for what has none. */
export interface PlainReplyFacts extends DecodeFacts {
  readonly ids: IdSource;
  readonly asked: Envelope;
}

/** The answer in `{"events": […]}`: a task if the events are about one, else a message with all their content. */
export function decodePlainReply(body: unknown, facts: PlainReplyFacts): AgentEvent {
  return decoded(() => {
    const wire = readObject(body, "body");
    if (wire["error"] !== undefined && wire["error"] !== null) throw plainErrorFrom(wire["error"]);
    const items = readArray(wire["events"], "events", (item) => readEvent(item, facts));
    const parts: Part[] = [];
    let fold: Maybe<TaskFold>;
    for (const item of items) {
      if (isParts(item)) parts.push(...item);
      else if (item.kind === "message" && items.length === 1) return item;
      else if (item.kind === "message") parts.push(...item.message.content);
      else fold = folded(fold, item as TaskEvent); // a stream item is a message or about a task
    }
    if (fold !== undefined) return { kind: "task", task: fold.snapshot() };
    return { kind: "message", message: messageOf(parts, facts) };
  });
}

function folded(fold: Maybe<TaskFold>, event: TaskEvent): TaskFold {
  const known = fold ?? new TaskFold(event.kind === "task" ? event.task : begunTask(event));
  known.apply(event);
  return known;
}

function begunTask({ taskId, contextId }: Exclude<TaskEvent, { readonly kind: "task" }>): Task {
  return { id: taskId, contextId, status: { state: "working", at: 0 }, artifacts: [], history: [] };
}

function messageOf(content: readonly Part[], { ids, now, src, dst, asked }: PlainReplyFacts): Envelope {
  const { sessionId, traceId } = asked.context;
  const context = { parentId: asked.id, sessionId, traceId };
  return { id: ids.newId(), ts: now / 1000, src, dst, intent: "", role: "agent", content, context, meta: {} };
}

/** Reads the stream of a reply. Messages of reference agents are pieces of one answer. */
export class PlainStreamReader implements PlainReader {
  readonly #facts: PlainReplyFacts;
  readonly #task: StreamedTask;
  /** The peer's events are about a task of its own, which ends the stream. */
  #hasOwnTask = false;

  constructor(facts: PlainReplyFacts) {
    this.#facts = facts;
    this.#task = new StreamedTask(facts.ids, facts.asked.context.sessionId);
  }

  read(item: unknown): readonly AgentEvent[] {
    if (item === END_OF_STREAM) return this.#hasOwnTask ? [] : this.#task.end();
    if (isObject(item) && item["error"] !== undefined && item["error"] !== null) throw plainErrorFrom(item["error"]);
    // A peer may answer a streaming request with the whole reply.
    if (isObject(item) && Array.isArray(item["events"])) return [decodePlainReply(item, this.#facts)];
    const read = decoded(() => readEvent(item, this.#facts));
    if (isParts(read)) return this.#task.piece(read, undefined);
    this.#hasOwnTask = true;
    return [read];
  }
}

type ReadEvent = AgentEvent | readonly Part[];

function isParts(event: ReadEvent): event is readonly Part[] {
  return Array.isArray(event);
}

/** Members of `data` with which Koine peers send the complete event, in the form of A2A 1.0. */
const COMPLETE = ["task", "message", "statusUpdate", "artifactUpdate"] as const;

function readEvent(value: unknown, facts: DecodeFacts): ReadEvent {
  if (typeof value === "string") return [textPart(value)];
  const wire = readObject(value, "event");
  const { data } = wire;
  if (isObject(data) && COMPLETE.some((name) => isObject(data[name]))) {
    const { text: _, ...item } = data;
    return v1.decodeStreamItem(item, facts);
  }
  if (typeof wire["kind"] !== "string") return textsIn(wire);
  // The Python SDK dumps its models with null for absent members.
  const event = v03.decodeStreamItem(wire, facts);
  return event.kind === "message" ? event.message.content : event;
}

/** The text by the names under which reference peers write it; else the whole event as data. */
function textsIn(wire: JsonObject): readonly Part[] {
  const { data } = wire;
  const inside = isObject(data) ? [data["text"], data["content"]] : [data];
  const text = [...inside, wire["text"], wire["content"]].find((each) => typeof each === "string");
  return [typeof text === "string" ? textPart(text) : dataPart(wire)];
}

function decoded<T>(decode: () => T): T {
  try {
    return decode();
  } catch (thrown) {
    throw blame(thrown, "bad_peer");
  }
}
