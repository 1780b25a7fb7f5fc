import {
  type AgentError,
  type Call,
  type Envelope,
  type IdSource,
  type Json,
  type Maybe,
  type Metadata,
  type OperationOf,
  type Part,
  type Reply,
  Slots,
  type Slotted,
  type Task,
} from "../envelope/index.js";
import { ActiveRuns } from "./active-runs.js";
import type { AgentFunction } from "./agent-function.js";
import type { TaskLimits } from "./limits.js";
import { PushDispatcher } from "./push-delivery.js";
import type { PushPort } from "./push-port.js";
import { Shares } from "./shares.js";
import type { Store } from "./store.js";
import type { Timers } from "./timers.js";

/** The requests about a task that can be answered at an upstream. */
export type ForwardedOperation = OperationOf<"task.get" | "task.cancel" | "task.subscribe">;

/** An agent as the runtime serves it. */
export interface RuntimeAgent {
  readonly handle: AgentFunction;
  /** Restart runs that lost their holder: at-least-once instead of at-most-once. */
  readonly restartable?: Maybe<boolean>;
  /**
   * Cancels the work on an upstream, identified by the saved state. What
   * it throws is returned to the caller of cancel, and the task continues.
   */
  readonly cancel?: Maybe<(saved: Json, call: Call) => Promise<void>>;
  /**
   * Answers a request about a task at the upstream, identified by the saved state, if its author proved it for the upstream. Undefined: it
   * is answered here.
   */
  readonly forward?: Maybe<(operation: ForwardedOperation, saved: Json, call: Call) => Maybe<Reply>>;
  /** Metadata of each new task. */
  readonly marks?: Maybe<(operation: OperationOf<"send">) => Maybe<Metadata>>;
}

/** Fetches a URL part. Responsible for the guard, size, digest and for honouring the signal. */
export type FetchPart = (part: Part, signal: AbortSignal) => Promise<Part>;

/** Streams the content of a URL part. Responsible for the guard, size, digest and for honouring the signal. */
export type ReadPart = (part: Part & { readonly kind: "url" }, signal: AbortSignal) => AsyncIterable<Uint8Array>;

/** A task leased by this process, and the message of its first turn. */
export interface RunStart {
  readonly task: Task;
  readonly owner: string;
  readonly caller: string;
  readonly agentName: string;
  readonly agent: RuntimeAgent;
  readonly epoch: number;
  readonly seq: number;
  readonly message: Envelope;
  /** Of a task that began early: until this resolves nothing of it may leave. */
  readonly stored?: Maybe<Promise<void>>;
}

/** Ended when the runtime closes. */
export interface Endable {
  end(reason: AgentError): void;
}

/** A pending bare reply. */
export interface PendingReply extends Endable, Slotted {}

/** An open stream of the events of a task. */
export interface EndableReader extends Endable, Slotted {
  /** Called once: ends after what is in the journal. Resolves when it has ended. */
  finish(reason: AgentError): Promise<void>;
}

/** Has something to write. */
interface Unwritten {
  flush(): void;
}

/** Dependencies of one runtime. */
export interface RuntimeContextOptions {
  readonly agents: ReadonlyMap<string, RuntimeAgent>;
  readonly store: Store;
  readonly ids: IdSource;
  readonly timers: Timers;
  readonly limits: TaskLimits;
  readonly push: Maybe<PushPort>;
  readonly fetchPart: Maybe<FetchPart>;
  readonly readPart: Maybe<ReadPart>;
  random(): number;
}

/** Shared by all runs of one runtime: dependencies, active runs and capacity. */
export class RuntimeContext {
  readonly agents: ReadonlyMap<string, RuntimeAgent>;
  readonly store: Store;
  readonly ids: IdSource;
  readonly timers: Timers;
  readonly limits: TaskLimits;
  /** Undefined if push is not offered. */
  readonly push: Maybe<PushDispatcher>;
  readonly fetchPart: Maybe<FetchPart>;
  readonly readPart: Maybe<ReadPart>;
  /** The holder id of this runtime's leases. */
  readonly holder: string;
  readonly runs = new ActiveRuns();
  readonly #replies = new Slots<PendingReply>();
  /** Open streams. */
  readonly readers = new Slots<EndableReader>();
  /** Agents that were stopped and have not returned. */
  readonly abandoned: Shares;
  readonly lists: Shares;
  closing = false;
  readonly #running: Shares;
  readonly #bare: Shares;
  #unwritten: Unwritten[] = [];
  #idle: (() => void) | undefined;

  constructor(options: RuntimeContextOptions) {
    this.agents = options.agents;
    this.store = options.store;
    this.ids = options.ids;
    this.timers = options.timers;
    this.limits = options.limits;
    this.fetchPart = options.fetchPart;
    this.readPart = options.readPart;
    const most = options.limits;
    this.#running = new Shares(most.runningTasks, most.runningTasksPerOwner, "running tasks");
    this.#bare = new Shares(most.bareReplies, most.bareRepliesPerOwner, "calls waiting for their answer");
    this.abandoned = new Shares(most.abandonedRuns, most.abandonedRunsPerOwner, "stopped calls that have not returned");
    this.lists = new Shares(Number.POSITIVE_INFINITY, most.listsPerOwner, "task lists being read");
    this.holder = options.ids.newId();
    const { push: port, store, timers, limits, random } = options;
    const { holder } = this;
    this.push = port && new PushDispatcher({ port, store, timers, limits, random, holder, now: () => options.ids.now() });
  }

  get running(): number {
    return this.#running.total;
  }

  /** Reserves capacity for one run; release it with `leave`. */
  enter(owner: string): void {
    this.#running.check(owner);
    this.abandoned.check(owner);
    this.#running.enter(owner);
  }

  leave(owner: string): void {
    this.#running.leave(owner);
    this.checkIdle();
  }

  /** Pending bare replies. */
  get replies(): readonly Endable[] {
    return this.#replies.all;
  }

  /** Reserves capacity for one bare reply; release it with `endReply`. */
  beginReply(reply: PendingReply, owner: string): void {
    this.#bare.check(owner);
    this.abandoned.check(owner);
    this.#bare.enter(owner);
    this.#replies.add(reply);
  }

  endReply(reply: PendingReply, owner: string): void {
    if (!this.#replies.remove(reply)) return;
    this.#bare.leave(owner);
    this.checkIdle();
  }

  /** Calls `run` once when no run or reply is active, immediately if none is. */
  onIdle(run: () => void): void {
    this.#idle = run;
    this.checkIdle();
  }

  /** Call after every `leave`. */
  checkIdle(): void {
    if (this.#idle === undefined || this.#running.total > 0 || this.#replies.all.length > 0) return;
    this.#idle();
    this.#idle = undefined;
  }

  /** Flushes at the end of this tick, so that the entries of one tick are one append. One timer serves all. */
  afterThisTick(writer: Unwritten): void {
    if (this.#unwritten.push(writer) > 1) return;
    this.timers.soon(() => {
      const due = this.#unwritten;
      this.#unwritten = [];
      for (const each of due) each.flush();
    });
  }
}
