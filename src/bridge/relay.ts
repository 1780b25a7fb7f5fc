import {
  type AgentEvent,
  asProbe,
  type Call,
  type Card,
  type Envelope,
  type Handler,
  isPromise,
  type Layer,
  type Loss,
  type Maybe,
  mapEach,
  type Operation,
  type Reply,
  receivedProbes,
  type Status,
  type Task,
} from "../envelope/index.js";
import { isOwnMark, withHops, withoutHops } from "../policies/hops.js";
import { stack } from "../policies/index.js";
import { traceIdIn } from "../policies/trace-id.js";
import { type Front, front } from "../protocols/front.js";
import { createHost, type HostParts } from "../protocols/host.js";
import type { Protocol } from "../protocols/protocol.js";
import type { Upstream } from "./upstream.js";

/** Options of `relay`. */
export interface RelayOptions extends Omit<HostParts, "handler" | "cards"> {
  /** The client of the upstream peer. */
  readonly upstream: Handler;
  /** The card to publish. */
  readonly card: Card;
  /** The protocols of the listener. */
  readonly protocols: readonly Protocol[];
  /** Policies around upstream calls, outermost first. Default: none. */
  readonly layers?: Maybe<readonly Layer[]>;
}

/**
 * Serves one peer in other protocols. Ids are passed unchanged and nothing is stored. For one trust domain only: the peer sees
 * all callers as one.
 */
export function relay({ upstream, card, protocols, layers, ...parts }: RelayOptions): Front {
  const handler = stack(layers ?? [])(upstream);
  // The peer's own document names addresses that bypass the relay.
  return front(createHost({ ...parts, handler, cards: [{ ...card, original: undefined }] }), protocols);
}

/**
 * Passes operations to the upstream unchanged and stores nothing. For one trust domain only: the upstream sees all callers as
 * one, unless their credentials are forwarded. Public cards are the gateway's own.
 */
export function relayTasks(
  { handler }: Upstream,
  rewriteCard: (card: Card) => Card,
): (operation: Operation, call: Call) => Reply | undefined {
  return (operation, call) => {
    const extra = operation.kind === "send" ? operation.envelope.extra : undefined;
    const reportLoss = (loss: Loss): void => (isOwnMark(loss, extra) ? undefined : call.reportLoss(loss));
    const derived = call.derive({ hops: call.hops + 1, reportLoss });
    const outgoing = receivedProbes.of(call) === undefined ? derived : asProbe(derived);
    switch (operation.kind) {
      case "card":
        return operation.extended ? extended(handler(operation, outgoing), rewriteCard) : undefined;
      case "send":
        return unmarked(
          handler({ ...operation, envelope: withHops(forUpstream(operation.envelope, call), outgoing.hops) }, outgoing),
        );
      case "task.get":
      case "task.list":
      case "task.cancel":
      case "task.subscribe":
        return unmarked(handler(operation, outgoing));
      default:
        return handler(operation, outgoing);
    }
  };
}

/** An agent may return the messages it received: what the gateway added to them is not for its callers. */
function unmarked(reply: Reply): Reply {
  return isPromise(reply) ? reply.then(withoutMarks) : mapEach(reply, withoutMarks);
}

function withoutMarks(event: AgentEvent): AgentEvent {
  switch (event.kind) {
    case "message":
      return { ...event, message: withoutHops(event.message) };
    case "status": {
      const status = statusWithoutMarks(event.status);
      return status === event.status ? event : { ...event, status };
    }
    case "task":
      return { ...event, task: taskWithoutMarks(event.task) };
    case "tasks":
      return { ...event, tasks: event.tasks.map(taskWithoutMarks) };
    default:
      return event;
  }
}

function taskWithoutMarks(task: Task): Task {
  return { ...task, status: statusWithoutMarks(task.status), history: task.history.map(withoutHops) };
}

function statusWithoutMarks(status: Status): Status {
  return status.message === undefined ? status : { ...status, message: withoutHops(status.message) };
}

/** Without the trace if a header carries it: the message stays as the caller wrote it. */
function forUpstream(envelope: Envelope, { parameters }: Call): Envelope {
  const { context } = envelope;
  const isCarried = context.traceId !== undefined && traceIdIn(parameters["traceparent"]) === context.traceId;
  return isCarried ? { ...envelope, context: { ...context, traceId: undefined } } : envelope;
}

async function extended(reply: Reply, rewriteCard: (card: Card) => Card): Promise<AgentEvent> {
  const event = await (reply as Promise<AgentEvent>); // a card request has one answer
  return event.kind === "card" ? { ...event, card: rewriteCard(event.card) } : event;
}
