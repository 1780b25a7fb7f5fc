import {
  AgentError,
  type Call,
  type Envelope,
  type Maybe,
  type OperationOf,
  requestDigest,
  type Task,
} from "../envelope/index.js";
import { checkedPush } from "./push-configs.js";
import { Run } from "./run.js";
import type { RuntimeAgent, RuntimeContext } from "./runtime-context.js";
import type { IdempotencyKey, LeaseRequest } from "./store.js";
import type { Turn } from "./turn.js";

type Send = OperationOf<"send">;

/** A task that was there before: an idempotent repeat, or one that has heard the message. */
export class Existing {
  constructor(
    readonly taskId: string,
    readonly owner: string,
  ) {}
}

/** An agent and the name it is served under. */
export interface NamedAgent {
  readonly name: string;
  readonly agent: RuntimeAgent;
}

/** A send as it is understood: who asks whom, in which conversation. */
export interface Asking {
  readonly operation: Send;
  readonly call: Call;
  readonly named: NamedAgent;
  readonly sessionId: string;
}

/** Makes the task and its run; the run has not begun. A key that is known leads to the task it has started. */
export async function startTask(place: RuntimeContext, asking: Asking, turn: Turn): Promise<Run | Existing> {
  const { operation, call, named, sessionId } = asking;
  const { envelope: message } = operation;
  const { owner, id: caller } = call.caller;
  const key = message.context.idempotencyKey === undefined ? undefined : await keyOf(place, message, named.name);
  let run: Maybe<Run>;
  place.enter(owner);
  try {
    const metadata = named.agent.marks?.(operation);
    const task = newTask({ id: place.ids.newId(), contextId: sessionId, metadata }, message, place.ids.now());
    const push = operation.push && (await checkedPush(place, call, operation.push, task.id));
    const created = await place.store.create({ task, owner, agent: named.name, key, lease: leaseOf(place), push });
    if (!created.made) {
      if (created.because === "repeated") return new Existing(created.taskId, owner);
      throw refusedStart(created.because);
    }
    if (push !== undefined) place.push?.nudge();
    const { name: agentName, agent } = named;
    run = new Run(place, { task, owner, caller, agentName, agent, epoch: created.epoch, seq: 1, message }, turn);
    return run;
  } finally {
    if (run === undefined) place.leave(owner);
  }
}

/** The lease this runtime asks for. */
export function leaseOf(place: RuntimeContext): LeaseRequest {
  return { holder: place.holder, leaseMs: place.limits.leaseMs };
}

function newTask(names: Pick<Task, "id" | "contextId" | "metadata">, message: Envelope, at: number): Task {
  const status = { state: "submitted", at, message: undefined } as const;
  return { ...names, status, artifacts: [], history: [message] };
}

async function keyOf(place: RuntimeContext, message: Envelope, agent: string): Promise<IdempotencyKey> {
  const { idempotencyKey: key = "" } = message.context;
  const { idempotencyKeyBytes, idempotencyKeepMs } = place.limits;
  if (key === "" || new TextEncoder().encode(key).byteLength > idempotencyKeyBytes) {
    const message = `context.idempotencyKey: must have 1 to ${idempotencyKeyBytes} bytes`;
    throw new AgentError("invalid_message", message, { field: "context.idempotencyKey" });
  }
  return { key, digest: await requestDigest(agent, message.content), keepMs: idempotencyKeepMs };
}

function refusedStart(because: "conflict" | "expired" | "full"): AgentError {
  switch (because) {
    case "conflict":
      return new AgentError("conflict", "context.idempotencyKey: was used for another request", {
        field: "context.idempotencyKey",
      });
    case "expired":
      return new AgentError("expired", "the task of this idempotency key has ended and is no longer kept");
    case "full":
      return new AgentError("overloaded", "no room for another task");
    default:
      return because satisfies never;
  }
}
