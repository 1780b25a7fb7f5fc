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

/** A delay taken from a percentile of recent latencies. */
export interface HedgeDelay {
  /** Between 0 and 1: with 0.95, about 5 of 100 calls get a second attempt. */
  readonly percentile: number;
  /** The delay until 20 answers were measured. */
  readonly untilKnownMs: number;
  /** The shortest delay. Default: 1. */
  readonly atLeastMs?: Maybe<number>;
}

/** When a second attempt is started. */
export interface HedgeRules {
  /** How long to wait for the first attempt before the second is started. */
  readonly afterMs: number | HedgeDelay;
  /** The largest share of calls that may be hedged, plus a saved burst of ten. Default: 0.1. */
  readonly share?: Maybe<number>;
  /** Concurrent second attempts. Default: 16. */
  readonly maxInFlight?: Maybe<number>;
  /** Time limit of cancelling the losing attempt's task. Default: 5 s. */
  readonly callOffMs?: Maybe<number>;
}

const SHARE = 0.1;
const MAX_IN_FLIGHT = 16;
const CALL_OFF_MS = 5_000;
const AT_LEAST_MS = 1;
/** The latencies the percentile is taken from: minimum number, window size and age. */
const ENOUGH = 20;
const SAMPLES = 256;
const KEEP_MS = 300_000;

/** The two attempts of one call. */
export interface HedgePair {
  readonly first: Handler;
  readonly second: Handler;
  /** Cancels the task of the losing attempt. */
  readonly canceller: Handler;
  /** Whether both attempts deduplicate by the same key. */
  readonly idempotentSend: boolean;
  /** The destination of the second attempt, for notes. */
  readonly destination: string;
  readonly protocol: Maybe<string>;
}

/** State shared by the calls of one hedge: the budget and the measured latencies. */
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

  /** The current delay before a second attempt. */
  delayMs(): number {
    if (typeof this.#afterMs === "number") return this.#afterMs;
    const { untilKnownMs, atLeastMs = AT_LEAST_MS } = this.#afterMs;
    return Math.max(atLeastMs, this.#latencies?.value(this.clock.now()) ?? untilKnownMs);
  }

  saw(elapsedMs: number): void {
    this.#latencies?.add(elapsedMs, this.clock.now());
  }
}

/** One call with up to two attempts: starts the second and reports its outcome. */
class HedgedCall implements RaceRules {
  readonly clock: Clock;
  readonly afterMs: Maybe<number>;
  readonly #hedging: Hedging;
  readonly #pair: HedgePair;
  readonly #operation: Operation;
  readonly #call: Call;
  readonly #delayMs: number;
  #fired = false;

  constructor(hedging: Hedging, pair: HedgePair, operation: Operation, call: Call) {
    this.#hedging = hedging;
    this.#pair = pair;
    this.#operation = operation;
    this.#call = call;
    this.clock = hedging.clock;
    this.#delayMs = hedging.delayMs();
    const { deadline } = call;
    // Too close to the deadline for a second attempt to help.
    const inTime = deadline === undefined || this.clock.now() + this.#delayMs < deadline;
    this.afterMs = inTime ? this.#delayMs : undefined;
  }

  mayStart(): boolean {
    this.#fired = this.#hedging.budget.take();
    if (this.#fired) this.#report("fired");
    return this.#fired;
  }

  decided(result: RaceResult): void {
    this.#hedging.saw(result.elapsedMs);
    if (this.#fired) this.#report(result.winner === "second" ? "won" : "lost");
    if (result.loser === undefined) this.noWinner();
    else void this.#callOff(result.loser, result);
  }

  /** Frees the slot of the second attempt. */
  noWinner(): void {
    if (this.#fired) this.#hedging.budget.gaveBack();
  }

  async #callOff(loser: NonNullable<RaceResult["loser"]>, { step }: RaceResult): Promise<void> {
    const { clock, callOffMs: limitMs } = this.#hedging;
    const keep = step.done === true ? undefined : taskIdIn(step.value);
    const { canceller } = this.#pair;
    const stray = await callOff({ loser, operation: this.#operation, call: this.#call, keep, canceller, clock, limitMs });
    this.noWinner();
    if (stray !== undefined) this.#report("stray", stray);
  }

  #report(outcome: "fired" | "won" | "lost" | "stray", error?: AgentError): void {
    const { notes } = this.#hedging;
    if (notes === undefined) return;
    const { destination, protocol } = this.#pair;
    const traceId = traceIdOf(this.#operation, this.#call);
    notes({ kind: "hedge", traceId, destination, protocol, outcome, afterMs: this.#delayMs, error });
  }
}
