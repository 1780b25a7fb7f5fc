import {
  type AgentEvent,
  type Call,
  type Cursor,
  isClosing,
  isPromise,
  type Maybe,
  type OperationOf,
  RecentMap,
  type Reply,
  type Task,
} from "../../../envelope/index.js";
import type { Identity } from "../../../security/identity/index.js";
import type { Host } from "../../protocol.js";
import { acceptedSessions } from "../session/accepted-sessions.js";
import { checkPeerKeys } from "../session/keys-of.js";
import { EventSealer, taskIn } from "../session/sealed-events.js";
import type { SageSession } from "../session/session.js";
import { authorCall, requestSigners } from "./author-call.js";
import type { StreamPosition } from "./sealed-content.js";

const BROUGHT_LIMITS = {
  /** Tasks that gateways may go on to follow. */
  tasks: 1_000,
  /** Of each, the last events after which they may. */
  positions: 1_024,
  /** How often the stream of one message is begun again: each time takes one of the streams of the author's session. */
  resumptions: 64,
} as const;

/** A sealed message that a gateway brought: whose it is, and in which session its answer is sealed. */
interface BroughtMessage {
  readonly relay: string;
  readonly messageId: string;
  readonly session: SageSession;
}

interface BroughtTask extends BroughtMessage {
  /** What was sealed up to each event, in order. */
  readonly positions: Map<Cursor, Maybe<StreamPosition>>;
  resumptions: number;
  /** Seals the newest stream. One before it may still write to a connection that is lost. */
  newest: EventSealer;
}

/**
 * Sealed streams that gateways brought the messages of. A gateway that loses the connection goes on after the last event that it has: it
 * gets what it would have got, sealed for the author, in a stream that names the record it continues. It gets nothing else of the task.
 */
export class BroughtTasks {
  readonly #host: Host;
  readonly #identity: Identity;
  readonly #tasks = new RecentMap<BroughtTask>(BROUGHT_LIMITS.tasks);

  constructor(host: Host, identity: Identity) {
    this.#host = host;
    this.#identity = identity;
  }

  /** Seals the events of an answer. Those of a stream are noted for the gateway that brought the message, if it signed its request. */
  sealing(sealer: EventSealer, message: Omit<BroughtMessage, "relay">, call: Call): (event: AgentEvent) => Promise<AgentEvent> {
    const relay = requestSigners.of(call);
    if (relay === undefined || relay === message.session.peerDid) return (event) => sealer.seal(event);
    const brought: BroughtTask = { ...message, relay, positions: new Map(), resumptions: 0, newest: sealer };
    return (event) => this.#noted(event, sealer, brought);
  }

  async #noted(event: AgentEvent, sealer: EventSealer, brought: BroughtTask): Promise<AgentEvent> {
    const sealed = await sealer.seal(event);
    const taskId = taskIn(event);
    const cursor = "cursor" in event ? event.cursor : undefined;
    if (taskId === undefined || cursor === undefined || brought.newest !== sealer) return sealed;
    if (brought.positions.size === 0) this.#tasks.set(taskId, brought);
    note(brought.positions, cursor, sealer.position);
    return sealed;
  }

  /** The rest of a stream for the gateway that brought its message. Undefined: the caller is none, and asks as anybody would. */
  resumed(operation: OperationOf<"task.subscribe">, call: Call): Maybe<Reply> {
    const { taskId, after, follow } = operation;
    const brought = this.#tasks.get(taskId);
    if (brought === undefined || after === undefined || !follow) return undefined;
    if (brought.relay !== requestSigners.of(call) || !brought.positions.has(after)) return undefined;
    if (brought.resumptions >= BROUGHT_LIMITS.resumptions) return undefined;
    brought.resumptions++;
    return this.#rest(operation, brought, brought.positions.get(after), call);
  }

  async *#rest(
    operation: OperationOf<"task.subscribe">,
    brought: BroughtTask,
    after: Maybe<StreamPosition>,
    call: Call,
  ): AsyncGenerator<AgentEvent, void, void> {
    const { keyId, peerDid } = brought.session;
    const session = acceptedSessions(this.#identity).table.find({ ownDid: this.#identity.did, peerDid }, keyId);
    await checkPeerKeys(session, this.#host.resolver, call.cancel);
    const reply = this.#host.handler(operation, authorCall(call, peerDid));
    const continues = { message: brought.messageId, after };
    const sealer = new EventSealer(session, { stream: session.openStream(), namesTasks: true, continues });
    brought.newest = sealer;
    let isFirst = true;
    for await (const event of isPromise(reply) ? [await reply] : reply) {
      // The task as it was at the cursor: the gateway has it.
      if (isFirst && event.kind === "task") yield { ...event, task: withoutContents(event.task) };
      else {
        yield this.#noted(event, sealer, brought);
        // A later turn is not one of this gateway's messages.
        if (isClosing(event)) return;
      }
      isFirst = false;
    }
  }
}

function note(positions: BroughtTask["positions"], cursor: Cursor, position: Maybe<StreamPosition>): void {
  positions.delete(cursor);
  positions.set(cursor, position);
  if (positions.size <= BROUGHT_LIMITS.positions) return;
  for (const [oldest] of positions) {
    positions.delete(oldest);
    return;
  }
}

function withoutContents({ id, contextId, status }: Task): Task {
  return { id, contextId, status: { ...status, message: undefined }, artifacts: [], history: [] };
}
