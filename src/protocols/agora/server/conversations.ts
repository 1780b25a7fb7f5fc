import { AgentError, type Cancel, isObject, type JsonObject, type Maybe, type Records } from "../../../envelope/index.js";
import type { Host } from "../../protocol.js";
import { CONVERSATION_NOT_FOUND } from "../errors.js";
import type { AgoraSettings } from "../settings.js";
import { InTurn, tooMany } from "./in-turn.js";
import { Slots } from "./slots.js";

/** One conversation as it is between two messages. */
export interface Conversation {
  readonly id: string;
  readonly agent: string;
  /** What all its messages follow: a document, a negotiation, or null for natural language. */
  readonly hash: string | null;
  /** The session of everything sent in it: as its caller calls it, else by its own id. */
  readonly session: string;
  /** Its place among those of its caller. */
  readonly slot: number;
  /** Milliseconds since the epoch: until then it is kept. */
  readonly until: number;
  /** The work it goes on with: a question that waits for its answer, or work that the next message collects. */
  readonly taskId: Maybe<string>;
  readonly collects: boolean;
  /** The question that was answered last, and the key of the answer: it may come again. */
  readonly answered: Maybe<Answered>;
  /** The state of a responder that runs without a task. */
  readonly state: Maybe<JsonObject>;
}

type Answered = { readonly key: string; readonly taskId: string };

/** The properties of a conversation that its first message determines. */
export interface Opening extends Pick<Conversation, "agent" | "hash"> {
  /** What its caller calls it. */
  readonly session: Maybe<string>;
  /** A message that comes a second time under its key opens nothing: it belongs where it was sent first. */
  readonly key: Maybe<string>;
}

/** What one turn changes. */
export interface Change extends Pick<Conversation, "taskId" | "collects"> {
  readonly answered?: Maybe<Answered>;
  readonly state?: Maybe<JsonObject>;
}

/** The longest id that is looked for. */
const ID_LENGTH = 128;
/** The maximum number of concurrent messages of one conversation, including those that wait. */
const WAITING = 16;
/** A turn that exceeds the reply timeout by this margin is considered abandoned. */
const TURN_SLACK_MS = 60_000;

/**
 * Open conversations, in records: they survive a restart and are shared by replicas. The owner is part of the key, so
 * that nobody's id opens another's conversation.
 */
export class Conversations {
  readonly #host: Host;
  readonly #settings: AgoraSettings;
  readonly #records: () => Records;
  readonly #slots: Slots;
  readonly #line = new InTurn(WAITING);

  constructor(host: Host, settings: AgoraSettings, records: () => Records) {
    this.#host = host;
    this.#settings = settings;
    this.#records = records;
    this.#slots = new Slots(records, settings.maxConversations);
  }

  /** A new one, or that of the same message before. */
  async open(owner: string, opening: Opening): Promise<{ readonly conversation: Conversation; readonly again: boolean }> {
    const id = this.#host.newId();
    const first = await this.#openedUnder(owner, opening.key, id);
    const before = first === undefined ? undefined : await this.#find(owner, first);
    if (before !== undefined) return { conversation: before, again: true };
    const { conversationMs } = this.#settings;
    const { agent, hash, session } = opening;
    const named = first ?? id;
    const conversation: Conversation = {
      id: named,
      agent,
      hash,
      session: session ?? named,
      slot: await this.#slots.take(owner, conversationMs),
      until: this.#host.now() + conversationMs,
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
    return { conversation, again: false };
  }

  /** The id under which a message with this key opened a conversation before; undefined for the first. */
  async #openedUnder(owner: string, key: Maybe<string>, id: string): Promise<Maybe<string>> {
    if (key === undefined) return undefined;
    const before = await this.#records().add(nameOf("opening", owner, key), { id }, this.#settings.conversationMs);
    return typeof before?.["id"] === "string" ? before["id"] : undefined;
  }

  /**
   * One message after the other. In this process those that come meanwhile wait; where another process answers one, they are
   * told to come back. Throws `session_expired` in the library's words where there is no such conversation, or no longer, or
   * it is somebody else's.
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

  /** The same conversation with what is new; nothing is written where nothing is. */
  async keep(owner: string, before: Conversation, change: Change): Promise<void> {
    const { conversationIdle, conversationMs } = this.#settings;
    const { taskId, collects, state = before.state, answered = before.answered } = change;
    const same =
      before.taskId === taskId && before.collects === collects && before.state === state && before.answered === answered;
    if (same && !conversationIdle) return;
    // The conversation was deleted concurrently: do not store it again.
    if ((await this.#find(owner, before.id)) === undefined) return;
    const until = conversationIdle ? this.#host.now() + conversationMs : before.until;
    if (conversationIdle) await this.#slots.keep(owner, before.slot, conversationMs);
    await this.#write(owner, { ...before, taskId, collects, answered, state, until });
  }

  /** The one that was closed; undefined where there was none, or it is another agent's. */
  async close(owner: string, id: string, agent: Maybe<string>): Promise<Maybe<Conversation>> {
    const found = id.length > ID_LENGTH ? undefined : await this.#find(owner, id);
    if (found === undefined || (agent !== undefined && agent !== found.agent)) return undefined;
    const closed = await this.#records().delete(nameOf("conversation", owner, id));
    if (closed) await this.#slots.free(owner, found.slot);
    return closed ? found : undefined;
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

export function notFound(): AgentError {
  return new AgentError("session_expired", CONVERSATION_NOT_FOUND);
}

/** The length keeps owner and id apart, whatever characters they have. */
function nameOf(what: "conversation" | "opening" | "turn", owner: string, id: string): string {
  return `${what}/${owner.length}:${owner}/${id}`;
}

/** Undefined for a record that is none of ours. */
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
