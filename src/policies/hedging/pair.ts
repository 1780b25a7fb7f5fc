import type { AgentError, Call, Handler, Maybe, Operation, Reply } from "../../envelope/index.js";
import type { Clock } from "../clock.js";
import type { PolicySink } from "../notes.js";
import { isSafeToRepeat } from "../retry-safety.js";
import { LatencyWindow } from "../selection/latency-window.js";
import { taskIdIn } from "../task-id.js";
import { traceIdOf } from "../trace-id.js";
import { HedgeBudget } from "./budget.js";
import { callOff } from "./cancel-loser.js";
import { type RaceResult, type RaceRules, race } from "./race.js";

/** As long as most answers take: a second attempt is for those that take longer. */
export interface HedgeDelay {
  /** Between 0 and 1: 0.95 wants a second attempt for about 5 of 100 calls. */
  readonly percentile: number;
  /** Until 20 answers were seen. */
  readonly untilKnownMs: number;
  /** Never sooner than this. Default: 1. */
  readonly atLeastMs?: Maybe<number>;
}

export interface HedgeRules {
  /** How long the first attempt is alone. */
  readonly afterMs: number | HedgeDelay;
  /** At most this part of the calls gets a second attempt, beside ten that may be saved up. Default: 0.1. */
  readonly share?: Maybe<number>;
  /** Second attempts under way at one time. Default: 16. */
  readonly maxInFlight?: Maybe<number>;
  /** How long it may take to call off a loser that made a task. Default: 5 seconds. */
  readonly callOffMs?: Maybe<number>;
}

const SHARE = 0.1;
const MAX_IN_FLIGHT = 16;
const CALL_OFF_MS = 5_000;
const AT_LEAST_MS = 1;
/** Latencies a percentile is taken from: at least so many, the last so many, none older. */
const ENOUGH = 20;
const SAMPLES = 256;
const KEEP_MS = 300_000;

/** The two attempts of one call. */
export interface HedgePair {
  readonly first: Handler;
  readonly second: Handler;
  /** Cancels the task of the one that lost. */
  readonly canceller: Handler;
  /** The same message with the same key, said to both, is started once. */
  readonly idempotentSend: boolean;
  /** Of the second attempt, for notes. */
  readonly destination: string;
  readonly protocol: Maybe<string>;
}

/** What the calls of one hedge share: its budget, and the latencies it has seen. */
export class Hedging {
  readonly #afterMs: number | HedgeDelay;
  readonly #latencies: Maybe<LatencyWindow>;
  readonly callOffMs: number;
  readonly clock: Clock;
  readonly notes: Maybe<PolicySink>;
  readonly budget: HedgeBudget;

  constructor(
    { afterMs, share = SHARE, maxInFlight = MAX_IN_FLIGHT, callOffMs }: HedgeRules,
    clock: Clock,
    notes?: Maybe<PolicySink>,
  ) {
    if (!(share >= 0 && share <= 1))
      throw new TypeError(`the share of calls with a second attempt is between 0 and 1, not ${share}`);
    this.#afterMs = afterMs;
    this.#latencies =
      typeof afterMs === "number"
        ? undefined
        : new LatencyWindow({ percentile: afterMs.percentile, samples: SAMPLES, keepMs: KEEP_MS, enough: ENOUGH });
    this.callOffMs = callOffMs ?? CALL_OFF_MS;
    this.clock = clock;
    this.notes = notes;
    this.budget = new HedgeBudget({ share, maxInFlight });
  }

  reply(pair: HedgePair, operation: Operation, call: Call): Reply {
    if (!isSafeToRepeat(operation, "maybe", pair.idempotentSend)) return pair.first(operation, call);
    if (call.cancel.reason !== undefined) return Promise.reject(call.cancel.reason);
    this.budget.called();
    return race(pair, new HedgedCall(this, pair, operation, call), operation, call);
  }

  /** How long the next first attempt is alone. */
  patienceMs(): number {
    if (typeof this.#afterMs === "number") return this.#afterMs;
    const { untilKnownMs, atLeastMs = AT_LEAST_MS } = this.#afterMs;
    return Math.max(atLeastMs, this.#latencies?.value(this.clock.now()) ?? untilKnownMs);
  }

  saw(elapsedMs: number): void {
    this.#latencies?.add(elapsedMs, this.clock.now());
  }
}

/** One call with up to two attempts: when the second starts, and what is said and done about how it goes. */
class HedgedCall implements RaceRules {
  readonly clock: Clock;
  readonly afterMs: Maybe<number>;
  readonly #hedging: Hedging;
  readonly #pair: HedgePair;
  readonly #operation: Operation;
  readonly #call: Call;
  readonly #patienceMs: number;
  #fired = false;

  constructor(hedging: Hedging, pair: HedgePair, operation: Operation, call: Call) {
    this.#hedging = hedging;
    this.#pair = pair;
    this.#operation = operation;
    this.#call = call;
    this.clock = hedging.clock;
    this.#patienceMs = hedging.patienceMs();
    const { deadline } = call;
    // A second attempt that begins at the deadline helps nobody.
    const inTime = deadline === undefined || this.clock.now() + this.#patienceMs < deadline;
    this.afterMs = inTime ? this.#patienceMs : undefined;
  }

  mayStart(): boolean {
    this.#fired = this.#hedging.budget.take();
    if (this.#fired) this.#tell("fired");
    return this.#fired;
  }

  decided(result: RaceResult): void {
    this.#hedging.saw(result.elapsedMs);
    if (this.#fired) this.#tell(result.winner === "second" ? "won" : "lost");
    if (result.loser === undefined) this.nobody();
    else void this.#callOff(result.loser, result);
  }

  /** The place of the second attempt is free again. */
  nobody(): void {
    if (this.#fired) this.#hedging.budget.gaveBack();
  }

  async #callOff(loser: NonNullable<RaceResult["loser"]>, { step }: RaceResult): Promise<void> {
    const { clock, callOffMs: limitMs } = this.#hedging;
    const keep = step.done === true ? undefined : taskIdIn(step.value);
    const { canceller } = this.#pair;
    const stray = await callOff({ loser, operation: this.#operation, call: this.#call, keep, canceller, clock, limitMs });
    this.nobody();
    if (stray !== undefined) this.#tell("stray", stray);
  }

  #tell(outcome: "fired" | "won" | "lost" | "stray", error?: AgentError): void {
    const { notes } = this.#hedging;
    if (notes === undefined) return;
    const { destination, protocol } = this.#pair;
    const traceId = traceIdOf(this.#operation, this.#call);
    notes({ kind: "hedge", traceId, destination, protocol, outcome, afterMs: this.#patienceMs, error });
  }
}
