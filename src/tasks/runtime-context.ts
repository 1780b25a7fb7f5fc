import {
  AgentError,
  type Call,
  type IdSource,
  type Json,
  type Maybe,
  type Metadata,
  type OperationOf,
  type Part,
} from "../envelope/index.js";
import type { AgentFunction } from "./agent-function.js";
import type { TaskLimits } from "./limits.js";
import { PushDispatcher } from "./push-delivery.js";
import type { PushPort } from "./push-port.js";
import type { Store } from "./store.js";
import type { Timers } from "./timers.js";

/** An agent as the runtime serves it. */
export interface RuntimeAgent {
  readonly handle: AgentFunction;
  /** A run that lost its holder is started again: at least once instead of at most once. */
  readonly restartable?: Maybe<boolean>;
  /**
   * Stops the work where it is really done, for agents whose work is done elsewhere: by what they kept with the task. What
   * it throws is the answer to whoever wanted to cancel, and the task goes on.
   */
  readonly cancel?: Maybe<(saved: Json, call: Call) => Promise<void>>;
  /** What a new task of its says about itself from its first moment. */
  readonly marks?: Maybe<(operation: OperationOf<"send">) => Maybe<Metadata>>;
}

/** Follows the link of a URL part. Guard, size and digest are its affair; so is hearing the signal. */
export type FetchPart = (part: Part, signal: AbortSignal) => Promise<Part>;

/** A run as those see it who only wait for it or stop it. */
export interface Running {
  readonly taskId: string;
  readonly owner: string;
  readonly epoch: number;
  readonly restartable: boolean;
  /** The sequence of the entry that ended its last turn; undefined when somebody else has the task now. */
  readonly done: Promise<Maybe<number>>;
  /** Settles when the task is closed. */
  stop(state: "failed" | "canceled", reason: AgentError): Promise<void>;
  /** Writes nothing more: the task belongs to somebody else. */
  abandon(reason: AgentError): void;
}

/** Something that ends when the runtime does. */
export interface Endable {
  end(reason: AgentError): void;
}

/** The tools of one runtime. */
export interface RuntimeContextOptions {
  readonly agents: ReadonlyMap<string, RuntimeAgent>;
  readonly store: Store;
  readonly ids: IdSource;
  readonly timers: Timers;
  readonly limits: TaskLimits;
  readonly push: Maybe<PushPort>;
  readonly fetchPart: Maybe<FetchPart>;
  random(): number;
}

/** What all runs of one runtime share: the tools, who is at work, and how much room is left. */
export class RuntimeContext {
  readonly agents: ReadonlyMap<string, RuntimeAgent>;
  readonly store: Store;
  readonly ids: IdSource;
  readonly timers: Timers;
  readonly limits: TaskLimits;
  /** Tells webhooks; undefined where push is not offered. */
  readonly push: Maybe<PushDispatcher>;
  readonly fetchPart: Maybe<FetchPart>;
  /** The name under which this runtime holds leases. */
  readonly holder: string;
  readonly runs = new Map<string, Running>();
  /** Bare replies under way. */
  readonly replies = new Set<Endable>();
  /** Open streams. */
  readonly readers = new Set<Endable>();
  /** Agents that were stopped and have not come back. */
  abandoned = 0;
  closing = false;
  #running = 0;
  readonly #runningByOwner = new Map<string, number>();
  #unwritten: (() => void)[] = [];
  #idle: (() => void) | undefined;

  constructor(options: RuntimeContextOptions) {
    this.agents = options.agents;
    this.store = options.store;
    this.ids = options.ids;
    this.timers = options.timers;
    this.limits = options.limits;
    this.fetchPart = options.fetchPart;
    this.holder = options.ids.newId();
    const { push: port, store, timers, limits, random } = options;
    const { holder } = this;
    this.push = port && new PushDispatcher({ port, store, timers, limits, random, holder, now: () => options.ids.now() });
  }

  get running(): number {
    return this.#running;
  }

  /** A place for one more run; to be given back with `leave`. */
  enter(owner: string): void {
    const own = this.#runningByOwner.get(owner) ?? 0;
    if (this.#running >= this.limits.runningTasks) throw new AgentError("overloaded", "too many tasks are running");
    if (own >= this.limits.runningTasksPerOwner) throw new AgentError("overloaded", "too many tasks of this caller are running");
    if (this.abandoned >= this.limits.abandonedRuns)
      throw new AgentError("overloaded", "too many stopped tasks have not come to rest");
    this.#running += 1;
    this.#runningByOwner.set(owner, own + 1);
  }

  leave(owner: string): void {
    this.#running -= 1;
    const own = (this.#runningByOwner.get(owner) ?? 1) - 1;
    if (own === 0) this.#runningByOwner.delete(owner);
    else this.#runningByOwner.set(owner, own);
    this.checkIdle();
  }

  /** Calls `run` once when nobody is at work, at once if so now. */
  onIdle(run: () => void): void {
    this.#idle = run;
    this.checkIdle();
  }

  /** To be said whenever somebody has left. */
  checkIdle(): void {
    if (this.#idle === undefined || this.#running > 0 || this.replies.size > 0) return;
    this.#idle();
    this.#idle = undefined;
  }

  /** Runs `write` when this tick is over, so that what one tick made is one append. One timer serves all. */
  afterThisTick(write: () => void): void {
    if (this.#unwritten.push(write) > 1) return;
    this.timers.soon(() => {
      const due = this.#unwritten;
      this.#unwritten = [];
      for (const run of due) run();
    });
  }
}
