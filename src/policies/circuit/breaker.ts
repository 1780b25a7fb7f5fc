import { AgentError, type Call, type Layer, type Maybe, type Operation } from "../../envelope/index.js";
import { around, type Outcome } from "../around.js";
import type { Clock } from "../clock.js";
import type { CircuitState } from "../notes.js";
import { noteFor, type PolicyContext } from "../notes.js";
import { type CircuitCallResult, circuitCallResult } from "./call-result.js";
import { type CircuitTotals, CircuitWindow } from "./window.js";

/** Options of `circuitBreaker`. */
export interface CircuitBreakerOptions extends PolicyContext {
  /** The time source. */
  readonly clock: Clock;
  /** The length of the sliding window. Default: 10,000. */
  readonly windowMs?: Maybe<number>;
  /** Opens at this share of failures. Default: 0.5. */
  readonly failureShare?: Maybe<number>;
  /** Minimum number of calls in the window before the circuit can open. Default: 10. */
  readonly minimumCalls?: Maybe<number>;
  /** How long the circuit stays open before a probe. Default: 5,000. */
  readonly openMs?: Maybe<number>;
  /** Time limit of a probe's first event. Default: 10,000. */
  readonly probeMs?: Maybe<number>;
  /** A deadline shorter than this does not count as a failure of the peer. Default: 1,000. */
  readonly patienceMs?: Maybe<number>;
  /** Also opens when this share of calls waited `ms` or longer for their first event. Default: off. */
  readonly slow?: Maybe<{ readonly ms: number; readonly share: number }>;
}

/** Current state, for the dashboard and metrics. */
export interface CircuitSnapshot extends CircuitTotals {
  /** The state of the circuit. */
  readonly state: CircuitState;
  /** While open: when the next probe is allowed. */
  readonly probeInMs: Maybe<number>;
}

/** A circuit breaker: its layer and its current state. */
export interface CircuitBreaker {
  /** The policy, to be put around a handler. */
  readonly layer: Layer;
  /** The current state. */
  state(): CircuitSnapshot;
}

const WINDOW_MS = 10_000;
const FAILURE_SHARE = 0.5;
const MINIMUM_CALLS = 10;
const OPEN_MS = 5_000;
const PROBE_MS = 10_000;
const PATIENCE_MS = 1_000;
/** Suggested retry delay for calls rejected while a probe is in flight. */
const WHILE_PROBED_MS = 500;

/**
 * Stops calls to a failing peer. Closed: calls pass. Open: calls are rejected with `unavailable` and not sent. Half-open:
 * one call at a time goes through as a probe; its first event closes the circuit, its failure opens it again, and an
 * abandoned probe is replaced by the next call. Other calls count when they end.
 */
export function circuitBreaker(options: CircuitBreakerOptions): CircuitBreaker {
  const circuit = new Circuit(options);
  const layer = around<Passing>({
    begin: (operation, call) => circuit.admit(operation, call),
    event: (passing) => circuit.answered(passing),
    end: (passing, outcome) => circuit.end(passing, outcome),
  });
  return { layer, state: () => circuit.state() };
}

/** An admitted call. */
interface Passing {
  readonly operation: Operation;
  readonly call: Call;
  readonly beganMs: number;
  /** The state change it belongs to: results from before the latest change are ignored. */
  readonly era: number;
  firstMs: Maybe<number>;
}

interface Probe {
  readonly passing: Passing;
  /** Stops listening to its caller. */
  forget(): void;
}

class Circuit {
  readonly #options: CircuitBreakerOptions;
  readonly #clock: Clock;
  readonly #window: CircuitWindow;
  readonly #openMs: number;
  readonly #note: ReturnType<typeof noteFor>;
  #state: CircuitState = "closed";
  #era = 0;
  #openedMs = 0;
  #probe: Maybe<Probe>;

  constructor(options: CircuitBreakerOptions) {
    this.#options = options;
    this.#clock = options.clock;
    this.#window = new CircuitWindow(options.windowMs ?? WINDOW_MS);
    this.#openMs = options.openMs ?? OPEN_MS;
    this.#note = noteFor(options);
  }

  state(): CircuitSnapshot {
    const nowMs = this.#clock.now();
    const probeInMs = this.#state === "open" ? this.#leftMs(nowMs) : undefined;
    return { state: this.#state, probeInMs, ...this.#window.totals(nowMs) };
  }

  /** Throws if the call is rejected. */
  admit(operation: Operation, call: Call): Passing {
    const nowMs = this.#clock.now();
    if (this.#state === "closed") return { operation, call, beganMs: nowMs, era: this.#era, firstMs: undefined };
    this.#giveUpProbe(nowMs);
    if (this.#state === "open") {
      const leftMs = this.#leftMs(nowMs);
      if (leftMs > 0) throw this.#refusal(leftMs);
    } else if (this.#probe !== undefined) throw this.#refusal(WHILE_PROBED_MS);
    const passing: Passing = { operation, call, beganMs: nowMs, era: this.#era, firstMs: undefined };
    if (this.#state === "open") this.#change("half-open", passing, `a probe goes through after ${this.#openMs} ms`);
    this.#startProbe(passing);
    return passing;
  }

  answered(passing: Passing): void {
    if (passing.firstMs !== undefined) return;
    passing.firstMs = this.#clock.now();
    if (this.#probe?.passing === passing) this.#endProbe(passing, "works", "the probe was answered");
  }

  end(passing: Passing, outcome: Outcome): void {
    const error = outcome.kind === "failed" ? outcome.error : undefined;
    const result = error === undefined ? worked(outcome) : this.#resultOf(passing, error);
    if (this.#probe?.passing === passing) this.#endProbe(passing, result, error?.code ?? "the probe was answered");
    else if (result !== "nothing" && this.#state === "closed" && passing.era === this.#era) this.#count(passing, result);
  }

  #resultOf(passing: Passing, error: AgentError): CircuitCallResult {
    return circuitCallResult(error, this.#clock.now() - passing.beganMs, this.#options.patienceMs ?? PATIENCE_MS);
  }

  #count(passing: Passing, result: CircuitCallResult): void {
    const { slow, failureShare = FAILURE_SHARE, minimumCalls = MINIMUM_CALLS } = this.#options;
    const nowMs = this.#clock.now();
    const waitedMs = (passing.firstMs ?? nowMs) - passing.beganMs;
    this.#window.add(nowMs, result === "fails", slow !== undefined && waitedMs >= slow.ms);
    const totals = this.#window.totals(nowMs);
    if (totals.calls < minimumCalls) return;
    if (totals.failures >= failureShare * totals.calls && totals.failures > 0)
      this.#open(passing, `${totals.failures} of ${totals.calls} calls failed`);
    else if (slow !== undefined && totals.slow >= slow.share * totals.calls && totals.slow > 0)
      this.#open(passing, `${totals.slow} of ${totals.calls} calls took ${slow.ms} ms or longer`);
  }

  #startProbe(passing: Passing): void {
    const probe = { passing, forget: (): void => undefined };
    this.#probe = probe;
    // A caller that abandons the call without reading the stream would otherwise hold the probe forever.
    probe.forget = passing.call.cancel.onCancel((reason) => {
      if (this.#probe === probe) this.#endProbe(passing, this.#resultOf(passing, reason), reason.code);
    });
  }

  #endProbe(passing: Passing, result: CircuitCallResult, because: string): void {
    this.#probe?.forget();
    this.#probe = undefined;
    if (result === "fails") this.#open(passing, `the probe failed: ${because}`);
    if (result === "works") this.#change("closed", passing, because);
  }

  #giveUpProbe(nowMs: number): void {
    const { probeMs = PROBE_MS } = this.#options;
    const passing = this.#probe?.passing;
    if (passing === undefined || nowMs - passing.beganMs < probeMs) return;
    this.#endProbe(passing, "fails", `no event within ${probeMs} ms`);
  }

  #open(passing: Passing, because: string): void {
    this.#openedMs = this.#clock.now();
    this.#change("open", passing, because);
  }

  #change(to: CircuitState, { operation, call }: Passing, because: string): void {
    const from = this.#state;
    this.#state = to;
    this.#era += 1;
    this.#window.clear();
    this.#note(operation, call, { kind: "circuit", from, to, because });
  }

  #leftMs(nowMs: number): number {
    return Math.max(0, this.#openedMs + this.#openMs - nowMs);
  }

  #refusal(retryAfterMs: number): AgentError {
    const words = `${this.#options.destination} has failed too often; its circuit is open`;
    return new AgentError("unavailable", words, { sent: "no", retryAfterMs });
  }
}

/** An abandoned call says nothing about the peer. */
function worked(outcome: Outcome): CircuitCallResult {
  return outcome.kind === "stopped" ? "nothing" : "works";
}
