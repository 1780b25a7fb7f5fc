import { AgentError, type AgentEvent, type Awaitable, type Maybe } from "../envelope/index.js";
import {
  type AgentStream,
  Ending,
  isStream,
  Relayed,
  RelayedMessage,
  type Result,
  type StartedStream,
} from "./agent-function.js";
import { agentMessage, InboundMessage, relayedMessage } from "./messages.js";
import { asAgentError, rethrowAsAgentError } from "./refusals.js";
import type { Run } from "./run.js";
import type { PendingReply, RuntimeContext } from "./runtime-context.js";
import { Existing, type SendRequest, startTask } from "./start-task.js";
import { Turn, ttlOf } from "./turn.js";
import { onCallAborted } from "./wait.js";

/**
 * An exchange without a task: the answer is one message. It becomes a task when the agent yields or asks a question.
 * Until then a caller that disconnects stops the work.
 */
export class BareReply implements PendingReply {
  slot: number | undefined;
  readonly #context: RuntimeContext;
  readonly #request: SendRequest;
  readonly #turn: Turn;
  #stream: AgentStream | undefined;
  #run: Maybe<Run>;
  #resolve: (opened: AgentEvent | Run) => void = () => undefined;
  #reject: (reason: AgentError) => void = () => undefined;
  #release: (() => void) | undefined;
  /** `joining`: the task is being created. `over`: answered or aborted. */
  #phase: "bare" | "joining" | "over" = "bare";
  #expired: AgentError | undefined;
  #abandoned = false;

  constructor(context: RuntimeContext, request: SendRequest) {
    this.#context = context;
    this.#request = request;
    this.#turn = firstTurn(context, request);
  }

  /** Resolves to the message, or to the run the exchange became. */
  begin(): Promise<AgentEvent | Run> {
    return new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
      const { call, operation } = this.#request;
      this.#context.beginReply(this, call.caller.owner);
      this.#release = onCallAborted(this.#context, call, (reason) => this.end(reason));
      const ttlMs = ttlOf(operation.envelope);
      if (ttlMs !== undefined) this.#turn.expireAfter(ttlMs, (reason) => this.#expire(reason));
      void this.#work();
    });
  }

  /** The caller is gone or the runtime is closing. */
  end(reason: AgentError): void {
    if (this.#phase !== "bare") return;
    this.#context.abandoned.enter(this.#request.call.caller.owner);
    this.#abandoned = true;
    this.#turn.stop(reason);
    this.#stream?.return(undefined).catch(() => undefined);
    this.#leave("over");
    this.#reject(reason);
  }

  async #work(): Promise<void> {
    try {
      const { named, operation } = this.#request;
      if (this.#phase !== "bare") return;
      const output = named.agent.handle(new InboundMessage(operation.envelope), this.#turn);
      let joining: Maybe<Promise<void>>;
      if (isStream(output)) {
        this.#stream = output;
        const step = await output.next();
        if (this.#phase !== "bare") return;
        // A stream that yields becomes a task; one that does not is an answer like any other.
        joining = step.done === true ? this.#end(step.value) : this.#continue({ stream: output, first: step.value });
      } else {
        const result = await output;
        if (this.#phase !== "bare") return;
        joining = this.#end(result);
      }
      if (joining !== undefined) await joining;
    } catch (thrown) {
      await this.#failed(thrown);
    } finally {
      if (this.#abandoned) this.#context.abandoned.leave(this.#request.call.caller.owner);
    }
  }

  #end(result: Result): Maybe<Promise<void>> {
    if (result instanceof Ending || result instanceof Relayed) return this.#join((run) => run.endWith(result));
    this.#answer(result);
    return undefined;
  }

  #continue(started: StartedStream): Maybe<Promise<void>> {
    return this.#join((run) => run.continueWith(started));
  }

  #answer(result: Exclude<Result, Ending | Relayed>): void {
    const { operation, named, sessionId } = this.#request;
    const conversation = { agent: named.name, request: operation.envelope, sessionId, taskId: undefined };
    // A message has at least one part on every wire.
    const message =
      result instanceof RelayedMessage
        ? relayedMessage(conversation, result.message)
        : agentMessage(conversation, result ?? "", this.#context.ids);
    const head = result instanceof RelayedMessage ? result.head : undefined;
    this.#turn.end();
    this.#leave("over");
    this.#resolve({ kind: "message", message, head, cursor: undefined });
  }

  /** From here on the work belongs to a task: a disconnect no longer stops it. Undefined if the task has begun. */
  #join(begin: (run: Run) => void): Maybe<Promise<void>> {
    // Others than the waiting caller of an answer are told of the task as soon as it begins.
    const early = this.#request.operation.delivery === "answer";
    let starting: Awaitable<Run | Existing>;
    try {
      starting = startTask(this.#context, this.#request, this.#turn, early);
    } catch (thrown) {
      throw asAgentError(thrown);
    } finally {
      this.#leave("joining");
    }
    if (starting instanceof Promise) return starting.then((run) => this.#became(run, begin), rethrowAsAgentError);
    this.#became(starting, begin);
    return undefined;
  }

  #became(run: Run | Existing, begin: (run: Run) => void): void {
    // Only a key leads to a task that exists, and a send with a key is never bare.
    if (run instanceof Existing) throw new AgentError("internal", "a bare reply met a task");
    this.#phase = "over";
    this.#run = run;
    begin(run);
    if (this.#expired !== undefined) void run.stop("failed", this.#expired);
    this.#resolve(run);
  }

  #expire(reason: AgentError): void {
    if (this.#run !== undefined) void this.#run.stop("failed", reason);
    else if (this.#phase === "joining") this.#expired = reason;
    else this.end(reason);
  }

  /** What an agent refuses is an error; work that broke is a failed task, as where every message has a task. */
  async #failed(thrown: unknown): Promise<void> {
    const reason = AgentError.from(thrown);
    if (thrown === reason || this.#phase !== "bare") return this.#fail(reason);
    try {
      await this.#join((run) => void run.stop("failed", reason));
    } catch {
      // Without room for a task the caller gets the error itself.
      this.#fail(reason);
    }
  }

  #fail(reason: AgentError): void {
    if (this.#phase === "over") return;
    if (this.#phase === "joining") this.#stream?.return(undefined).catch(() => undefined);
    this.#turn.stop(reason);
    this.#leave("over");
    this.#reject(reason);
  }

  #leave(phase: "joining" | "over"): void {
    this.#phase = phase;
    this.#context.endReply(this, this.#request.call.caller.owner);
    this.#release?.();
    this.#release = undefined;
  }
}

/** The first turn of an exchange. */
export function firstTurn(context: RuntimeContext, { operation, call, sessionId }: SendRequest): Turn {
  return new Turn(context, {
    message: operation.envelope,
    sessionId,
    caller: call.caller.id,
    owner: call.caller.owner,
    number: 1,
    history: NO_HISTORY,
    state: undefined,
    outputModes: operation.outputModes,
    extensions: call.parameters["extensions"]?.split(", "),
    call,
    delivery: operation.delivery,
  });
}

const NO_HISTORY: readonly never[] = Object.freeze([]);
