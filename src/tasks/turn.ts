import {
  AgentError,
  type Call,
  type Cancel,
  CancelSource,
  type Content,
  type Envelope,
  type Json,
  type Maybe,
  type Metadata,
  type OperationOf,
  type Part,
  partContent,
  signalOf,
  type Task,
} from "../envelope/index.js";
import { type ArtifactOptions, Ending, Progress, type TaskContext } from "./agent-function.js";
import { jsonSize } from "./content-size.js";
import type { RuntimeContext } from "./runtime-context.js";

const NOTHING: ArtifactOptions = Object.freeze({});
const NONE: readonly never[] = Object.freeze([]);

/** Input of a turn. */
export interface TurnStart {
  readonly message: Envelope;
  readonly sessionId: string;
  readonly caller: string;
  readonly owner: string;
  readonly number: number;
  readonly history: readonly Envelope[];
  readonly state: Maybe<Json>;
  readonly outputModes: Maybe<readonly string[]>;
  /** The extensions negotiated for the call; by default those the message names. */
  readonly extensions: Maybe<readonly string[]>;
  readonly call?: Maybe<Call>;
  readonly delivery?: Maybe<OperationOf<"send">["delivery"]>;
  readonly restarted?: Maybe<boolean>;
}

/** The task a turn belongs to, once there is one. */
export interface TurnTask {
  readonly taskId: string;
  snapshot(): Promise<Maybe<Task>>;
}

/** One call of an agent's function. Methods live on the prototype: a call allocates no closures. */
export class Turn implements TaskContext {
  readonly sessionId: string;
  readonly turn: number;
  readonly history: readonly Envelope[];
  readonly state: Maybe<Json>;
  readonly caller: string;
  readonly owner: string;
  readonly outputModes: readonly string[];
  readonly extensions: readonly string[];
  readonly call: Maybe<Call>;
  readonly delivery: OperationOf<"send">["delivery"];
  readonly restarted: boolean;
  readonly #context: RuntimeContext;
  #task: Maybe<TurnTask>;
  #saved: Maybe<Json>;
  #cancel: CancelSource | undefined;
  #signal: AbortSignal | undefined;
  #stopped: AgentError | undefined;
  #expiry: (() => void) | undefined;
  #lastArtifact: string | undefined;
  #taskListeners: ((taskId: string) => void)[] | undefined;

  constructor(context: RuntimeContext, start: TurnStart) {
    this.#context = context;
    this.sessionId = start.sessionId;
    this.turn = start.number;
    this.history = start.history;
    this.state = start.state;
    this.caller = start.caller;
    this.owner = start.owner;
    this.outputModes = start.outputModes ?? NONE;
    this.extensions = start.extensions ?? start.message.extensions ?? NONE;
    this.call = start.call;
    this.delivery = start.delivery ?? "accepted";
    this.restarted = start.restarted ?? false;
  }

  get id(): Maybe<string> {
    return this.#task?.taskId;
  }

  /** Created on first use: most agents do not need it, and a platform signal costs microseconds. */
  get signal(): AbortSignal {
    this.#signal ??= signalOf(this.cancel);
    return this.#signal;
  }

  get cancel(): Cancel {
    if (this.#cancel === undefined) {
      this.#cancel = new CancelSource();
      if (this.#stopped !== undefined) this.#cancel.cancel(this.#stopped);
    }
    return this.#cancel;
  }

  save(state: Json): void {
    if (jsonSize(state) > this.#context.limits.stateBytes) {
      throw new AgentError("too_large", "the saved state is larger than the limit stateBytes");
    }
    this.#saved = state;
  }

  working(message?: Content, metadata?: Metadata): Progress {
    return new Progress("working", message, metadata === undefined ? NOTHING : { metadata });
  }

  artifact(content: Content, options: ArtifactOptions = NOTHING): Progress {
    const last = options.append === true ? this.#lastArtifact : undefined;
    const id = options.id ?? last ?? this.#context.ids.newId();
    this.#lastArtifact = id;
    return new Progress("artifact", content, options.id === undefined ? { ...options, id } : options);
  }

  ask(question: Content): Ending {
    return new Ending("input-required", question);
  }

  askForAuthorization(question: Content): Ending {
    return new Ending("auth-required", question);
  }

  reject(reason: Content): Ending {
    return new Ending("rejected", reason);
  }

  fail(reason: Content): Ending {
    return new Ending("failed", reason);
  }

  complete(message?: Content): Ending {
    return new Ending("completed", message);
  }

  fetch(part: Part): Promise<Part> {
    if (part.kind !== "url") return Promise.resolve(part);
    if (this.#context.fetchPart !== undefined) return this.#context.fetchPart(part, this.signal);
    return Promise.reject(new AgentError("unsupported", "this host does not fetch URL parts"));
  }

  read(part: Part): AsyncIterable<Uint8Array> {
    if (part.kind !== "url") return ownBytes(part);
    if (this.#context.readPart !== undefined) return this.#context.readPart(part, this.signal);
    throw new AgentError("unsupported", "this host does not fetch URL parts");
  }

  snapshot(): Promise<Maybe<Task>> {
    return this.#task === undefined ? Promise.resolve(undefined) : this.#task.snapshot();
  }

  get saved(): Maybe<Json> {
    return this.#saved;
  }

  /** From now on the exchange has a task. */
  joinTask(task: TurnTask): void {
    this.#task = task;
    const listeners = this.#taskListeners ?? NONE;
    this.#taskListeners = undefined;
    for (const run of listeners) run(task.taskId);
  }

  /** Calls `run` with the id of the task, once there is one; never for a bare reply. */
  whenTask(run: (taskId: string) => void): void {
    if (this.#task !== undefined) run(this.#task.taskId);
    else {
      this.#taskListeners ??= [];
      this.#taskListeners.push(run);
    }
  }

  /** Calls `expire` after `ttlMs`, unless the turn ends first. */
  expireAfter(ttlMs: number, expire: (reason: AgentError) => void): void {
    this.#expiry = this.#context.timers.after(ttlMs, () =>
      expire(new AgentError("deadline", "the work took longer than its ttlMs")),
    );
  }

  /** Cancels the turn's signal. */
  stop(reason: AgentError): void {
    this.end();
    if (this.#stopped !== undefined) return;
    this.#stopped = reason;
    this.#cancel?.cancel(reason);
  }

  end(): void {
    this.#expiry?.();
    this.#expiry = undefined;
  }
}

/** Calls `run` with the id of the task that an agent function is called for, once there is one. */
export function whenTask(task: TaskContext, run: (taskId: string) => void): void {
  if (task instanceof Turn) task.whenTask(run);
  else if (task.id !== undefined) run(task.id);
}

async function* ownBytes(part: Exclude<Part, { readonly kind: "url" }>): AsyncGenerator<Uint8Array> {
  yield partContent(part);
}

/** The message's `ttlMs`. Throws `invalid_message` if it is not a positive number. */
export function ttlOf({ context: { ttlMs } }: Envelope): Maybe<number> {
  if (ttlMs === undefined) return undefined;
  if (ttlMs > 0 && ttlMs < Number.POSITIVE_INFINITY) return ttlMs;
  throw new AgentError("invalid_message", "context.ttlMs: must be a positive number", { field: "context.ttlMs" });
}
