import { AgentError, type AgentEvent, type Cursor, isClosing, isTerminal, type Maybe } from "../envelope/index.js";
import type { Chunk } from "./exchange.js";
import { readJson } from "./json.js";
import { DEFAULT_LIMITS } from "./limits.js";
import { type SseEvent, SseReader } from "./sse.js";

/** One item of a stream, and the peer's own mark of its place in it. */
export interface StreamItem {
  readonly item: unknown;
  readonly cursor: Maybe<Cursor>;
}

export type Source =
  | { readonly chunks: AsyncIterator<Chunk> }
  /** The binding takes its stream apart by itself. */
  | { readonly items: AsyncIterator<StreamItem> }
  /** The peer answered a streaming request with one plain result. */
  | { readonly single: unknown };

export interface PeerEventsOptions {
  open(): Promise<Source>;
  /** The stream item inside one SSE event's data; throws the peer's own error. */
  read(data: unknown): unknown;
  /** One event, or as many as this wire says with one item. */
  decode(item: unknown): AgentEvent | readonly AgentEvent[];
  /** The version demands that a stream begins with the task or a message; 0.3 servers often begin with a status. */
  readonly taskFirst: boolean;
}

const utf8 = new TextEncoder();
/** How long a peer may take to end a response that has nothing more to say. */
const LINGER_MS = 1_000;

/**
 * A peer's stream as events. One object and no generator inside, because twenty events a stream add up. The request is
 * sent when the first event is asked for; who stops early calls `return()`, which lets go of the connection.
 */
export class PeerEvents implements AsyncIterableIterator<AgentEvent> {
  readonly #options: PeerEventsOptions;
  readonly #waiting: SseEvent[] = [];
  /** Events of an item that said several. */
  #ready: AgentEvent[] = [];
  readonly #reader = new SseReader(DEFAULT_LIMITS.sseEventBytes);
  readonly #take = (event: SseEvent): void => void this.#waiting.push(event);
  #source: Source | undefined;
  #done = false;
  /** The reader stopped, perhaps while something was on its way to it. */
  #left = false;
  #taskId: string | undefined;
  /** The last event was one after which a stream may end. */
  #closed = false;

  constructor(options: PeerEventsOptions) {
    this.#options = options;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<AgentEvent, void>> {
    if (this.#done && this.#ready.length === 0) return { done: true, value: undefined };
    try {
      this.#source ??= await this.#options.open();
      const event = this.#left ? undefined : (this.#ready.shift() ?? (await this.#nextOf(this.#source)));
      if (this.#left) await readOf(this.#source)?.return?.();
      else if (event !== undefined) return { done: false, value: this.#checked(event) };
      else if (!this.#closed) throw new AgentError("interrupted", "the stream ended before the task did", { sent: "maybe" });
    } catch (thrown) {
      const hadLeft = this.#left;
      await this.return();
      if (!hadLeft) throw thrown;
    }
    this.#done = true;
    return { done: true, value: undefined };
  }

  async return(): Promise<IteratorResult<AgentEvent, void>> {
    this.#done = true;
    this.#left = true;
    this.#ready = [];
    await readOf(this.#source)?.return?.();
    return { done: true, value: undefined };
  }

  /** One stream tells of one task from its first event on, and says nothing after the end of it. */
  #checked(event: AgentEvent): AgentEvent {
    const taskId = this.#taskId;
    const spoken = event.kind === "task" ? event.task.id : "taskId" in event ? event.taskId : undefined;
    if (this.#options.taskFirst && taskId === undefined && (event.kind === "status" || event.kind === "artifact")) {
      throw new AgentError("bad_peer", `the stream begins with ${event.kind} instead of the task it is about`);
    }
    if (taskId !== undefined && spoken !== undefined && spoken !== taskId) {
      throw new AgentError("bad_peer", `the stream of task ${taskId} tells of task ${spoken}`);
    }
    this.#taskId = taskId ?? spoken;
    this.#closed = isClosing(event);
    if (isFinal(event)) this.#finish();
    return event;
  }

  /** Nothing more can come. The peer may end the response by itself, which keeps the connection; else it is let go. */
  #finish(): void {
    this.#done = true;
    this.#ready = [];
    const read = readOf(this.#source);
    if (read === undefined) return;
    const letGo = (): void => void Promise.resolve(read.return?.()).catch(() => undefined);
    const timer = setTimeout(letGo, LINGER_MS);
    read.next().then(
      (step) => {
        clearTimeout(timer);
        if (!step.done) letGo();
      },
      () => clearTimeout(timer),
    );
  }

  #nextOf(source: Source): Maybe<AgentEvent> | Promise<Maybe<AgentEvent>> {
    if ("single" in source) return this.#only(source.single);
    return "items" in source ? this.#item(source.items) : this.#read(source.chunks);
  }

  async #item(items: AsyncIterator<StreamItem>): Promise<Maybe<AgentEvent>> {
    for (;;) {
      const step = await items.next();
      if (step.done === true) return undefined;
      const event = this.#first(this.#options.decode(step.value.item), step.value.cursor);
      if (event !== undefined) return event;
    }
  }

  #only(result: unknown): Maybe<AgentEvent> {
    this.#done = true;
    return this.#first(this.#options.decode(result), undefined);
  }

  async #read(chunks: AsyncIterator<Chunk>): Promise<Maybe<AgentEvent>> {
    for (;;) {
      const waiting = this.#waiting.shift();
      if (waiting !== undefined) {
        const event = this.#event(waiting);
        if (event !== undefined) return event;
        continue;
      }
      const step = await chunks.next();
      if (step.done) return undefined;
      this.#reader.push(typeof step.value === "string" ? utf8.encode(step.value) : step.value, this.#take);
    }
  }

  #event({ data, event: type, id }: SseEvent): Maybe<AgentEvent> {
    const parsed = parseData(data);
    const item = this.#options.read(parsed);
    if (type === "error") throw new AgentError("bad_peer", "the stream broke with an error that says nothing", { cause: parsed });
    // The peer's own cursor, opaque to us: handing it back resumes the stream where the peer supports that.
    return this.#first(this.#options.decode(item), id === "" ? undefined : (id as Maybe<Cursor>));
  }

  /** The mark names the place behind the whole item, so it stands with the last event of it. */
  #first(decoded: AgentEvent | readonly AgentEvent[], cursor: Maybe<Cursor>): Maybe<AgentEvent> {
    if (isOne(decoded)) return withCursor(decoded, cursor);
    const last = decoded.length - 1;
    for (const [index, event] of decoded.entries()) this.#ready.push(index === last ? withCursor(event, cursor) : event);
    return this.#ready.shift();
  }
}

function isOne(decoded: AgentEvent | readonly AgentEvent[]): decoded is AgentEvent {
  return !Array.isArray(decoded);
}

function withCursor(event: AgentEvent, cursor: Maybe<Cursor>): AgentEvent {
  return cursor === undefined ? event : { ...event, cursor };
}

/** What is read from, where there is more than one answer to read. */
function readOf(source: Maybe<Source>): Maybe<AsyncIterator<unknown>> {
  if (source === undefined || "single" in source) return undefined;
  return "items" in source ? source.items : source.chunks;
}

function isFinal(event: AgentEvent): boolean {
  if (event.kind === "message") return true;
  return (
    (event.kind === "task" && isTerminal(event.task.status.state)) || (event.kind === "status" && isTerminal(event.status.state))
  );
}

function parseData(data: string): unknown {
  try {
    return readJson(utf8.encode(data), DEFAULT_LIMITS.jsonDepth);
  } catch (thrown) {
    throw new AgentError("bad_peer", `an event of the stream is not readable: ${AgentError.from(thrown).message}`, {
      cause: thrown,
    });
  }
}
