import {
  AgentError,
  type AgentEvent,
  type Cursor,
  isClosing,
  isTerminal,
  type Maybe,
  type ReadyIterator,
  TAKE_READY,
  withCursor,
} from "../envelope/index.js";
import type { Chunk } from "./exchange.js";
import { type JsonLimits, readJsonText } from "./json.js";
import type { Limits } from "./limits.js";
import { type SseEvent, SseReader } from "./sse.js";

/** One item of a stream and the peer's cursor for it. */
export interface StreamItem {
  readonly item: unknown;
  readonly cursor: Maybe<Cursor>;
}

export type Source =
  | { readonly chunks: ReadyIterator<Chunk> }
  /** The binding parses its stream itself. */
  | { readonly items: ReadyIterator<StreamItem> }
  /** The peer answered a streaming request with a single result. */
  | { readonly single: unknown };

export interface PeerEventsOptions {
  open(): Promise<Source>;
  /** The stream item in one SSE event's data; throws the peer's own error. */
  read(data: unknown): unknown;
  /** One event, or several if the item contains several. */
  decode(item: unknown): AgentEvent | readonly AgentEvent[];
  /**
   * What to do about a stream that does not begin with the task or a message: refuse it, accept it, or accept it and report it
   * with this function.
   */
  readonly withoutTask: "refuse" | "accept" | ((kind: "status" | "artifact") => void);
  readonly limits: Pick<Limits, "sseEventBytes" | "jsonDepth" | "jsonValues">;
}

const utf8 = new TextEncoder();
/** How long a peer may take to end a finished response. */
const LINGER_MS = 1_000;

/**
 * A peer's stream as events. An iterator object instead of a generator, for speed. The request is sent when the first event is
 * pulled; a consumer that stops early calls `return()`, which releases the connection.
 */
export class PeerEvents implements AsyncIterableIterator<AgentEvent> {
  readonly #options: PeerEventsOptions;
  readonly #waiting: SseEvent[] = [];
  /** Further events of an item that contained several. */
  #ready: AgentEvent[] = [];
  readonly #reader: SseReader;
  readonly #enqueue = (event: SseEvent): void => void this.#waiting.push(event);
  #source: Source | undefined;
  #done = false;
  /** The reader stopped, possibly while an event was pending. */
  #stopped = false;
  #taskId: string | undefined;
  /** The stream may end after the last event. */
  #closed = false;
  /** Only the end of the response is still read. */
  #lingers = false;

  constructor(options: PeerEventsOptions) {
    this.#options = options;
    this.#reader = new SseReader(options.limits.sseEventBytes);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<AgentEvent, void>> {
    if (this.#done && this.#ready.length === 0) return { done: true, value: undefined };
    try {
      this.#source ??= await this.#options.open();
      let event = this.#stopped ? undefined : (this.#ready.shift() ?? this.#received());
      if (event === undefined && !this.#stopped) event = await this.#nextOf(this.#source);
      if (this.#stopped) await iteratorOf(this.#source)?.return?.();
      else if (event !== undefined) return { done: false, value: this.#checkTask(event) };
      else if (!this.#closed) throw new AgentError("interrupted", "the stream ended before the task did", { sent: "maybe" });
    } catch (thrown) {
      const wasStopped = this.#stopped;
      await this.return();
      if (!wasStopped) throw thrown;
    }
    this.#done = true;
    return { done: true, value: undefined };
  }

  /** The events that have arrived with the one before. */
  [TAKE_READY](): AgentEvent | undefined {
    if (this.#stopped || this.#source === undefined || (this.#done && this.#ready.length === 0)) return undefined;
    try {
      const event = this.#ready.shift() ?? this.#arrived(this.#source);
      return event === undefined ? undefined : this.#checkTask(event);
    } catch (thrown) {
      this.return().catch(() => undefined); // the reader gets the first error
      throw thrown;
    }
  }

  async return(): Promise<IteratorResult<AgentEvent, void>> {
    this.#done = true;
    this.#stopped = true;
    this.#ready = [];
    // A reader that stops at the last event must not cost the connection, which ends with its response.
    if (!this.#lingers) await iteratorOf(this.#source)?.return?.();
    return { done: true, value: undefined };
  }

  /** A stream is about one task, and nothing may follow its end. */
  #checkTask(event: AgentEvent): AgentEvent {
    const taskId = this.#taskId;
    const eventTaskId = event.kind === "task" ? event.task.id : "taskId" in event ? event.taskId : undefined;
    if (taskId === undefined && (event.kind === "status" || event.kind === "artifact")) this.#beginsWith(event.kind);
    if (taskId !== undefined && eventTaskId !== undefined && eventTaskId !== taskId) {
      throw new AgentError("bad_peer", `the stream of task ${taskId} contains an event of task ${eventTaskId}`);
    }
    this.#taskId = taskId ?? eventTaskId;
    this.#closed = isClosing(event);
    if (isFinal(event)) this.#finish();
    return event;
  }

  #beginsWith(kind: "status" | "artifact"): void {
    const { withoutTask } = this.#options;
    if (withoutTask === "refuse") throw new AgentError("bad_peer", `the stream begins with ${kind} instead of the task`);
    if (withoutTask !== "accept") withoutTask(kind);
  }

  /** Nothing more can follow. If the peer ends the response in time the connection is kept, otherwise it is closed. */
  #finish(): void {
    this.#done = true;
    this.#ready = [];
    const read = iteratorOf(this.#source);
    if (read === undefined) return;
    this.#lingers = true;
    const release = (): void => void Promise.resolve(read.return?.()).catch(() => undefined);
    const timer = setTimeout(release, LINGER_MS);
    read.next().then(
      (step) => {
        clearTimeout(timer);
        if (!step.done) release();
      },
      () => clearTimeout(timer),
    );
  }

  #nextOf(source: Source): Maybe<AgentEvent> | Promise<Maybe<AgentEvent>> {
    if ("single" in source) return this.#single(source.single);
    return "items" in source ? this.#item(source.items) : this.#read(source.chunks);
  }

  /** The next event of what the connection has delivered; undefined if it must be waited for. */
  #arrived(source: Source): Maybe<AgentEvent> {
    if ("single" in source) return undefined;
    if ("items" in source) {
      for (let next = source.items[TAKE_READY]?.(); next !== undefined; next = source.items[TAKE_READY]?.()) {
        const event = this.#first(this.#options.decode(next.item), next.cursor);
        if (event !== undefined) return event;
      }
      return undefined;
    }
    for (;;) {
      const event = this.#received();
      if (event !== undefined) return event;
      const chunk = source.chunks[TAKE_READY]?.();
      if (chunk === undefined) return undefined;
      this.#push(chunk);
    }
  }

  async #item(items: AsyncIterator<StreamItem>): Promise<Maybe<AgentEvent>> {
    for (;;) {
      const step = await items.next();
      if (step.done === true) return undefined;
      const event = this.#first(this.#options.decode(step.value.item), step.value.cursor);
      if (event !== undefined) return event;
    }
  }

  #single(result: unknown): Maybe<AgentEvent> {
    this.#done = true;
    return this.#first(this.#options.decode(result), undefined);
  }

  async #read(chunks: AsyncIterator<Chunk>): Promise<Maybe<AgentEvent>> {
    for (;;) {
      const step = await chunks.next();
      if (step.done) return undefined;
      this.#push(step.value);
      const event = this.#received();
      if (event !== undefined) return event;
    }
  }

  #push(chunk: Chunk): void {
    this.#reader.push(typeof chunk === "string" ? utf8.encode(chunk) : chunk, this.#enqueue);
  }

  /** The next event of the chunks that were read. */
  #received(): Maybe<AgentEvent> {
    for (let waiting = this.#waiting.shift(); waiting !== undefined; waiting = this.#waiting.shift()) {
      const event = this.#event(waiting);
      if (event !== undefined) return event;
    }
    return undefined;
  }

  #event({ data, event: type, id }: SseEvent): Maybe<AgentEvent> {
    const parsed = parseData(data, this.#options.limits);
    const item = this.#options.read(parsed);
    if (type === "error") throw new AgentError("bad_peer", "the stream ended with an error without details", { cause: parsed });
    // The peer's own opaque cursor: sending it back resumes the stream if the peer supports it.
    return this.#first(this.#options.decode(item), id === "" ? undefined : (id as Maybe<Cursor>));
  }

  /** The cursor points behind the whole item, so it is set on its last event. */
  #first(decoded: AgentEvent | readonly AgentEvent[], cursor: Maybe<Cursor>): Maybe<AgentEvent> {
    if (isOne(decoded)) return cursor === undefined ? decoded : withCursor(decoded, cursor);
    const last = decoded.length - 1;
    for (const [index, event] of decoded.entries())
      this.#ready.push(index === last && cursor !== undefined ? withCursor(event, cursor) : event);
    return this.#ready.shift();
  }
}

function isOne(decoded: AgentEvent | readonly AgentEvent[]): decoded is AgentEvent {
  return !Array.isArray(decoded);
}

/** The iterator to read from, unless there is a single result. */
function iteratorOf(source: Maybe<Source>): Maybe<AsyncIterator<unknown>> {
  if (source === undefined || "single" in source) return undefined;
  return "items" in source ? source.items : source.chunks;
}

function isFinal(event: AgentEvent): boolean {
  if (event.kind === "message") return true;
  return (
    (event.kind === "task" && isTerminal(event.task.status.state)) || (event.kind === "status" && isTerminal(event.status.state))
  );
}

function parseData(data: string, limits: JsonLimits): unknown {
  try {
    return readJsonText(data, limits);
  } catch (thrown) {
    throw new AgentError("bad_peer", `an event of the stream is invalid: ${AgentError.from(thrown).message}`, {
      cause: thrown,
    });
  }
}
