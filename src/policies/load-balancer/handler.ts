import {
  AgentError,
  type Call,
  type ErrorCode,
  type Handler,
  type Maybe,
  type Operation,
  type Reply,
} from "../../envelope/index.js";
import type { Clock } from "../clock.js";
import type { Destination } from "../destination.js";
import type { Hedging } from "../hedging/pair.js";
import type { PolicySink } from "../notes.js";
import { isRetryable } from "../retry-safety.js";
import type { Selector } from "../selection/selector.js";
import { taskIdOf } from "../task-id.js";
import { traceIdOf } from "../trace-id.js";
import { type After, failover } from "./failover.js";
import type { TaskAffinity } from "./task-affinity.js";

export interface LoadBalancerParts {
  readonly destinations: readonly Destination[];
  /** The layered handler of each destination. */
  readonly handlers: ReadonlyMap<Destination, Handler>;
  readonly selector: Selector;
  readonly affinity: TaskAffinity;
  readonly hedging: Maybe<Hedging>;
  readonly sharedKeys: boolean;
  readonly clock: Clock;
  readonly notes: Maybe<PolicySink>;
}

/** One call and its candidate destinations, best first. */
interface RoutedCall {
  readonly operation: Operation;
  readonly call: Call;
  readonly order: readonly [Destination, ...Destination[]];
}

/** Routes each call. The call is passed unchanged, including its security floor: each handler rejects what it cannot protect. */
export class LoadBalancerHandler {
  readonly #parts: LoadBalancerParts;

  constructor(parts: LoadBalancerParts) {
    this.#parts = parts;
  }

  readonly handle: Handler = (operation, call): Reply => {
    const { affinity, selector, destinations, hedging, sharedKeys } = this.#parts;
    const taskId = taskIdOf(operation);
    const known = taskId === undefined ? undefined : affinity.of(call.caller.owner, taskId);
    if (known !== undefined) {
      // Destinations that share the store have the task too.
      const others = sharedKeys ? destinations.filter((each) => each !== known) : [];
      const routed: RoutedCall = { operation, call, order: [known, ...others] };
      this.#note(routed, known, "it has the task", "task");
      return this.#inOrder(routed);
    }
    const choice = selector.order(destinations, operation, call);
    const [best, ...others] = choice.order;
    if (best === undefined) return Promise.reject(new AgentError("unsupported", choice.because, { sent: "no" }));
    const routed: RoutedCall = { operation, call, order: [best, ...others] };
    this.#note(routed, best, taskId === undefined ? choice.because : `the destination of the task is unknown; ${choice.because}`);
    if (taskId !== undefined) return this.#untilFound(routed);
    const [second] = others;
    return hedging === undefined || second === undefined ? this.#inOrder(routed) : this.#hedged(hedging, routed, second);
  };

  #inOrder(routed: RoutedCall): Reply {
    return failover(this.#handlerFor(routed.order[0]), this.#afterRefusal(routed), routed.operation, routed.call);
  }

  /** The destination of the task is unknown: ask in order. Asking a destination without the task has no effect. */
  #untilFound(routed: RoutedCall): Reply {
    return failover(this.#handlerFor(routed.order[0]), this.#afterNotFound(routed), routed.operation, routed.call);
  }

  /** The second attempt starts at the next destination and fails over from there. */
  #hedged(hedging: Hedging, routed: RoutedCall, second: Destination): Reply {
    const [first] = routed.order;
    const deferred: RoutedCall["order"] = [second, ...routed.order.slice(2)];
    const pair = {
      first: (operation: Operation, call: Call) => this.#inOrder({ operation, call, order: routed.order }),
      second: (operation: Operation, call: Call) => this.#inOrder({ operation, call, order: deferred }),
      canceller: this.handle, // task affinity is known from the first event
      idempotentSend: this.#shareKeys(first, second),
      destination: second.id,
      protocol: second.protocol,
    };
    return hedging.reply(pair, routed.operation, routed.call);
  }

  #afterRefusal(routed: RoutedCall): After {
    const { operation, order } = routed;
    let at = 0;
    return (error) => {
      const [from, to] = [order[at], order[at + 1]];
      if (from === undefined || to === undefined || !this.#hasTime(routed)) return error;
      if (!isRetryable(operation, error, this.#shareKeys(from, to))) return error;
      at += 1;
      this.#note(routed, to, `${from.id} failed: ${error.code}`);
      return this.#handlerFor(to);
    };
  }

  /** Prefers the error of a destination that may have the task over `task_not_found` of the others. */
  #afterNotFound(routed: RoutedCall): After {
    const { operation, order } = routed;
    let at = 0;
    let unsure: Maybe<AgentError>;
    return (error) => {
      if (error.code !== "task_not_found") unsure ??= error;
      const [from, to] = [order[at], order[at + 1]];
      const goesOn = HAS_NONE.has(error.code) || isRetryable(operation, error, false);
      if (from === undefined || to === undefined || !goesOn || !this.#hasTime(routed)) return unsure ?? error;
      at += 1;
      this.#note(routed, to, `${from.id} has no such task: ${error.code}`);
      return this.#handlerFor(to);
    };
  }

  #hasTime({ call }: RoutedCall): boolean {
    return !call.cancel.cancelled && (call.deadline === undefined || this.#parts.clock.now() < call.deadline);
  }

  /** An idempotency key protects across destinations only if both share one store. */
  #shareKeys(a: Destination, b: Destination): boolean {
    return this.#parts.sharedKeys && a.idempotentSend?.() === true && b.idempotentSend?.() === true;
  }

  #handlerFor(destination: Destination): Handler {
    return this.#parts.handlers.get(destination) ?? destination.handler; // a selector may only order what it was given
  }

  #note({ operation, call, order }: RoutedCall, chosen: Destination, because: string, policy = this.#parts.selector.name): void {
    this.#parts.notes?.({
      kind: "decision",
      traceId: traceIdOf(operation, call),
      destination: chosen.id,
      protocol: chosen.protocol,
      policy,
      among: order.map(({ id }) => id),
      because,
    });
  }
}

/** Errors of destinations that do not have the task or do not support tasks. */
const HAS_NONE: ReadonlySet<ErrorCode> = new Set(["task_not_found", "unsupported", "unsupported_method"]);
