import { AgentError, type Cancel, isObject, type JsonObject, type Maybe, type Records } from "../../../envelope/index.js";
import type { Host } from "../../protocol.js";
import { CONVERSATION_NOT_FOUND } from "../errors.js";
import type { AgoraSettings } from "../settings.js";
import { SerialQueue, tooMany } from "./serial-queue.js";
import { Slots } from "./slots.js";

/** A stored conversation. */
export interface Conversation {
  readonly id: string;
  readonly agent: string;
  /** The document of all its messages, a negotiation, or null for natural language. */
  readonly hash: string | null;
  /** The session id of its messages: the caller's, else the conversation id. */
  readonly session: string;
  /** The slot it occupies among the conversations of its caller. */
  readonly slot: number;
  /** Expiry, in milliseconds since the epoch. */
  readonly until: number;
  /** The task it continues: waiting for an answer, or running with a result to collect. */
  readonly taskId: Maybe<string>;
  readonly collects: boolean;
  /** The last answered question and the key of the answer, which may be repeated. */
  readonly answered: Maybe<Answered>;
  /** The state of a responder that runs without a task. */
  readonly state: Maybe<JsonObject>;
}

type Answered = { readonly key: string; readonly taskId: string };

/** The properties of a conversation that its first message determines. */
export interface Opening extends Pick<Conversation, "agent" | "hash"> {
  /** The caller's session id. */
  readonly session: Maybe<string>;
  /** A repeated message with the same key opens no second conversation. */
  readonly key: Maybe<string>;
}

/** What one turn changes. */
export interface Change extends Pick<Conversation, "taskId" | "collects"> {
  readonly answered?: Maybe<Answered>;
  readonly state?: Maybe<JsonObject>;
}

/** Limit of id length. */
const ID_LENGTH = 128;
/** The maximum number of concurrent messages of one conversation, including those that wait. */
const WAITING = 16;
/** A conversation is not ended to make room for another before this time has passed: another process may be working on its first message. */
const LEAST_OPEN_MS = 1_000;
/** A turn that exceeds the reply timeout by this margin is considered abandoned. */
const TURN_SLACK_MS = 60_000;

/**
 * Open conversations, in records: they survive a restart and are shared by replicas. The owner is part of the key, so that an id
 * never opens the conversation of another caller.
 */
export class Conversations {
  readonly #host: Host;
  readonly #settings: AgoraSettings;
  readonly #records: () => Records;
  readonly #slots: Slots;
  readonly #line = new SerialQueue(WAITING);
  /** Conversations whose first message is under way here. */
  readonly #starting = new Set<string>();

  constructor(host: Host, settings: AgoraSettings, records: () => Records) {
    this.#host = host;
    this.#settings = settings;
    this.#records = records;
    this.#slots = new Slots(records, settings.maxConversations);
  }

  /** Opens a new conversation, or returns that of the same message sent before. */
  async open(owner: string, opening: Opening): Promise<{ readonly conversation: Conversation; readonly again: boolean }> {
    const id = this.#host.newId();
    const first = await this.#openedUnder(owner, opening.key, id);
    const before = first === undefined ? undefined : await this.#find(owner, first);
    if (before !== undefined) return { conversation: before, again: true };
    const { conversationMs } = this.#settings;
    const { agent, hash, session } = opening;
    const named = first ?? id;
    const now = this.#host.now();
    const conversation: Conversation = {
      id: named,
      agent,
      hash,
      session: session ?? named,
      slot: await this.#slots.take({
        owner,
        id: named,
        now,
        keepMs: conversationMs,
        leastMs: LEAST_OPEN_MS,
        end: (other) => this.#endIdle(owner, other),
      }),
      until: now + conversationMs,
      taskId: undefined,
      collects: false,
      answered: undefined,
      state: undefined,
    };
    try {
      await this.#write(owner, conversation);
    } catch (thrown) {
      await this.#slots.free(owner, conversation.slot);
      throw thrown;
    }
    this.#starting.add(named);
    return { conversation, again: false };
  }

  /** The id of the conversation that a message with this key opened before; undefined for the first. */
  async #openedUnder(owner: string, key: Maybe<string>, id: string): Promise<Maybe<string>> {
    if (key === undefined) return undefined;
    const before = await this.#records().add(nameOf("opening", owner, key), { id }, this.#settings.conversationMs);
    return typeof before?.["id"] === "string" ? before["id"] : undefined;
  }

  /**
   * Runs the messages of a conversation one after the other. Within this process they wait; if another process holds the
   * conversation, they are rejected with a retry delay. Throws `session_expired`, with the text of the Python library, if the
   * conversation is unknown, expired or owned by another caller.
   */
  async inTurn<T>(
    owner: string,
    id: string,
    cancel: Cancel,
    turn: (conversation: Conversation, waited: boolean) => Promise<T>,
  ): Promise<T> {
    if (id.length > ID_LENGTH) throw notFound();
    const name = nameOf("turn", owner, id);
    return this.#line.run(name, cancel, async (waited) => {
      const taken = await this.#records().add(name, {}, this.#settings.replyWithinMs + TURN_SLACK_MS);
      if (taken !== undefined) throw tooMany();
      try {
        const found = await this.#find(owner, id);
        if (found === undefined) throw notFound();
        return await turn(found, waited);
      } finally {
        await this.#records().delete(name);
      }
    });
  }

  /** Stores what changed; writes nothing if nothing did. */
  async keep(owner: string, before: Conversation, change: Change): Promise<void> {
    this.#starting.delete(before.id);
    const { conversationIdle, conversationMs } = this.#settings;
    const { taskId, collects, state = before.state, answered = before.answered } = change;
    const same =
      before.taskId === taskId && before.collects === collects && before.state === state && before.answered === answered;
    if (same && !conversationIdle) return;
    // The conversation was deleted concurrently: do not store it again.
    if ((await this.#find(owner, before.id)) === undefined) return;
    const now = this.#host.now();
    const until = conversationIdle ? now + conversationMs : before.until;
    if (conversationIdle) await this.#slots.keep({ owner, id: before.id, now, keepMs: conversationMs }, before.slot);
    await this.#write(owner, { ...before, taskId, collects, answered, state, until });
  }

  /** The closed conversation; undefined if there was none, or it belongs to another agent. */
  async close(owner: string, id: string, agent: Maybe<string>): Promise<Maybe<Conversation>> {
    this.#starting.delete(id);
    const found = id.length > ID_LENGTH ? undefined : await this.#find(owner, id);
    if (found === undefined || (agent !== undefined && agent !== found.agent)) return undefined;
    const closed = await this.#records().delete(nameOf("conversation", owner, id));
    if (closed) await this.#slots.free(owner, found.slot);
    return closed ? found : undefined;
  }

  /** Ends a conversation that no message is under way in and no task or responder waits in. */
  async #endIdle(owner: string, id: string): Promise<boolean> {
    if (this.#starting.has(id)) return false;
    const found = await this.#find(owner, id);
    if (found === undefined || !isFresh(found)) return false;
    if ((await this.#records().get(nameOf("turn", owner, id))) !== undefined) return false;
    return (await this.close(owner, id, undefined)) !== undefined;
  }

  async #find(owner: string, id: string): Promise<Maybe<Conversation>> {
    const value = await this.#records().get(nameOf("conversation", owner, id));
    return value === undefined ? undefined : conversationIn(id, value);
  }

  async #write(owner: string, { id, ...value }: Conversation): Promise<void> {
    const keepMs = value.until - this.#host.now();
    if (keepMs > 0) await this.#records().put(nameOf("conversation", owner, id), value, keepMs);
  }
}

/** A conversation without state. */
export function isFresh({ taskId, state }: Conversation): boolean {
  return taskId === undefined && state === undefined;
}

export function notFound(): AgentError {
  return new AgentError("session_expired", CONVERSATION_NOT_FOUND);
}

/** The length prefix makes the key unambiguous. */
function nameOf(what: "conversation" | "opening" | "turn", owner: string, id: string): string {
  return `${what}/${owner.length}:${owner}/${id}`;
}

/** Undefined if the record has another format. */
function conversationIn(id: string, value: JsonObject): Maybe<Conversation> {
  const { agent, hash = null, session, slot, until, taskId, collects, answered, state } = value;
  if (typeof agent !== "string" || typeof until !== "number" || (hash !== null && typeof hash !== "string")) return undefined;
  if (typeof session !== "string" || typeof slot !== "number") return undefined;
  return {
    id,
    agent,
    hash,
    session,
    slot,
    until,
    taskId: typeof taskId === "string" ? taskId : undefined,
    collects: collects === true,
    answered: answeredIn(answered),
    state: isObject(state) ? state : undefined,
  };
}

function answeredIn(value: JsonObject[string]): Maybe<Answered> {
  if (!isObject(value)) return undefined;
  const { key, taskId } = value;
  return typeof key === "string" && typeof taskId === "string" ? { key, taskId } : undefined;
}
