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

/** An existing task: an idempotent repeat, or one that has queued the message. */
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

/** A resolved send: operation, call, agent and session. */
export interface SendRequest {
  readonly operation: Send;
  readonly call: Call;
  readonly named: NamedAgent;
  readonly sessionId: string;
}

/**
 * Creates the task and its run, not started. A known idempotency key returns the existing task. `early`: the run may begin before the
 * task is stored; whoever answers waits for its `stored`.
 */
export async function startTask(
  context: RuntimeContext,
  request: SendRequest,
  turn: Turn,
  early = false,
): Promise<Run | Existing> {
  const { operation, call, named, sessionId } = request;
  const { envelope: message } = operation;
  const { owner, id: caller } = call.caller;
  const key = message.context.idempotencyKey === undefined ? undefined : await keyOf(context, message, named.name);
  let run: Maybe<Run>;
  context.enter(owner);
  try {
    const metadata = named.agent.marks?.(operation);
    const id = context.ids.newTaskId?.() ?? context.ids.newId();
    const task = newTask({ id, contextId: sessionId, metadata }, message, context.ids.now());
    const push = operation.push && (await checkedPush(context, call, operation.push, task.id));
    const created = await context.store.create({ task, owner, agent: named.name, key, lease: leaseOf(context), push, early });
    if (!created.made) {
      if (created.because === "repeated") return new Existing(created.taskId, owner);
      throw refusedStart(created.because);
    }
    if (push !== undefined) context.push?.nudge();
    const { name: agentName, agent } = named;
    const { epoch, stored } = created;
    const start = { task, owner, caller, agentName, agent, epoch, seq: 1, message, stored: stored && requireStored(stored) };
    run = new Run(context, start, turn);
    return run;
  } finally {
    if (run === undefined) context.leave(owner);
  }
}

/** Rejects if the task was refused after all. Whoever waits for its answer hears of it. */
function requireStored(stored: Promise<Maybe<"full">>): Promise<void> {
  const storing = stored.then((refused) => {
    if (refused !== undefined) throw refusedStart(refused);
  });
  storing.catch(() => undefined);
  return storing;
}

/** The lease request of this runtime. */
export function leaseOf(context: RuntimeContext): LeaseRequest {
  return { holder: context.holder, leaseMs: context.limits.leaseMs };
}

function newTask({ id, contextId, metadata }: Pick<Task, "id" | "contextId" | "metadata">, message: Envelope, at: number): Task {
  const status = { state: "submitted", at, message: undefined } as const;
  return { id, contextId, status, artifacts: [], history: [message], metadata };
}

async function keyOf(context: RuntimeContext, message: Envelope, agent: string): Promise<IdempotencyKey> {
  const { idempotencyKey: key = "" } = message.context;
  const { idempotencyKeyBytes, idempotencyKeepMs } = context.limits;
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
