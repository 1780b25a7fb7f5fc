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
import { isWorthRepeating } from "../may-repeat.js";
import type { PolicySink } from "../notes.js";
import type { Selector } from "../selection/selector.js";
import { taskNamedBy } from "../task-named.js";
import { traceIdOf } from "../trace-id.js";
import { type After, failover } from "./failover.js";
import type { TaskAffinity } from "./task-affinity.js";

export interface LoadBalancerParts {
  readonly destinations: readonly Destination[];
  /** By which handler each is asked. */
  readonly ways: ReadonlyMap<Destination, Handler>;
  readonly selector: Selector;
  readonly places: TaskAffinity;
  readonly hedging: Maybe<Hedging>;
  readonly sharedKeys: boolean;
  readonly clock: Clock;
  readonly notes: Maybe<PolicySink>;
}

/** One call, and whom it may be put through to, the best first. */
interface Asked {
  readonly operation: Operation;
  readonly call: Call;
  readonly order: readonly [Destination, ...Destination[]];
}

/** Puts each call through. The call itself goes on unchanged, its floor with it: each way refuses what it cannot protect. */
export class LoadBalancerHandler {
  readonly #parts: LoadBalancerParts;

  constructor(parts: LoadBalancerParts) {
    this.#parts = parts;
  }

  readonly handle: Handler = (operation, call): Reply => {
    const { places, selector, destinations, hedging, sharedKeys } = this.#parts;
    const taskId = taskNamedBy(operation);
    const place = taskId === undefined ? undefined : places.of(call.caller.owner, taskId);
    if (place !== undefined) {
      // Whoever looks into the same store has it too.
      const others = sharedKeys ? destinations.filter((each) => each !== place) : [];
      const asked: Asked = { operation, call, order: [place, ...others] };
      this.#tell(asked, place, "it has the task", "task");
      return this.#inOrder(asked);
    }
    const choice = selector.order(destinations, operation, call);
    const [best, ...others] = choice.order;
    if (best === undefined) return Promise.reject(new AgentError("unsupported", choice.because, { sent: "no" }));
    const asked: Asked = { operation, call, order: [best, ...others] };
    this.#tell(asked, best, taskId === undefined ? choice.because : `nobody is known to have the task; ${choice.because}`);
    if (taskId !== undefined) return this.#untilFound(asked);
    const [second] = others;
    return hedging === undefined || second === undefined ? this.#inOrder(asked) : this.#hedged(hedging, asked, second);
  };

  #inOrder(asked: Asked): Reply {
    return failover(this.#way(asked.order[0]), this.#afterRefusal(asked), asked.operation, asked.call);
  }

  /** A task that nobody is known to have: whoever has never heard of it changes nothing by being asked. */
  #untilFound(asked: Asked): Reply {
    return failover(this.#way(asked.order[0]), this.#afterNotFound(asked), asked.operation, asked.call);
  }

  /** The second attempt begins at the next destination, and goes on from there on its own. */
  #hedged(hedging: Hedging, asked: Asked, second: Destination): Reply {
    const [first] = asked.order;
    const later: Asked["order"] = [second, ...asked.order.slice(2)];
    const pair = {
      first: (operation: Operation, call: Call) => this.#inOrder({ operation, call, order: asked.order }),
      second: (operation: Operation, call: Call) => this.#inOrder({ operation, call, order: later }),
      canceller: this.handle, // it has learned from the first event where the task is
      idempotentSend: this.#shareKeys(first, second),
      destination: second.id,
      protocol: second.protocol,
    };
    return hedging.reply(pair, asked.operation, asked.call);
  }

  #afterRefusal(asked: Asked): After {
    const { operation, order } = asked;
    let at = 0;
    return (error) => {
      const [from, to] = [order[at], order[at + 1]];
      if (from === undefined || to === undefined || !this.#hasTime(asked)) return error;
      if (!isWorthRepeating(operation, error, this.#shareKeys(from, to))) return error;
      at += 1;
      this.#tell(asked, to, `${from.id} failed: ${error.code}`);
      return this.#way(to);
    };
  }

  /** What stood in the way of one who may have it is told rather than that the others have not. */
  #afterNotFound(asked: Asked): After {
    const { operation, order } = asked;
    let at = 0;
    let unsure: Maybe<AgentError>;
    return (error) => {
      if (error.code !== "task_not_found") unsure ??= error;
      const [from, to] = [order[at], order[at + 1]];
      const goesOn = HAS_NONE.has(error.code) || isWorthRepeating(operation, error, false);
      if (from === undefined || to === undefined || !goesOn || !this.#hasTime(asked)) return unsure ?? error;
      at += 1;
      this.#tell(asked, to, `${from.id} has no such task: ${error.code}`);
      return this.#way(to);
    };
  }

  #hasTime({ call }: Asked): boolean {
    return !call.cancel.cancelled && (call.deadline === undefined || this.#parts.clock.now() < call.deadline);
  }

  /** A key protects only where it is known: at another peer it does so if both look into one store. */
  #shareKeys(a: Destination, b: Destination): boolean {
    return this.#parts.sharedKeys && a.idempotentSend?.() === true && b.idempotentSend?.() === true;
  }

  #way(destination: Destination): Handler {
    return this.#parts.ways.get(destination) ?? destination.handler; // a selector may only order what it was given
  }

  #tell({ operation, call, order }: Asked, chosen: Destination, because: string, policy = this.#parts.selector.name): void {
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

/** Answers of peers that certainly have not got the task, or cannot be asked for one. */
const HAS_NONE: ReadonlySet<ErrorCode> = new Set(["task_not_found", "unsupported", "unsupported_method"]);
