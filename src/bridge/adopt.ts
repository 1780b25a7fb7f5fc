import {
  AgentError,
  type AgentEvent,
  type Call,
  type Cancel,
  CancelSource,
  isPromise,
  type Loss,
  type Maybe,
  type ReadyIterator,
  startCall,
  type Task,
} from "../envelope/index.js";
import { followsItself } from "../policies/follow-tasks.js";
import { isOwnMark } from "../policies/hops.js";
import type { LinkedCancel } from "../policies/index.js";
import {
  type AgentFunction,
  type AgentStream,
  type IncomingMessage,
  Relayed,
  RelayedMessage,
  type TaskContext,
  type UpstreamEvent,
} from "../tasks/index.js";
import type { AdoptContext } from "./adopt-context.js";
import { type AdoptedState, readState, writeState } from "./adopted-state.js";
import { attach } from "./attach.js";
import { emulatedFor, receiptOf, reportEmulation } from "./emulation.js";
import { EventBatch } from "./event-batch.js";
import { holdCancel, isUnwanted } from "./hold-cancel.js";
import { NewsOfTask } from "./news-of-task.js";
import { snapshotEvents } from "./snapshot-events.js";
import {
  asGatewayError,
  extensionsOf,
  isConnectionError,
  isEnd,
  lostAnswer,
  mayContinue,
  one,
  principalOf,
  traceOf,
} from "./upstream-calls.js";
import { upstreamSend } from "./upstream-send.js";
import type { WorkEnd } from "./upstream-shares.js";

const CANCEL_MS = 5_000; // to cancel an abandoned upstream task

/**
 * Serves an upstream agent with tasks of this runtime: the events of the upstream are stored before callers see them. After a
 * restart the upstream task is found by its stored state, and never started a second time.
 */
export function adoptTasks(context: AdoptContext): AgentFunction {
  return (message, task) => new OwnedTaskProxy(context, message, task).run();
}

/** One turn of one task, performed by the upstream. */
class OwnedTaskProxy {
  readonly #context: AdoptContext;
  readonly #message: IncomingMessage;
  readonly #task: TaskContext;
  readonly #since: number; // when the message was sent
  #state: Maybe<AdoptedState>;
  #ended = false; // the upstream has ended the turn
  #news: Maybe<NewsOfTask>; // since the connection was lost
  /** The upstream task was cancelled, because its result is no longer wanted. */
  #abandoned = false;
  #cancelled: Maybe<Promise<void>>; // settles when the upstream has answered the cancel
  #workEnd: WorkEnd = "ended";

  constructor(context: AdoptContext, message: IncomingMessage, task: TaskContext) {
    this.#context = context;
    this.#message = message;
    this.#task = task;
    this.#state = readState(task.state);
    this.#since = context.clock.now();
  }

  /** Begins at once: the share of the caller is taken before anything is awaited. */
  run(): AgentStream {
    const { owner, restarted } = this.#task;
    const { shares } = this.#context;
    const full = restarted ? undefined : shares.refusal(owner);
    if (full !== undefined) throw full;
    return this.#work(shares.enter(owner));
  }

  async *#work(leave: (end: WorkEnd) => void): AgentStream {
    const { upstream, clock, ids } = this.#context;
    const task = this.#task;
    let [held, started]: [Maybe<LinkedCancel>, Maybe<AdoptedState>] = [undefined, undefined];
    try {
      started = task.restarted ? this.#startedBefore() : undefined;
      if (started !== undefined) return yield* this.#attach(started);
      const emulated = emulatedFor(upstream, task.delivery);
      reportEmulation(emulated, upstream, this.#reportLoss);
      if (emulated.length > 0) yield receiptOf(emulated, ids.now());
      const send = upstreamSend(this.#context, this.#message, task, { state: this.#state, reportMember: this.#reportMember });
      // A plain answer, or a protocol without tasks, yields no task id to wait for.
      const getsTaskId = send.delivery !== "answer" && upstream.traits().tasks;
      held = getsTaskId ? holdCancel(task.cancel, () => this.#state !== undefined, clock) : undefined;
      const reply = upstream.handler(send, this.#call(held?.source));
      if (!isPromise(reply)) return yield* this.#follow(reply);
      const step = this.#take(await reply);
      if (step instanceof RelayedMessage || this.#ended) return step;
      return yield* this.#unsettled(step);
    } catch (thrown) {
      if (started !== undefined) throw thrown;
      return yield* this.#failed(AgentError.from(thrown));
    } finally {
      held?.unlink();
      this.#abandonIfUnwanted();
      if (this.#cancelled === undefined) leave(this.#workEnd);
      else void this.#cancelled.then(() => leave("ended"));
    }
  }

  async *#failed(error: AgentError): AgentStream {
    const { upstream, credentials } = this.#context;
    const known = this.#startedState();
    if (known !== undefined && isConnectionError(error)) return yield* this.#attach(known);
    if (known === undefined && upstream.traits().tasks && mayContinue(error)) this.#workEnd = "unknown";
    if (isConnectionError(error) && error.facts.sent !== "no" && !upstream.traits().tasks) throw lostAnswer(error);
    throw asGatewayError(error, credentials !== undefined);
  }

  /** The stored state of this turn. Undefined if there is none and sending again is idempotent. */
  #startedBefore(): Maybe<AdoptedState> {
    const known = this.#startedState();
    if (known !== undefined || this.#context.upstream.card().capabilities.idempotentSend) return known;
    throw new AgentError("lost_place", "the gateway restarted before the upstream agent returned a task id");
  }

  #startedState(): Maybe<AdoptedState> {
    return this.#state?.turn === this.#task.turn ? this.#state : undefined;
  }

  #call(cancel: Cancel = this.#task.cancel, deadline?: Maybe<number>): Call {
    const { call, owner, caller, id } = this.#task;
    const outgoing = startCall({
      caller: call?.caller ?? principalOf(owner, caller),
      parameters: call && { ...traceOf(call), ...extensionsOf(call) },
      hops: (call?.hops ?? 0) + 1,
      floor: call?.floor ?? this.#state?.floor,
      credential: call?.credential,
      // The caller's deadline limits the work only where no task outlives the call.
      deadline: id === undefined ? call?.deadline : deadline,
      cancel,
      reportLoss: this.#reportLoss,
    });
    followsItself.put(outgoing, true); // after it is stored, so that it survives a restart
    return this.#context.credentials?.open(this.#state?.credential, outgoing) ?? outgoing;
  }

  /** Losses are reported on the call; a turn without one reports to the bridge. */
  readonly #reportLoss = (loss: Loss): void => {
    if (isOwnMark(loss, this.#message.extra)) return;
    const { call } = this.#task;
    if (call === undefined) this.#context.reportLoss(loss);
    else call.reportLoss(loss);
  };

  /** The answer is a task that has not ended: follow it. */
  async *#unsettled(first: Relayed): AgentStream {
    yield first;
    const known = this.#startedState();
    if (known === undefined) throw new AgentError("bad_peer", "the upstream agent returned neither an answer nor a task id");
    return yield* this.#attach(known);
  }

  async *#follow(events: AsyncIterable<AgentEvent>): AgentStream {
    const batch = new EventBatch();
    const arrived: ReadyIterator<AgentEvent> = events[Symbol.asyncIterator]();
    try {
      for (;;) {
        const first = await arrived.next();
        if (first.done === true) break;
        for (let event: Maybe<AgentEvent> = first.value; event !== undefined; event = batch.next(arrived)) {
          const step = this.#take(event);
          if (step instanceof RelayedMessage || this.#ended) {
            if (!batch.isEmpty) yield batch.whole();
            return step;
          }
          batch.add(step);
        }
        yield batch.whole();
      }
    } catch (thrown) {
      // What came before is stored.
      if (!batch.isEmpty) yield batch.whole();
      throw thrown;
    } finally {
      await arrived.return?.();
    }
    throw new AgentError("interrupted", "the stream ended before the task did", { sent: "maybe" });
  }

  /** Converts an event of the upstream, and records its state. */
  #take(event: AgentEvent, news?: Maybe<NewsOfTask>): Relayed | RelayedMessage {
    this.#ended = isEnd(event);
    switch (event.kind) {
      case "message":
        return new RelayedMessage(event.message, event.head);
      case "task": {
        const { task, cursor } = event;
        this.#reportLostMembers(task);
        const events = snapshotEvents(task);
        return this.#relayed(news?.in(events) ?? events, task.id, task.contextId, cursor);
      }
      case "status":
      case "artifact":
        return this.#relayed(news?.in([event]) ?? [event], event.taskId, event.contextId, event.cursor);
      default:
        throw new AgentError("bad_peer", `the upstream agent answered a message with ${event.kind}`);
    }
  }

  #relayed(events: readonly UpstreamEvent[], taskId: string, contextId: string, cursor: AdoptedState["cursor"]): Relayed {
    const { turn, call, cancel } = this.#task;
    const before = this.#startedState();
    if (before !== undefined && before.taskId !== taskId)
      throw new AgentError("bad_peer", "the upstream agent sent an event of another task");
    if (before !== undefined && before.cursor === cursor) return new Relayed(events, undefined);
    const credential = before?.credential ?? (call && this.#context.credentials?.seal(call)) ?? this.#state?.credential;
    const isNew = this.#state === undefined;
    const floor = call?.floor ?? this.#state?.floor;
    this.#state = { turn, taskId, contextId, since: before?.since ?? this.#since, cursor, floor, credential };
    if (isNew && isUnwanted(cancel.reason)) this.#abandonIfUnwanted();
    return new Relayed(events, writeState(this.#state));
  }

  #reportLostMembers({ metadata }: Task): void {
    if (metadata !== undefined) this.#reportMember("task.metadata", "object", "the gateway has a task of its own");
  }

  readonly #reportMember = (path: string, valueKind: string, reason: string): void =>
    this.#reportLoss({ protocol: this.#context.upstream.protocol(), path, valueKind, reason });

  async *#attach(known: AdoptedState): AgentStream {
    const { upstream, clock, random, credentials, timeoutMs } = this.#context;
    // The attempt began with the message, not with the lost connection.
    const deadline = timeoutMs === undefined ? undefined : (known.since ?? this.#since) + timeoutMs;
    try {
      return yield* attach(upstream, {
        known: () => this.#startedState() ?? known,
        call: this.#call(undefined, deadline),
        deadline,
        clock,
        random,
        cancel: this.#task.cancel,
        take: (event) => this.#attached(event),
      });
    } catch (thrown) {
      throw asGatewayError(AgentError.from(thrown), credentials !== undefined);
    } finally {
      this.#abandonIfUnwanted();
    }
  }

  async #attached(event: AgentEvent): Promise<{ readonly step: Relayed; readonly end: boolean }> {
    // With each snapshot the upstream begins again. Without one it continues after the last stored event.
    if (event.kind === "task") {
      const held = await this.#task.snapshot();
      this.#news = held && new NewsOfTask(held);
    }
    const step = this.#take(event, this.#news);
    if (step instanceof RelayedMessage)
      throw new AgentError("bad_peer", "the upstream agent answered a task request with a message");
    return { step, end: this.#ended };
  }

  /** Cancels the upstream task if the turn ended early and no other process continues it. */
  #abandonIfUnwanted(): void {
    const { reason } = this.#task.cancel;
    if (this.#ended || this.#abandoned || (reason !== undefined && !isUnwanted(reason))) return;
    this.#abandoned = true;
    if (this.#state !== undefined) this.#cancelled = this.#cancelUpstream(this.#state.taskId);
  }

  async #cancelUpstream(taskId: string): Promise<void> {
    const { upstream, clock } = this.#context;
    try {
      const call = this.#call(new CancelSource()).derive({ deadline: clock.now() + CANCEL_MS });
      await one(upstream.handler({ kind: "task.cancel", taskId }, call));
    } catch {
      // The task has ended here, whether or not the upstream could be cancelled.
    }
  }
}
