import {
  AgentError,
  type AgentEvent,
  dataPart,
  type Envelope,
  isObject,
  type Json,
  type JsonObject,
  type Maybe,
  type Part,
  type State,
  type Status,
  type Task,
  textPart,
} from "../../../envelope/index.js";
import { blame, readArray, readObject, readString } from "../../../transport/fields.js";
import { readBase64 } from "../../../transport/read-base64.js";
import { END_OF_STREAM } from "../../../transport/sse-items.js";
import { plainErrorFrom } from "../../plain-error.js";
import { type PlainReader, StreamedTask } from "../../plain-stream.js";
import type { IdSource } from "../../protocol.js";
import { stateOf } from "../codec/state.js";
import { RUN_STATUSES } from "../wire.js";

/** What a reply is decoded with. */
export interface PlainReplyFacts {
  readonly ids: IdSource;
  readonly src: string;
  readonly dst: string;
  /** The message that is answered; undefined for a job that is looked up. */
  readonly asked: Maybe<Envelope>;
}

/** A reply, or the status of a job: the task if it names one, else a message. Throws the error of the peer. */
export function decodePlainReply(body: unknown, facts: PlainReplyFacts): AgentEvent {
  return decoded(() => {
    const wire = readObject(body, "body");
    const id = runIn(wire);
    const state = stateIn(wire["status"]);
    if (id === undefined && isGiven(wire["error"])) throw plainErrorFrom(wire["error"]);
    const results = isGiven(wire["results"]) ? readArray(wire["results"], "results", readResult).flat() : [];
    if (id !== undefined) return { kind: "task", task: taskOf(wire, { id, state, results }, facts) };
    if (state === undefined || state === "completed") return { kind: "message", message: messageOf(results, facts) };
    throw new AgentError("bad_peer", `the peer reports ${String(wire["status"])} and names no run`);
  });
}

interface RunFacts {
  readonly id: string;
  readonly state: Maybe<State>;
  readonly results: readonly Part[];
}

function taskOf(wire: JsonObject, { id, state = "completed", results }: RunFacts, facts: PlainReplyFacts): Task {
  const session = wire["session_id"];
  const isAnswer = state === "completed" && results.length > 0;
  return {
    id,
    contextId: typeof session === "string" ? session : (facts.asked?.context.sessionId ?? ""),
    status: statusOf(wire, state, isAnswer ? [] : results, facts),
    artifacts: isAnswer ? [{ id: "result", parts: results }] : [],
    history: [],
  };
}

function statusOf(wire: JsonObject, state: State, said: readonly Part[], facts: PlainReplyFacts): Status {
  const at = timeIn(wire["updated_at"]) ?? timeIn(wire["timestamp"]) ?? facts.ids.now();
  const message = said.length === 0 ? undefined : messageOf(said, facts);
  if (state !== "failed") return { state, at, message };
  const { reason } = isObject(wire["error"]) ? wire["error"] : {};
  const { code, message: why } = plainErrorFrom(wire["error"]);
  // The plain form has one word for both.
  if (reason === "rejected") return { state: "rejected", at, message: messageOf([textPart(why)], facts) };
  return { state, at, message, error: { code, message: why } };
}

function messageOf(content: readonly Part[], { ids, src, dst, asked }: PlainReplyFacts): Envelope {
  const { sessionId, traceId } = asked?.context ?? {};
  const context = { parentId: asked?.id, sessionId, traceId };
  return { id: ids.newId(), ts: ids.now() / 1000, src, dst, intent: "", role: "agent", content, context, meta: {} };
}

/** Reads the stream of a reply: results, and from Koine peers progress and states. */
export class PlainStreamReader implements PlainReader {
  readonly #facts: PlainReplyFacts;
  readonly #task: StreamedTask;

  constructor(facts: PlainReplyFacts) {
    this.#facts = facts;
    this.#task = new StreamedTask(facts.ids, facts.asked?.context.sessionId);
  }

  read(item: unknown): readonly AgentEvent[] {
    if (item === END_OF_STREAM) return this.#task.end();
    return decoded(() => this.#read(item));
  }

  #read(item: unknown): readonly AgentEvent[] {
    if (!isObject(item)) return this.#task.piece(readResult(item, "event"), undefined);
    const id = runIn(item);
    // A peer may answer a streaming request with the whole reply.
    if (Array.isArray(item["results"]) || (item["type"] === undefined && stateIn(item["status"]) !== undefined))
      return [decodePlainReply(item, this.#facts)];
    if (item["type"] === "stream_error" || (item["type"] !== "status" && isGiven(item["error"])))
      throw plainErrorFrom(item["error"]);
    if (item["type"] === "progress") return this.#task.status(this.#progress(item), id);
    if (item["type"] !== "status") return this.#task.piece(readResult(item, "event"), id);
    const state = stateIn(item["status"]);
    if (state === undefined) throw new AgentError("bad_peer", "a status of the stream names no state");
    return this.#task.status(statusOf(item, state, [], this.#facts), id);
  }

  #progress({ content, timestamp }: JsonObject): Status {
    const at = timeIn(timestamp) ?? this.#facts.ids.now();
    const message = typeof content === "string" ? messageOf([textPart(content)], this.#facts) : undefined;
    return { state: "working", at, message };
  }
}

/** `accepted` is the reply to a job that was only started. */
function stateIn(status: unknown): Maybe<State> {
  if (status === "accepted") return "submitted";
  const known = RUN_STATUSES.find((each) => each === status);
  return known && stateOf(known);
}

function runIn({ run_id: run, job_id: job }: JsonObject): Maybe<string> {
  const id = run ?? job;
  return typeof id === "string" && id !== "" ? id : undefined;
}

/** Float seconds since the epoch. */
function timeIn(seconds: unknown): Maybe<number> {
  return typeof seconds === "number" && Number.isFinite(seconds) ? Math.round(seconds * 1000) : undefined;
}

/** A result of the reference code: text, data, a file, or a dumped message with parts. */
function readResult(value: unknown, path: string): readonly Part[] {
  if (typeof value === "string") return [textPart(value)];
  const wire = readObject(value, path);
  if (Array.isArray(wire["parts"])) return readArray(wire["parts"], `${path}.parts`, readResult).flat();
  const { content, text, data, url, content_url: link = url } = wire;
  const labels = { mediaType: textIn(wire["content_type"]), name: textIn(wire["name"]) };
  if (typeof link === "string") return [{ kind: "url", url: link, ...labels }];
  if (wire["content_encoding"] === "base64") return [{ kind: "raw", bytes: readBase64(content, `${path}.content`), ...labels }];
  const first = [content, text, data].find(isGiven);
  if (typeof first === "string" && wire["type"] !== "data") return [textPart(first)];
  return [{ ...dataPart((first ?? wire) as Json), ...labels }]; // parsed from JSON
}

function textIn(value: unknown): Maybe<string> {
  return value === undefined || value === null || value === "" ? undefined : readString(value, "content_type");
}

const isGiven = (value: unknown): boolean => value !== undefined && value !== null;

function decoded<T>(decode: () => T): T {
  try {
    return decode();
  } catch (thrown) {
    throw blame(thrown, "bad_peer");
  }
}
