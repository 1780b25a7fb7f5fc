import type { Maybe, PushConfig, PushDelivery } from "../../envelope/index.js";
import type { PushProgress } from "../store.js";

/** A webhook in memory, and how far it was told. */
export class KeptPush {
  config: PushConfig;
  epoch = 0;
  heldUntilMs = 0;
  #seq: number;
  #failures = 0;
  #dueMs = 0;
  #gaveUp = false;
  #problem: Maybe<string>;

  /** Everything after entry `seq` is to be told. */
  constructor(config: PushConfig, seq: number) {
    this.config = config;
    this.#seq = seq;
  }

  /** Another address or secret under the same id: what was told stays told, and whoever tells it now has the old one. */
  replace(config: PushConfig, epoch: number): void {
    this.config = config;
    this.epoch = epoch;
    this.heldUntilMs = 0;
    this.#failures = 0;
    this.#dueMs = 0;
    this.#gaveUp = false;
    this.#problem = undefined;
  }

  /** Something is left to be told, now or later. */
  isPending(seq: number): boolean {
    return !this.#gaveUp && this.#seq < seq;
  }

  isDue(seq: number, nowMs: number): boolean {
    return this.isPending(seq) && this.#dueMs <= nowMs && this.heldUntilMs <= nowMs;
  }

  take(told: PushProgress, nowMs: number): void {
    switch (told.outcome) {
      case "accepted":
        this.#seq = told.seq;
        this.#failures = 0;
        this.#problem = undefined;
        this.heldUntilMs = nowMs + told.leaseMs;
        return;
      case "idle":
        this.heldUntilMs = 0;
        return;
      case "failed":
        this.#failures += 1;
        this.#dueMs = nowMs + told.retryInMs;
        this.#problem = told.problem;
        this.heldUntilMs = 0;
        return;
      case "gave_up":
        this.#failures += 1;
        this.#gaveUp = true;
        this.#problem = told.problem;
        this.heldUntilMs = 0;
        return;
      default:
        told satisfies never;
    }
  }

  /** The configuration with its state of delivery, for a journal that ends at `seq`. */
  shown(seq: number): PushConfig {
    return { ...this.config, delivery: this.#delivery(seq) };
  }

  #delivery(seq: number): PushDelivery {
    const [told, failures, dueMs, gaveUp, problem] = [this.#seq, this.#failures, this.#dueMs, this.#gaveUp, this.#problem];
    return deliveryOf({ told, failures, dueMs, gaveUp, problem }, seq);
  }
}

/** How far a webhook was told, as stores write it down. */
export interface DeliveryProgress {
  readonly told: number;
  readonly failures: number;
  readonly dueMs: number;
  readonly gaveUp: boolean;
  readonly problem: Maybe<string>;
}

/** The state of a delivery, for a journal that ends at `seq`. */
export function deliveryOf({ told, failures, dueMs, gaveUp, problem }: DeliveryProgress, seq: number): PushDelivery {
  const state = gaveUp ? "gave_up" : failures > 0 ? "retrying" : told < seq ? "pending" : "waiting";
  return { state, seq: told, failures, nextAt: state === "retrying" ? dueMs : undefined, problem };
}
