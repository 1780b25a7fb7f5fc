import type { Maybe, PushConfig, PushDelivery } from "../../envelope/index.js";
import type { PushProgress } from "../store.js";

/** A webhook in memory and its delivery progress. */
export class PushState {
  config: PushConfig;
  epoch = 0;
  heldUntilMs = 0;
  #seq: number;
  #failures = 0;
  #dueMs = 0;
  #gaveUp = false;
  #problem: Maybe<string>;

  /** Entries after `seq` are to be sent. */
  constructor(config: PushConfig, seq: number) {
    this.config = config;
    this.#seq = seq;
  }

  /** A new address or secret under the same id: the cursor stays, and the current dispatcher is fenced off. */
  replace(config: PushConfig, epoch: number): void {
    this.config = config;
    this.epoch = epoch;
    this.heldUntilMs = 0;
    this.#failures = 0;
    this.#dueMs = 0;
    this.#gaveUp = false;
    this.#problem = undefined;
  }

  /** True if entries are left to send, now or later. */
  isPending(seq: number): boolean {
    return !this.#gaveUp && this.#seq < seq;
  }

  isDue(seq: number, nowMs: number): boolean {
    return this.isPending(seq) && this.#dueMs <= nowMs && this.heldUntilMs <= nowMs;
  }

  apply(progress: PushProgress, nowMs: number): void {
    switch (progress.outcome) {
      case "accepted":
        this.#seq = progress.seq;
        this.#failures = 0;
        this.#problem = undefined;
        this.heldUntilMs = nowMs + progress.leaseMs;
        return;
      case "idle":
        this.heldUntilMs = 0;
        return;
      case "failed":
        this.#failures += 1;
        this.#dueMs = nowMs + progress.retryInMs;
        this.#problem = progress.problem;
        this.heldUntilMs = 0;
        return;
      case "gave_up":
        this.#failures += 1;
        this.#gaveUp = true;
        this.#problem = progress.problem;
        this.heldUntilMs = 0;
        return;
      default:
        progress satisfies never;
    }
  }

  /** The configuration with its delivery state, for a journal that ends at `seq`. */
  shown(seq: number): PushConfig {
    return { ...this.config, delivery: this.#delivery(seq) };
  }

  #delivery(seq: number): PushDelivery {
    const [deliveredSeq, failures, dueMs, gaveUp, problem] = [
      this.#seq,
      this.#failures,
      this.#dueMs,
      this.#gaveUp,
      this.#problem,
    ];
    return deliveryOf({ deliveredSeq, failures, dueMs, gaveUp, problem }, seq);
  }
}

/** Delivery progress of a webhook, as stored. */
export interface DeliveryProgress {
  readonly deliveredSeq: number;
  readonly failures: number;
  readonly dueMs: number;
  readonly gaveUp: boolean;
  readonly problem: Maybe<string>;
}

/** The state of a delivery, for a journal that ends at `seq`. */
export function deliveryOf({ deliveredSeq, failures, dueMs, gaveUp, problem }: DeliveryProgress, seq: number): PushDelivery {
  const state = gaveUp ? "gave_up" : failures > 0 ? "retrying" : deliveredSeq < seq ? "pending" : "waiting";
  return { state, seq: deliveredSeq, failures, nextAt: state === "retrying" ? dueMs : undefined, problem };
}
