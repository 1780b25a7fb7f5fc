import {
  AgentError,
  type AgentEvent,
  type Call,
  CancelSource,
  type Handler,
  isPromise,
  type Maybe,
  type Operation,
  type Reply,
} from "../../envelope/index.js";
import type { Clock } from "../clock.js";
import { DONE, stopIterator } from "../replies/iterators.js";
import { iteratorOf, onlyEvent, replyOf, wantsStream } from "../replies/shape.js";

/** One attempt, with its own cancel. */
export interface HedgeAttempt {
  readonly cancel: CancelSource;
  readonly source: AsyncIterator<AgentEvent>;
  /** Set once the attempt was started. */
  first: Maybe<Promise<IteratorResult<AgentEvent>>>;
  failed: Maybe<{ readonly thrown: unknown }>;
}

/** Decides about a second attempt, and is notified of the outcome. */
export interface RaceRules {
  readonly clock: Clock;
  /** The delay of the second attempt; undefined for none. */
  readonly afterMs: Maybe<number>;
  /** Called after the delay; true starts the second attempt. */
  mayStart(): boolean;
  /** Called with the first event, or an end without any. */
  decided(result: RaceResult): void;
  /** Called if no attempt won: both failed, or the caller left. */
  noWinner(): void;
}

export interface RaceResult {
  readonly step: IteratorResult<AgentEvent>;
  readonly winner: "first" | "second";
  /** The other attempt, if it is still running. */
  readonly loser: Maybe<HedgeAttempt>;
  /** Milliseconds since the first attempt was started. */
  readonly elapsedMs: number;
}

export interface Racers {
  readonly first: Handler;
  readonly second: Handler;
}

/** Runs two attempts at one operation. The reply has the shape of the operation or of the first attempt. */
export function race(racers: Racers, rules: RaceRules, operation: Operation, call: Call): Reply {
  const raced = new HedgedReply(racers, rules, operation, call);
  if (raced.streams) return raced;
  // A promise has no end before its event.
  return raced.next().then((step) => step.value as AgentEvent);
}

/**
 * All events come from the attempt that delivers first; events of the two are never mixed. Until then the reader can leave
 * at any time.
 */
class HedgedReply implements AsyncIterableIterator<AgentEvent> {
  readonly streams: boolean;
  readonly #racers: Racers;
  readonly #rules: RaceRules;
  readonly #operation: Operation;
  readonly #call: Call;
  readonly #first: HedgeAttempt;
  #second: Maybe<HedgeAttempt>;
  #winner: Maybe<HedgeAttempt>;
  #racing: Maybe<Promise<IteratorResult<AgentEvent>>>;
  #resolve: (step: IteratorResult<AgentEvent>) => void = nothing;
  #reject: (thrown: unknown) => void = nothing;
  /** The caller cancelled while no pull was pending. */
  #lost: Maybe<AgentError>;
  #over = false;
  #startedMs = 0;
  #forget: () => void = nothing;
  #cancelTimer: () => void = nothing;

  constructor(racers: Racers, rules: RaceRules, operation: Operation, call: Call) {
    this.#racers = racers;
    this.#rules = rules;
    this.#operation = operation;
    this.#call = call;
    const cancel = new CancelSource();
    const reply = replyOf(racers.first, operation, call.derive({ cancel }));
    this.streams = wantsStream(operation) || !isPromise(reply);
    this.#first = { cancel, source: iteratorOf(reply), first: undefined, failed: undefined };
    this.#forget = call.cancel.onCancel((reason) => this.#giveUp(reason));
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<AgentEvent>> {
    const lost = this.#lost;
    this.#lost = undefined;
    if (lost !== undefined) return Promise.reject(lost);
    if (this.#over) return Promise.resolve(DONE);
    if (this.#winner !== undefined) return this.#pull(this.#winner);
    if (this.#racing !== undefined) return this.#racing.then(() => this.next());
    this.#racing = this.#start();
    return this.#racing;
  }

  return(): Promise<IteratorResult<AgentEvent>> {
    this.#lost = undefined;
    if (!this.#over) {
      this.#leave(new AgentError("cancelled", "the reader stopped before the end"));
      this.#resolve(DONE);
    }
    return Promise.resolve(DONE);
  }

  /** The delay starts with the first pull: before it, a stream may not have been requested. */
  #start(): Promise<IteratorResult<AgentEvent>> {
    return new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
      const { clock, afterMs } = this.#rules;
      this.#startedMs = clock.now();
      if (afterMs !== undefined) this.#cancelTimer = clock.after(afterMs, () => this.#startSecond());
      this.#run(this.#first);
    });
  }

  #startSecond(): void {
    if (!this.#rules.mayStart()) return;
    const cancel = new CancelSource();
    const reply = replyOf(this.#racers.second, this.#operation, this.#call.derive({ cancel }));
    // A stream cannot win where a single event is awaited.
    const source = iteratorOf(this.streams ? reply : onlyEvent(reply));
    this.#second = { cancel, source, first: undefined, failed: undefined };
    this.#run(this.#second);
  }

  #run(attempt: HedgeAttempt): void {
    attempt.first = pullFrom(attempt.source);
    attempt.first.then(
      (step) => this.#delivered(attempt, step),
      (thrown: unknown) => this.#failed(attempt, thrown),
    );
  }

  #delivered(attempt: HedgeAttempt, step: IteratorResult<AgentEvent>): void {
    if (this.#over || this.#winner !== undefined) return;
    this.#winner = attempt;
    this.#cancelTimer();
    const isFirst = attempt === this.#first;
    const other = isFirst ? this.#second : this.#first;
    if (step.done === true || !this.streams) this.#end();
    this.#rules.decided({
      step,
      winner: isFirst ? "first" : "second",
      loser: other?.failed === undefined ? other : undefined,
      elapsedMs: this.#rules.clock.now() - this.#startedMs,
    });
    this.#resolve(step);
  }

  #failed(attempt: HedgeAttempt, thrown: unknown): void {
    if (this.#over || this.#winner !== undefined) return;
    attempt.failed = { thrown };
    const other = attempt === this.#first ? this.#second : this.#first;
    if (other !== undefined && other.failed === undefined) return;
    this.#end();
    this.#rules.noWinner();
    this.#reject(this.#first.failed?.thrown);
  }

  #pull(winner: HedgeAttempt): Promise<IteratorResult<AgentEvent>> {
    return pullFrom(winner.source).then(
      (step) => {
        if (this.#over) return DONE; // the reader left during the pull
        if (step.done === true) this.#end();
        return step;
      },
      (thrown: unknown) => {
        if (this.#over) return DONE;
        this.#end();
        throw thrown;
      },
    );
  }

  /** The caller cancelled. Once an attempt delivers, its source receives the cancel and decides how it ends. */
  #giveUp(reason: AgentError): void {
    if (this.#winner !== undefined) {
      this.#winner.cancel.cancel(reason);
      return;
    }
    // Without a pending pull, the reader gets the error with its first one.
    if (this.#racing === undefined) this.#lost = reason;
    this.#leave(reason);
    this.#reject(reason);
  }

  #leave(reason: AgentError): void {
    const attempts = this.#winner === undefined ? [this.#first, this.#second] : [this.#winner];
    this.#end();
    if (this.#winner === undefined) this.#rules.noWinner();
    for (const attempt of attempts) {
      if (attempt === undefined) continue;
      attempt.cancel.cancel(reason);
      stopIterator(attempt.source);
    }
  }

  #end(): void {
    this.#over = true;
    this.#cancelTimer();
    this.#forget();
  }
}

const nothing = (): void => undefined;

function pullFrom(source: AsyncIterator<AgentEvent>): Promise<IteratorResult<AgentEvent>> {
  try {
    return source.next();
  } catch (thrown) {
    return Promise.reject(thrown);
  }
}
