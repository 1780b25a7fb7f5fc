import {
  AgentError,
  type Awaitable,
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
import type { Created, IdempotencyKey, LeaseRequest, NewTask } from "./store.js";
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
 * task is stored; whoever answers waits for its `stored`. Not async itself: a store in memory has the task when this returns.
 */
export function startTask(context: RuntimeContext, request: SendRequest, turn: Turn, early = false): Awaitable<Run | Existing> {
  const { owner } = request.call.caller;
  const keepShare = (started: Run | Existing): Run | Existing => {
    if (started instanceof Existing) context.leave(owner);
    return started;
  };
  const leave = (thrown: unknown): never => {
    context.leave(owner);
    throw thrown;
  };
  context.enter(owner);
  let starting: Awaitable<Run | Existing>;
  try {
    const { envelope, push } = request.operation;
    const isPlain = envelope.context.idempotencyKey === undefined && push === undefined;
    const task = newTask(context, request);
    starting = isPlain ? create(context, request, turn, { task, early }) : createChecked(context, request, turn, task);
  } catch (thrown) {
    return leave(thrown);
  }
  return starting instanceof Promise ? starting.then(keepShare, leave) : keepShare(starting);
}

/** A message with a key or a webhook. */
async function createChecked(context: RuntimeContext, request: SendRequest, turn: Turn, task: Task): Promise<Run | Existing> {
  const { operation, call, named } = request;
  const { envelope } = operation;
  const key = envelope.context.idempotencyKey === undefined ? undefined : await keyOf(context, envelope, named.name);
  const push = operation.push && (await checkedPush(context, call, operation.push, task.id));
  return create(context, request, turn, { task, key, push });
}

function create(
  context: RuntimeContext,
  request: SendRequest,
  turn: Turn,
  { task, key, push, early = false }: Pick<NewTask, "task" | "push" | "early"> & { readonly key?: NewTask["key"] },
): Awaitable<Run | Existing> {
  const { call, named } = request;
  const { owner } = call.caller;
  const creating = context.store.create({ task, owner, agent: named.name, key, lease: leaseOf(context), push, early });
  if (!(creating instanceof Promise)) return runOf(context, request, turn, { task, created: creating });
  return creating.then((created) => runOf(context, request, turn, { task, created }));
}

function runOf(
  context: RuntimeContext,
  { operation, call, named }: SendRequest,
  turn: Turn,
  { task, created }: { readonly task: Task; readonly created: Created },
): Run | Existing {
  const { owner, id: caller } = call.caller;
  if (!created.made) {
    if (created.because === "repeated") return new Existing(created.taskId, owner);
    throw refusedStart(created.because);
  }
  if (operation.push !== undefined) context.push?.nudge();
  const { name: agentName, agent } = named;
  const { epoch, stored } = created;
  const { envelope: message } = operation;
  const start = { task, owner, caller, agentName, agent, epoch, seq: 1, message, stored: stored && requireStored(stored) };
  return new Run(context, start, turn);
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

const NONE: readonly never[] = Object.freeze([]);

function newTask({ ids }: RuntimeContext, { operation, named, sessionId }: SendRequest): Task {
  const metadata = named.agent.marks?.(operation);
  const id = ids.newTaskId?.() ?? ids.newId();
  const status = { state: "submitted", at: ids.now(), message: undefined } as const;
  return { id, contextId: sessionId, status, artifacts: NONE, history: [operation.envelope], metadata };
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
