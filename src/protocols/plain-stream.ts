import {
  AgentError,
  type AgentEvent,
  type Cursor,
  isTerminal,
  type Maybe,
  type OperationOf,
  type Part,
  RecentMap,
  type Reply,
  type Status,
} from "../envelope/index.js";
import type { Limits } from "../transport/limits.js";
import { PeerEvents, type Source } from "../transport/peer-events.js";
import type { IdSource } from "./protocol.js";

/** Reads the items of one stream. It outlives an interrupted response: what it has read is not delivered again. */
export interface PlainReader {
  read(item: unknown): readonly AgentEvent[];
}

/** An answer that arrives in pieces and names no task: a task of this client, with the pieces as one artifact. */
export class StreamedTask {
  readonly #ids: IdSource;
  readonly #contextId: string;
  #id: Maybe<string>;
  #hasPieces = false;
  /** The peer reports the end itself. */
  #hasStatus = false;

  constructor(ids: IdSource, contextId: Maybe<string>) {
    this.#ids = ids;
    this.#contextId = contextId ?? "";
  }

  /** `id` is the name that the peer has for the task, if it has one. */
  piece(parts: readonly Part[], id: Maybe<string>): readonly AgentEvent[] {
    const before = this.#begin(id);
    const append = this.#hasPieces;
    this.#hasPieces = true;
    return [...before, { kind: "artifact", ...this.#named(), artifact: { id: "result", parts }, append, last: false }];
  }

  status(status: Status, id: Maybe<string>): readonly AgentEvent[] {
    this.#hasStatus = true;
    return [...this.#begin(id), { kind: "status", ...this.#named(), status }];
  }

  /** The response ended. A peer that reports states has then been interrupted. */
  end(): readonly AgentEvent[] {
    if (this.#hasStatus) return [];
    return [...this.#begin(undefined), { kind: "status", ...this.#named(), status: { state: "completed", at: this.#ids.now() } }];
  }

  #begin(id: Maybe<string>): readonly AgentEvent[] {
    if (this.#id !== undefined) return [];
    this.#id = id ?? this.#ids.newId();
    const status: Status = { state: "working", at: this.#ids.now() };
    return [{ kind: "task", task: { id: this.#id, contextId: this.#contextId, status, artifacts: [], history: [] } }];
  }

  #named(): { readonly taskId: string; readonly contextId: string } {
    return { taskId: this.#id ?? "", contextId: this.#contextId };
  }
}

/** Limit of interrupted streams that one connection can resume. */
const STREAMS_REMEMBERED = 1_000;

interface PlainStreamOptions {
  readonly owner: string;
  readonly limits: Limits;
  readonly reader: PlainReader;
  /** Sends the request, with `Last-Event-ID` if a cursor is given. */
  open(after: Maybe<Cursor>): Promise<Source>;
}

/**
 * The streams of a protocol without subscriptions. An interrupted one is resumed by the same request with `Last-Event-ID`: peers
 * that number their events replay what is missing, and know the message by its id.
 */
export class PlainStreams {
  readonly #open = new RecentMap<PlainStreamOptions>(STREAMS_REMEMBERED);

  start(options: PlainStreamOptions, after?: Maybe<Cursor>): AsyncIterable<AgentEvent> {
    const { owner, limits, reader, open } = options;
    return new PeerEvents({
      limits,
      open: () => open(after),
      read: (item) => item,
      withoutTask: "accept",
      decode: (item) => {
        const events = reader.read(item);
        for (const event of events) this.#note(owner, event, options);
        return events;
      },
    });
  }

  resume(owner: string, { taskId, after }: OperationOf<"task.subscribe">): Reply {
    const known = this.#open.get(keyOf(owner, taskId));
    if (known !== undefined && after !== undefined) return this.start(known, after);
    const why = "this peer has no subscriptions; only its own streams are resumed";
    return Promise.reject(new AgentError("unsupported_method", why, { sent: "no" }));
  }

  #note(owner: string, event: AgentEvent, options: PlainStreamOptions): void {
    if (event.kind === "task") this.#open.set(keyOf(owner, event.task.id), options);
    else if (event.kind === "status" && isTerminal(event.status.state)) this.#open.delete(keyOf(owner, event.taskId));
  }
}

/** The length prefix makes the key unambiguous. */
function keyOf(owner: string, id: string): string {
  return `${owner.length}:${owner}${id}`;
}
