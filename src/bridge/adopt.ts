import {
  AgentError,
  type AgentEvent,
  type Call,
  type Cancel,
  CancelSource,
  type Envelope,
  isPromise,
  type Loss,
  type Maybe,
  type OperationOf,
  startCall,
  type Task,
} from "../envelope/index.js";
import { extraWithHops, isOwnMark } from "../policies/hops.js";
import {
  type AgentFunction,
  type AgentStream,
  type UpstreamEvent,
  type IncomingMessage,
  Relayed,
  RelayedMessage,
  type TaskContext,
} from "../tasks/index.js";
import type { AdoptParts } from "./adopt-parts.js";
import { type AdoptedState, readState, writeState } from "./adopted-state.js";
import { attach } from "./attach.js";
import { type Emulated, emulatedFor, emulationNote, reportEmulation } from "./emulation.js";
import { holdCancel, isUnwanted } from "./hold-cancel.js";
import { asOurs, extensionsOf, isCut, isEnd, lostAnswer, one, strangerOf, traceOf } from "./onward.js";
import { snapshotEvents } from "./snapshot-events.js";
import { canStream, type Upstream } from "./upstream.js";

type Send = OperationOf<"send">;

/**
 * The agent behind a gateway as an agent here: this runtime owns the task, and what the peer says is written down before
 * anybody sees it. After a restart the work is found again by what was kept, never begun a second time.
 */
export function adoptTasks(parts: AdoptParts): AgentFunction {
  return (message, task) => new OwnedTaskProxy(parts, message, task).run();
}

/** One turn of one task, said by the peer. */
class OwnedTaskProxy {
  readonly #parts: AdoptParts;
  readonly #message: IncomingMessage;
  readonly #task: TaskContext;
  #state: Maybe<AdoptedState>;
  /** The peer has ended the turn. */
  #ended = false;
  /** The peer was told that nobody waits any more. */
  #letGone = false;

  constructor(parts: AdoptParts, message: IncomingMessage, task: TaskContext) {
    this.#parts = parts;
    this.#message = message;
    this.#task = task;
    this.#state = readState(task.state);
  }

  async *run(): AgentStream {
    const { upstream, clock } = this.#parts;
    const task = this.#task;
    const begun = task.restarted ? this.#begun() : undefined;
    if (begun !== undefined) return yield* this.#attach(begun);
    const emulated = emulatedFor(upstream, task.delivery);
    reportEmulation(emulated, upstream, this.#lose);
    if (emulated.length > 0) yield this.#receipt(emulated);
    const send = this.#send();
    // Where the peer is asked for a plain answer, or has no tasks, there is no name to wait for.
    const getsName = send.delivery !== "answer" && upstream.traits().tasks;
    const held = getsName ? holdCancel(task.cancel, () => this.#state !== undefined, clock) : undefined;
    try {
      const reply = upstream.handler(send, this.#call(held?.source));
      if (!isPromise(reply)) return yield* this.#follow(reply);
      const step = this.#take(await reply);
      if (step instanceof RelayedMessage || this.#ended) return step;
      return yield* this.#unsettled(step);
    } catch (thrown) {
      const error = AgentError.from(thrown);
      const known = this.#begunNow();
      if (known !== undefined && isCut(error)) return yield* this.#attach(known);
      if (isCut(error) && error.facts.sent !== "no" && !upstream.traits().tasks) throw lostAnswer(error);
      throw asOurs(error, this.#parts.credentials !== undefined);
    } finally {
      held?.unlink();
      this.#letGo();
    }
  }

  /** What was kept of this very turn. Undefined where nothing is known, and saying it again starts nothing twice. */
  #begun(): Maybe<AdoptedState> {
    const known = this.#begunNow();
    if (known !== undefined || this.#parts.upstream.card().capabilities.idempotentSend) return known;
    throw new AgentError("lost_place", "the gateway ended before the agent behind it said how it calls this task");
  }

  #begunNow(): Maybe<AdoptedState> {
    return this.#state?.turn === this.#task.turn ? this.#state : undefined;
  }

  /** Something must be there at once for a caller who will not get more until the end. */
  #receipt(emulated: readonly Emulated[]): Relayed {
    const of = { taskId: "", contextId: "" };
    const status = { state: "working", at: this.#parts.ids.now() } as const;
    return new Relayed([{ kind: "status", ...of, status, metadata: emulationNote(emulated) }], undefined);
  }

  #send(): Send {
    const { upstream, veil, ids } = this.#parts;
    const { owner, sessionId, outputModes, call, delivery, id, turn } = this.#task;
    const { ts, src, dst, intent, role, content, context, meta, references, extensions, metadata, proofs, extra } = this.#message;
    if (references !== undefined)
      this.#lose({
        protocol: upstream.protocol(),
        path: "message.references",
        valueKind: "array",
        reason: "the tasks of a gateway have other names behind it",
      });
    const key =
      context.idempotencyKey ?? (upstream.card().capabilities.idempotentSend && id !== undefined ? `${id} ${turn}` : undefined);
    const known = this.#state;
    const envelope: Envelope = {
      id: ids.newId(),
      ts,
      src,
      dst,
      intent,
      role,
      content,
      context: {
        ...context,
        idempotencyKey: key && veil(owner, "key", key),
        sessionId: known?.contextId ?? veil(owner, "session", sessionId),
        taskId: known?.taskId,
      },
      // Which way is taken in front says nothing about the way behind.
      meta: { ...meta, protocolHint: undefined },
      references: undefined,
      extensions,
      metadata,
      proofs,
      extra: extraWithHops(extra, (call?.hops ?? 0) + 1),
    };
    return {
      kind: "send",
      envelope,
      delivery: wanted(delivery, upstream, context.idempotencyKey !== undefined),
      task: "auto",
      outputModes: outputModes.length === 0 ? undefined : outputModes,
    };
  }

  #call(cancel: Cancel = this.#task.cancel): Call {
    const { call, owner, caller, id } = this.#task;
    const onward = startCall({
      caller: call?.caller ?? strangerOf(owner, caller),
      parameters: call && { ...traceOf(call), ...extensionsOf(call) },
      hops: (call?.hops ?? 0) + 1,
      floor: call?.floor,
      credential: call?.credential,
      // Without a task the caller's patience limits everything; with one only the wait.
      deadline: id === undefined ? call?.deadline : undefined,
      cancel,
      reportLoss: this.#lose,
    });
    return this.#parts.credentials?.open(this.#state?.credential, onward) ?? onward;
  }

  /** Whoever answers a call keeps account of its losses; a turn without a call has nobody else. */
  readonly #lose = (loss: Loss): void => {
    if (isOwnMark(loss, this.#message.extra)) return;
    const { call } = this.#task;
    if (call === undefined) this.#parts.lose(loss);
    else call.reportLoss(loss);
  };

  /** One event should have been the whole answer; a task that is not at its end is followed. */
  async *#unsettled(begun: Relayed): AgentStream {
    yield begun;
    const known = this.#begunNow();
    if (known === undefined) throw new AgentError("bad_peer", "the answer was no answer, and names no task");
    return yield* this.#attach(known);
  }

  async *#follow(events: AsyncIterable<AgentEvent>): AgentStream {
    for await (const event of events) {
      const step = this.#take(event);
      if (step instanceof RelayedMessage || this.#ended) return step;
      yield step;
    }
    throw new AgentError("interrupted", "the stream ended before the task did", { sent: "maybe" });
  }

  /** What an event of the peer is here, and what is remembered of it. */
  #take(event: AgentEvent): Relayed | RelayedMessage {
    this.#ended = isEnd(event);
    switch (event.kind) {
      case "message":
        return new RelayedMessage(event.message, event.head);
      case "task":
        this.#loseMembers(event.task);
        return this.#relayed(snapshotEvents(event.task), event.task.id, event.task.contextId, event.cursor);
      case "status":
      case "artifact":
        return this.#relayed([event], event.taskId, event.contextId, event.cursor);
      default:
        throw new AgentError("bad_peer", `a message was answered with ${event.kind}`);
    }
  }

  #relayed(events: readonly UpstreamEvent[], taskId: string, contextId: string, cursor: AdoptedState["cursor"]): Relayed {
    const { turn, call, cancel } = this.#task;
    const before = this.#begunNow();
    if (before !== undefined && before.taskId !== taskId) throw new AgentError("bad_peer", "an event of another task came");
    if (before !== undefined && before.cursor === cursor) return new Relayed(events, undefined);
    const credential = before?.credential ?? (call && this.#parts.credentials?.seal(call)) ?? this.#state?.credential;
    const isNew = this.#state === undefined;
    this.#state = { turn, taskId, contextId, cursor, credential };
    if (isNew && isUnwanted(cancel.reason)) this.#letGo();
    return new Relayed(events, writeState(this.#state));
  }

  #loseMembers({ metadata }: Task): void {
    if (metadata !== undefined)
      this.#lose({
        protocol: this.#parts.upstream.protocol(),
        path: "task.metadata",
        valueKind: "object",
        reason: "the task of a gateway is its own",
      });
  }

  async *#attach(known: AdoptedState): AgentStream {
    const { upstream, clock, random, credentials } = this.#parts;
    try {
      return yield* attach(upstream, {
        known: () => this.#begunNow() ?? known,
        call: this.#call(),
        clock,
        random,
        cancel: this.#task.cancel,
        take: (event) => this.#attached(event),
      });
    } catch (thrown) {
      throw asOurs(AgentError.from(thrown), credentials !== undefined);
    } finally {
      this.#letGo();
    }
  }

  #attached(event: AgentEvent): { readonly step: Relayed; readonly end: boolean } {
    const step = this.#take(event);
    if (step instanceof RelayedMessage) throw new AgentError("bad_peer", "a task was answered with a message");
    return { step, end: this.#ended };
  }

  /** A turn that is over without the peer's own end leaves it at work for nobody, unless somebody else takes it up. */
  #letGo(): void {
    const { reason } = this.#task.cancel;
    if (this.#ended || this.#letGone || (reason !== undefined && !isUnwanted(reason))) return;
    this.#letGone = true;
    if (this.#state !== undefined) void this.#giveUp(this.#state.taskId);
  }

  async #giveUp(taskId: string): Promise<void> {
    const { upstream, clock } = this.#parts;
    try {
      const call = this.#call(new CancelSource()).derive({ deadline: clock.now() + GIVE_UP_MS });
      await one(upstream.handler({ kind: "task.cancel", taskId }, call));
    } catch {
      // Whoever cannot be reached, or has ended meanwhile, cannot be told; here the task is over either way.
    }
  }
}

/** How long telling a peer that nobody waits any more may take. */
const GIVE_UP_MS = 5_000;

/** How the peer is asked, so that it is found again where that matters and nothing is paid for where it does not. */
function wanted(delivery: Send["delivery"], upstream: Upstream, hasKey: boolean): Send["delivery"] {
  // Whoever gives a key means to come back for the answer: only a stream tells early how the task is called over there.
  if (delivery === "answer" && !(hasKey && canStream(upstream))) return "answer";
  return canStream(upstream) ? "stream" : "accepted";
}
