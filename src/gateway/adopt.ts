import {
  AgentError,
  type Call,
  type Event,
  isInterrupted,
  isPromise,
  isTerminal,
  type Loss,
  type LossSink,
  type Maybe,
  type OperationOf,
  type Principal,
  type Reply,
  startCall,
  type Task,
} from "../envelope/index.js";
import type { Clock } from "../policies/index.js";
import type { Ids } from "../protocols/protocol.js";
import {
  type AgentFunction,
  type AgentStream,
  type ElsewhereEvent,
  type IncomingMessage,
  Relayed,
  RelayedMessage,
  type Result,
  type TaskContext,
} from "../tasks/index.js";
import { type AdoptedState, readState, writeState } from "./adopted-state.js";
import { attach } from "./attach.js";
import { type Emulated, emulatedFor, emulationNote, refuseEmulation, tellEmulation } from "./emulation.js";
import { withHops } from "./hops.js";
import { snapshotEvents } from "./snapshot-events.js";
import { canStream, type Upstream } from "./upstream.js";

type Send = OperationOf<"send">;

/** What an adopting bridge is made of. */
export interface AdoptParts {
  readonly upstream: Upstream;
  /** Names that callers chose, as the peer may see them. */
  veil(owner: string, kind: string, value: string): string;
  /** Refuses what the peer cannot do, instead of standing in for it. */
  readonly strict: boolean;
  /** Hears of everything that is lost on the way. */
  readonly lose: LossSink;
  /** Seals and opens a caller's credential; absent where none goes along. */
  readonly credentials?: Maybe<CredentialSeal>;
  readonly ids: Ids;
  readonly clock: Clock;
  readonly random: () => number;
}

/** Keeps a caller's credential with the task in a form that only gateways with the same secret can read. */
export interface CredentialSeal {
  seal(call: Call): Maybe<string>;
  /** The call with the credential on it. Throws `unauthenticated` for one that cannot be opened. */
  open(sealed: Maybe<string>, call: Call): Call;
}

/**
 * The agent behind a gateway as an agent here: this runtime owns the task, and what the peer says is written down before
 * anybody sees it. After a restart the work is found again by what was kept, never begun a second time.
 */
export function adopting(parts: AdoptParts): AgentFunction {
  return (message, task) => new Adoption(parts, message, task).run();
}

/** Stops the task where it really runs. */
export function cancelAdopted({ upstream, credentials, lose }: AdoptParts): (saved: unknown, call: Call) => Promise<void> {
  return async (saved, call) => {
    const state = readState(saved as Maybe<never>); // whatever it is, it is read with care
    if (state === undefined) return;
    const onward = startCall({ caller: call.caller, hops: call.hops + 1, parameters: traceOf(call), lose });
    const allowed = credentials?.open(state.credential, onward) ?? onward;
    try {
      await one(upstream.handler({ kind: "task.cancel", taskId: state.taskId }, allowed));
    } catch (thrown) {
      // A wire without a word for it: the work goes on over there, and nobody here waits for it any more.
      if (AgentError.from(thrown).code !== "unsupported_method") throw asOurs(AgentError.from(thrown));
    }
  };
}

/** One turn of one task, said by the peer. */
class Adoption {
  readonly #parts: AdoptParts;
  readonly #message: IncomingMessage;
  readonly #task: TaskContext;
  #state: Maybe<AdoptedState>;

  constructor(parts: AdoptParts, message: IncomingMessage, task: TaskContext) {
    this.#parts = parts;
    this.#message = message;
    this.#task = task;
    this.#state = readState(task.state);
  }

  async *run(): AgentStream {
    const { upstream, strict } = this.#parts;
    const task = this.#task;
    const begun = task.restarted ? this.#begun() : undefined;
    if (begun !== undefined) return yield* this.#attach(begun);
    const emulated = emulatedFor(upstream, task.delivery);
    if (strict) refuseEmulation(emulated, upstream);
    tellEmulation(emulated, upstream, this.#lose);
    if (emulated.length > 0) yield this.#receipt(emulated);
    try {
      const reply = upstream.handler(this.#send(), this.#call());
      if (isPromise(reply)) return yield* this.#settled(await reply);
      return yield* this.#follow(reply);
    } catch (thrown) {
      const error = AgentError.from(thrown);
      const known = this.#begunNow();
      if (known !== undefined && isCut(error)) return yield* this.#attach(known);
      if (error.code === "deadline") void this.#giveUp();
      throw asOurs(error);
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
    const { context, references } = this.#message;
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
    const envelope = {
      ...plain(this.#message),
      id: ids.newId(),
      context: {
        ...context,
        idempotencyKey: key && veil(owner, "key", key),
        sessionId: known?.contextId ?? veil(owner, "session", sessionId),
        taskId: known?.taskId,
      },
      references: undefined,
    };
    return {
      kind: "send",
      envelope: withHops(envelope, (call?.hops ?? 0) + 1),
      delivery: wanted(delivery, upstream),
      task: "auto",
      outputModes: outputModes.length === 0 ? undefined : outputModes,
    };
  }

  #call(): Call {
    const { call, cancel, owner, caller, id } = this.#task;
    const onward = startCall({
      caller: call?.caller ?? strangerOf(owner, caller),
      parameters: call && { ...traceOf(call), ...extensionsOf(call) },
      hops: (call?.hops ?? 0) + 1,
      floor: call?.floor,
      // Without a task the caller's patience limits everything; with one only the wait.
      deadline: id === undefined ? call?.deadline : undefined,
      cancel,
      lose: this.#lose,
    });
    const { credentials } = this.#parts;
    if (credentials === undefined) return onward;
    return call === undefined
      ? credentials.open(this.#state?.credential, onward)
      : credentials.open(credentials.seal(call), onward);
  }

  readonly #lose = (loss: Loss): void => {
    this.#parts.lose(loss);
    this.#task.call?.lose(loss);
  };

  /** One event that should be the whole answer; a task that is not at its end is followed. */
  async *#settled(event: Event): AgentStream {
    const end = this.#take(event);
    if (end instanceof RelayedMessage || isEnd(event)) return end;
    yield end;
    const known = this.#begunNow();
    if (known === undefined) throw new AgentError("bad_peer", "the answer was no answer, and names no task");
    return yield* this.#attach(known);
  }

  async *#follow(events: AsyncIterable<Event>): AgentStream {
    for await (const event of events) {
      const step = this.#take(event);
      if (step instanceof RelayedMessage || isEnd(event)) return step;
      yield step;
    }
    throw new AgentError("interrupted", "the stream ended before the task did", { sent: "maybe" });
  }

  /** What an event of the peer is here, and what is remembered of it. */
  #take(event: Event): Relayed | RelayedMessage {
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

  #relayed(events: readonly ElsewhereEvent[], taskId: string, contextId: string, cursor: AdoptedState["cursor"]): Relayed {
    const { turn, call } = this.#task;
    const before = this.#begunNow();
    if (before !== undefined && before.cursor === cursor) return new Relayed(events, undefined);
    const credential = before?.credential ?? (call && this.#parts.credentials?.seal(call)) ?? this.#state?.credential;
    this.#state = { turn, taskId, contextId, cursor, credential };
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
    const { upstream, clock, random } = this.#parts;
    return yield* attach(upstream, {
      known: () => this.#begunNow() ?? known,
      call: this.#call(),
      clock,
      random,
      cancel: this.#task.cancel,
      take: (event) => this.#attached(event),
    });
  }

  #attached(event: Event): { readonly step: Relayed; readonly end: boolean } {
    const step = this.#take(event);
    if (step instanceof RelayedMessage) throw new AgentError("bad_peer", "a task was answered with a message");
    return { step, end: isEnd(event) };
  }

  /** The time is over here; the peer need not go on for nobody. */
  async #giveUp(): Promise<void> {
    const known = this.#begunNow();
    if (known === undefined) return;
    const { upstream, clock } = this.#parts;
    const call = startCall({ caller: this.#task.call?.caller, deadline: clock.now() + GIVE_UP_MS });
    await one(upstream.handler({ kind: "task.cancel", taskId: known.taskId }, call)).catch(() => undefined);
  }
}

/** How long telling a peer that nobody waits any more may take. */
const GIVE_UP_MS = 5_000;

/** How the peer is asked, so that it is found again where that matters and nothing is paid for where it does not. */
function wanted(delivery: Send["delivery"], upstream: Upstream): Send["delivery"] {
  if (delivery === "answer") return "answer";
  return canStream(upstream) ? "stream" : "accepted";
}

function isEnd(event: Event): boolean {
  if (event.kind === "message") return true;
  const state = event.kind === "task" ? event.task.status.state : event.kind === "status" ? event.status.state : undefined;
  return state !== undefined && (isTerminal(state) || isInterrupted(state));
}

/** The connection failed, not the work. */
export function isCut({ code }: AgentError): boolean {
  return code === "interrupted" || code === "unavailable";
}

/** How the peer treats the gateway is not how the gateway treats its caller. */
function asOurs(error: AgentError): AgentError {
  switch (error.code) {
    case "unauthenticated":
    case "forbidden":
      return new AgentError("bad_peer", "the agent behind this gateway does not let the gateway in", {
        ...error.facts,
        cause: error,
      });
    case "task_not_found":
      return new AgentError("lost_place", "the agent behind this gateway no longer knows this task", { cause: error });
    default:
      return error;
  }
}

function traceOf({ parameters: { traceparent, tracestate } }: Call): Record<string, string> {
  return { ...(traceparent !== undefined && { traceparent }), ...(tracestate !== undefined && { tracestate }) };
}

function extensionsOf({ parameters: { extensions } }: Call): Record<string, string> {
  return extensions === undefined ? {} : { extensions };
}

/** After a restart only the owner of a task is known. */
function strangerOf(owner: string, caller: string): Principal {
  return { id: caller, scheme: "self", scopes: [], owner };
}

/** The message without what reading it added. */
function plain(message: IncomingMessage): Omit<IncomingMessage, "text"> {
  const { id, ts, src, dst, intent, role, content, context, meta, references, extensions, metadata, proofs, extra } = message;
  return { id, ts, src, dst, intent, role, content, context, meta, references, extensions, metadata, proofs, extra };
}

async function one(reply: Reply): Promise<Event> {
  if (isPromise(reply)) return reply;
  throw new AgentError("internal", "one answer was expected and a stream came");
}
