import {
  AgentError,
  type ContentSeal,
  type ContentSubject,
  type Envelope,
  type Json,
  type JsonObject,
  type Maybe,
  type PushConfig,
  SEAL_KEY,
  SEALED_TEXT,
  type Task,
  type TaskEvent,
} from "../../envelope/index.js";
import { entryFrom, eventFrom, messageFrom, storedEntry, storedText, type TaskIds, taskFrom } from "./stored-form.js";

/** Where a caller's message stands: its number, from 1, and the entry it came after. */
export interface MessagePlace {
  readonly number: number;
  readonly after: number;
}

/** Where a snapshot was made: at this entry, with so many of the caller's messages. */
export interface SnapshotPlace {
  readonly seq: number;
  readonly messages: number;
}

/**
 * The content of tasks as texts in a store: JSON, sealed if the store has a seal. A sealed text is bound to its task and to its place there,
 * so that texts which someone exchanged, moved or took from another task are refused. A store without a seal refuses sealed texts.
 */
export class StoredContent {
  #seal: Maybe<ContentSeal>;

  /** Before the first use: whether a store is sealed is known only when it is open. */
  sealWith(seal: Maybe<ContentSeal>): void {
    this.#seal = seal;
  }

  get isSealed(): boolean {
    return this.#seal !== undefined;
  }

  /** Texts that were refused in this process because they were changed. */
  get refused(): number {
    return this.#seal?.refused ?? 0;
  }

  event(of: ContentSubject, seq: number, event: TaskEvent): string {
    return this.#written(storedText(event), of, entryAt(seq));
  }

  eventFrom(of: ContentSubject, seq: number, text: string): TaskEvent {
    if (this.#seal !== undefined && isOwnStatus(text)) return eventFrom(text);
    return eventFrom(this.#read(text, of, entryAt(seq)));
  }

  /** An event of a store that keeps the ids of its tasks and sessions beside their journals. These are not sealed: a sealed event has its own. */
  entry(of: ContentSubject, seq: number, event: TaskEvent): string {
    return this.isSealed ? this.event(of, seq, event) : storedEntry(event);
  }

  entryFrom(of: ContentSubject & TaskIds, seq: number, text: string): TaskEvent {
    return this.isSealed ? this.eventFrom(of, seq, text) : entryFrom(this.#read(text, of, entryAt(seq)), of);
  }

  message(of: ContentSubject, place: MessagePlace, message: Envelope): string {
    return this.#written(storedText(message), of, messageAt(place));
  }

  messageFrom(of: ContentSubject, place: MessagePlace, text: string): Envelope {
    return messageFrom(this.#read(text, of, messageAt(place)));
  }

  snapshot(of: ContentSubject, place: SnapshotPlace, task: Task): string {
    return this.#written(storedText(task), of, snapshotAt(place));
  }

  snapshotFrom(of: ContentSubject, place: SnapshotPlace, text: string): Task {
    return taskFrom(this.#read(text, of, snapshotAt(place)));
  }

  saved(of: ContentSubject, value: Json): string {
    return this.#written(JSON.stringify(value), of, "state");
  }

  savedFrom(of: ContentSubject, text: string): Json {
    return JSON.parse(this.#read(text, of, "state"));
  }

  /** Everything but the state of delivery, which is stored beside it. */
  webhook(of: ContentSubject, { delivery: _, ...config }: PushConfig): string {
    return this.#written(JSON.stringify(config), of, webhookAt(config.id));
  }

  webhookFrom(of: ContentSubject, id: string, text: string): PushConfig {
    return JSON.parse(this.#read(text, of, webhookAt(id)));
  }

  record(key: string, value: JsonObject): string {
    return this.#written(JSON.stringify(value), recordAt(key), "value");
  }

  recordFrom(key: string, text: Maybe<Json>): JsonObject {
    return JSON.parse(this.#read(typeof text === "string" ? text : "", recordAt(key), "value"));
  }

  /** The digest of a request: without the key, nobody can try which request it is of. */
  digest(digest: string): string {
    return this.#seal?.digest(digest) ?? digest;
  }

  /** A journal must have all entries that its task counts. */
  requireAll(of: ContentSubject, found: number, wanted: number): void {
    if (found === wanted || this.#seal === undefined) return;
    throw this.#seal.refuse(of, `has ${found} entries where ${wanted} were written`);
  }

  close(): void {
    this.#seal?.close();
  }

  #written(text: string, of: ContentSubject, place: string): string {
    return this.#seal === undefined ? text : this.#seal.seal(text, of, place);
  }

  #read(text: string, of: ContentSubject, place: string): string {
    const isSealed = text.startsWith(SEALED_TEXT);
    if (this.#seal === undefined) {
      if (isSealed)
        throw new AgentError("internal", `task ${of.taskId} is sealed in the task store, which was opened without its keys`, {
          field: SEAL_KEY,
        });
      return text;
    }
    if (!isSealed && this.#seal.acceptsClear) return text;
    return this.#seal.open(text, of, place);
  }
}

/** An entry that Redis writes by itself, where there is no key. It has no content: the same states are in clear beside it. */
const OWN_STATUS =
  /^\{"kind":"status","taskId":"(?:[^"\\]|\\.)*","contextId":"(?:[^"\\]|\\.)*","status":\{"state":"(?:working|canceled)","at":\d+\}\}$/;

function isOwnStatus(text: string): boolean {
  return !text.startsWith(SEALED_TEXT) && OWN_STATUS.test(text);
}

/** The name of a record is no id of a task. */
function recordAt(key: string): ContentSubject {
  return { owner: "", taskId: `record ${key}` };
}

function entryAt(seq: number): string {
  return `entry ${seq}`;
}

function messageAt({ number, after }: MessagePlace): string {
  return `message ${number} after ${after}`;
}

function snapshotAt({ seq, messages }: SnapshotPlace): string {
  return `snapshot ${seq} with ${messages}`;
}

function webhookAt(id: string): string {
  return `webhook ${id}`;
}
