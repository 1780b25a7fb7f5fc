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

/** One try, with a cancel of its own. */
export interface HedgeAttempt {
  readonly cancel: CancelSource;
  readonly source: AsyncIterator<AgentEvent>;
  /** Set once it is asked for. */
  first: Maybe<Promise<IteratorResult<AgentEvent>>>;
  failed: Maybe<{ readonly thrown: unknown }>;
}

/** What decides about a second attempt, and is told how the race went. */
export interface RaceRules {
  readonly clock: Clock;
  /** Undefined: there will be no second attempt. */
  readonly afterMs: Maybe<number>;
  /** Asked when the time has come; true starts it. */
  mayStart(): boolean;
  /** The first event is there, or an end without any. */
  decided(result: RaceResult): void;
  /** Nobody won: both failed, or whoever asked has left. */
  nobody(): void;
}

export interface RaceResult {
  readonly step: IteratorResult<AgentEvent>;
  readonly winner: "first" | "second";
  /** Still under way, and no longer needed. */
  readonly loser: Maybe<HedgeAttempt>;
  /** Since the first attempt was asked for. */
  readonly elapsedMs: number;
}

export interface Racers {
  readonly first: Handler;
  readonly second: Handler;
}

/** Two attempts at one operation. The reply has the shape that the operation, or the first attempt, asks for. */
export function race(racers: Racers, rules: RaceRules, operation: Operation, call: Call): Reply {
  const raced = new HedgedReply(racers, rules, operation, call);
  if (raced.streams) return raced;
  // An attempt that answers with a promise is never over before its event.
  return raced.next().then((step) => step.value as AgentEvent);
}

/**
 * Everything comes from the attempt that delivers first, from its first event to its last: events of the two are never
 * mixed, and none comes twice. While nobody has delivered, whoever asked can leave at any moment.
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
  /** The caller gave up while nobody read. */
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

  /** The time runs from the first pull: before it, a stream may not even have been asked for. */
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
    // Where one answer is awaited a stream cannot win: the shape of this reply is settled.
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
    this.#rules.nobody();
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

  /** The caller gave up. Once somebody delivers, the source itself hears it and says how it ends. */
  #giveUp(reason: AgentError): void {
    if (this.#winner !== undefined) {
      this.#winner.cancel.cancel(reason);
      return;
    }
    // With nobody waiting, the reader learns it at its first pull.
    if (this.#racing === undefined) this.#lost = reason;
    this.#leave(reason);
    this.#reject(reason);
  }

  #leave(reason: AgentError): void {
    const attempts = this.#winner === undefined ? [this.#first, this.#second] : [this.#winner];
    this.#end();
    if (this.#winner === undefined) this.#rules.nobody();
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
