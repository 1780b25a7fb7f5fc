import { AgentError, type Awaitable, type Envelope, type Maybe, type Task } from "../envelope/index.js";
import type { Running } from "./active-runs.js";
import { type AgentStream, isStream, Progress, Relayed, type Result, type StartedStream } from "./agent-function.js";
import { faultOf, JournalWriter, type WriteResult, type WriterOwner } from "./journal-writer.js";
import { InboundMessage } from "./messages.js";
import { openTurn } from "./open-turn.js";
import { leaseLost } from "./refusals.js";
import type { RunStart, RuntimeContext } from "./runtime-context.js";
import type { TurnState } from "./store.js";
import { retryWhileUnavailable } from "./store-retry.js";
import { type Turn, type TurnTask, ttlOf } from "./turn.js";
import {
  failedEvent,
  progressEvent,
  type ResultArtifact,
  relayedEvent,
  resultOf,
  statusEvent,
  type TaskConversation,
  type TurnEnd,
  turnEnd,
  withheldEnd,
} from "./turn-events.js";

/** One holder's work on one task: turn after turn until no message is queued, or until it is stopped. */
export class Run implements Running, TurnTask, WriterOwner {
  readonly taskId: string;
  readonly owner: string;
  readonly restartable: boolean;
  /** The task at the start of this run. */
  readonly opening: Task;
  readonly openingSeq: number;
  readonly #context: RuntimeContext;
  readonly #start: RunStart;
  readonly #writer: JournalWriter;
  #turn: Turn;
  #conversation: TaskConversation;
  #message: Envelope;
  #stream: AgentStream | undefined;
  /** The first step of a started stream. */
  #first: Maybe<StartedStream["first"]>;
  #result: ResultArtifact;
  /** `ending`: the last entries of a turn are being written. `over`: further output is discarded. */
  #phase: "working" | "ending" | "over" = "working";
  #stopRequested: { readonly state: "failed" | "canceled"; readonly reason: AgentError } | undefined;
  #turns = 1;
  #agentAtWork = false;
  #finished = false;
  #isOwnWork = false;
  #whenDone: ((seq: Maybe<number>) => void)[] | undefined;
  #doneSeq: Maybe<number>;

  /** Requires `context.enter(owner)`; the run calls `leave` when it ends. */
  constructor(context: RuntimeContext, start: RunStart, turn: Turn) {
    const { task, owner, epoch, seq, message } = start;
    this.#context = context;
    this.#start = start;
    this.taskId = task.id;
    this.owner = owner;
    this.opening = task;
    this.openingSeq = seq;
    this.restartable = start.agent.restartable === true;
    // Only who waits for the whole answer is given the outcome.
    const keepsWritten = turn.delivery === "answer";
    this.#writer = new JournalWriter(context, { taskId: task.id, owner, epoch, seq, keepsWritten }, this);
    this.#message = message;
    this.#conversation = this.#conversationAbout(message);
    this.#turn = turn;
    this.#result = resultOf(task, turn.turn);
    turn.joinTask(this);
    context.runs.add(this);
  }

  /** Undefined if it was stored before it began. */
  get stored(): Maybe<Promise<void>> {
    return this.#start.stored;
  }

  get epoch(): number {
    return this.#writer.epoch;
  }

  /** The final task, made on demand, if no other writer can have changed it; otherwise read the store. */
  get outcome(): Maybe<Task> {
    return this.#isOwnWork ? this.#writer.addedTo(this.opening) : undefined;
  }

  /** Calls `run` once: with the number of the entry that ended the last turn, or with undefined if the lease was lost. */
  onDone(run: (seq: Maybe<number>) => void): void {
    if (this.#finished) run(this.#doneSeq);
    else if (this.#whenDone === undefined) this.#whenDone = [run];
    else this.#whenDone.push(run);
  }

  begin(): void {
    this.#limitTime();
    void this.#work();
  }

  /** Continues a started stream; its time limit is already set. */
  continueWith(started: StartedStream): void {
    this.#stream = started.stream;
    this.#first = started.first;
    void this.#work();
  }

  endWith(result: Result): void {
    void Promise.resolve(this.#finishTurn(result)).then((next) => (next ? this.#work() : undefined));
  }

  async snapshot(): Promise<Maybe<Task>> {
    this.onWritten(await this.#writer.write());
    return (await this.#context.store.snapshot(this.taskId, this.owner))?.task;
  }

  async stop(state: "failed" | "canceled", reason: AgentError): Promise<void> {
    if (this.#phase === "working") await this.#stopNow(state, reason);
    else if (this.#phase === "ending") this.#stopRequested ??= { state, reason };
    await new Promise((resolve) => this.onDone(resolve));
  }

  abandon(reason: AgentError): void {
    if (this.#phase === "over") return;
    this.#halt(reason);
    this.#finish(undefined);
  }

  /** Turn after turn. All that waits for the agent is in one function: an idle stream keeps every pending one. */
  async #work(): Promise<void> {
    for (;;) {
      this.#agentAtWork = true;
      let result: Result | AgentError;
      try {
        const output = this.#stream ?? this.#start.agent.handle(new InboundMessage(this.#message), this.#turn);
        if (isStream(output)) {
          this.#stream = output;
          if (this.#first !== undefined) this.#take(this.#first);
          this.#first = undefined;
          for (;;) {
            const step = await output.next();
            result = step.done === true ? step.value : undefined;
            if (step.done === true || this.#isOver()) break;
            this.#take(step.value);
            if (this.#writer.isFull) this.onWritten(await this.#writer.drain());
          }
        } else result = await output;
      } catch (thrown) {
        // Messages of foreign errors are not exposed.
        result = AgentError.from(thrown);
      }
      this.#agentAtWork = false;
      this.#stream = undefined;
      if (this.#phase === "over") {
        this.#context.abandoned.leave(this.owner);
        return;
      }
      const next = this.#finishTurn(result);
      if (!(next instanceof Promise ? await next : next)) return;
    }
  }

  #take(step: Progress | Relayed | string): void {
    const { ids } = this.#context;
    if (!(step instanceof Relayed)) {
      this.#writer.add(progressEvent(this.#conversation, step, this.#result, ids));
      if (!(step instanceof Progress)) this.#result = { id: this.#result.id, started: true };
      return;
    }
    if (step.state !== undefined) this.#turn.save(step.state);
    for (const event of step.events) this.#writer.add(relayedEvent(this.#conversation, event, ids));
    if (step.state !== undefined) this.#writer.keep(step.state);
  }

  /** True if another turn follows. */
  #finishTurn(result: Result | AgentError): Awaitable<boolean> {
    this.#phase = "ending";
    this.#turn.end();
    const end = this.#endOf(result);
    const written = this.#writer.end(end.events, this.#turn.saved, !end.final);
    return written instanceof Promise ? written.then((then) => this.#turnWritten(then, end)) : this.#turnWritten(written, end);
  }

  #turnWritten(written: WriteResult, end: TurnEnd): Awaitable<boolean> {
    if (!written.ok && written.because === "queued") return this.#nextTurn(end);
    const fault = written.ok ? undefined : faultOf(written.because);
    if (fault !== undefined) return this.#close("failed", fault);
    if (!written.ok || !written.cancelRequested) return this.#turnStands(written.ok, end);
    return this.#wasCanceled().then((canceled) => this.#turnStands(!canceled, end));
  }

  #turnStands(stands: boolean, end: TurnEnd): false {
    this.#isOwnWork = stands && !end.final && this.#turns === 1;
    this.#finish(stands ? this.#writer.seq : undefined);
    return false;
  }

  /** An ending that cannot be stored, or is invalid, fails the task: no caller is waiting here. */
  #endOf(result: Result | AgentError): TurnEnd {
    try {
      if (result instanceof Relayed && result.state !== undefined) this.#turn.save(result.state);
      return turnEnd(this.#conversation, result, this.#result, this.#context.ids);
    } catch (thrown) {
      return turnEnd(this.#conversation, AgentError.from(thrown), this.#result, this.#context.ids);
    }
  }

  /** The turn ended before its cancel was noticed. An interrupted task is then canceled in the store. */
  async #wasCanceled(): Promise<boolean> {
    const requested = await this.#context.store.requestCancel(this.taskId, this.owner).catch(() => undefined);
    if (requested?.outcome !== "canceled") return false;
    this.#context.push?.nudge();
    return true;
  }

  async #nextTurn(withheld: TurnEnd): Promise<boolean> {
    for (const event of withheldEnd(withheld, this.#context.ids.now())) this.#writer.add(event);
    this.#phase = "working";
    this.onWritten(await this.#writer.write(this.#turn.saved));
    const stop = this.#stopRequested;
    if (stop !== undefined && !this.#isOver()) await this.#stopNow(stop.state, stop.reason);
    if (this.#isOver()) return false;
    const ask = () => this.#context.store.nextTurn(this.taskId, this.epoch, this.#turn.turn);
    const next = await Promise.resolve(retryWhileUnavailable(this.#context, ask)).catch(() => undefined);
    if (this.#isOver()) return false;
    if (next === undefined) {
      this.abandon(leaseLost());
      return false;
    }
    this.#enterTurn(next.message, next.turnState);
    return true;
  }

  #enterTurn(message: Envelope, turnState: TurnState): void {
    this.#turns += 1;
    this.#message = message;
    this.#conversation = this.#conversationAbout(message);
    this.#result = resultOf(turnState.task, turnState.turn);
    this.#turn = openTurn(this.#context, { caller: this.#start.caller, owner: this.owner }, message, turnState);
    this.#turn.joinTask(this);
    this.#limitTime();
  }

  #limitTime(): void {
    const ttlMs = ttlOf(this.#message);
    if (ttlMs !== undefined) this.#turn.expireAfter(ttlMs, (reason) => void this.stop("failed", reason));
  }

  onWritten(written: WriteResult): void {
    if (written.ok) {
      if (written.cancelRequested) void this.stop("canceled", new AgentError("cancelled", "the task was canceled"));
      return;
    }
    const fault = faultOf(written.because);
    if (fault === undefined) this.abandon(leaseLost());
    else void this.stop("failed", fault);
  }

  async #stopNow(state: "failed" | "canceled", reason: AgentError): Promise<void> {
    this.#halt(reason);
    await this.#close(state, reason);
  }

  #halt(reason: AgentError): void {
    this.#phase = "over";
    if (this.#agentAtWork) this.#context.abandoned.enter(this.owner);
    this.#turn.stop(reason);
    // Runs the agent's `finally` when the stream resumes; not awaited.
    this.#stream?.return(undefined).catch(() => undefined);
  }

  async #close(state: "failed" | "canceled", { code, message }: AgentError): Promise<false> {
    const [{ ids }, about] = [this.#context, this.#conversation];
    const event = state === "canceled" ? statusEvent(about, state, ids) : failedEvent(about, ids, { code, message });
    const written = await this.#writer.close(event);
    this.#finish(written.ok ? this.#writer.seq : undefined);
    return false;
  }

  #finish(seq: Maybe<number>): void {
    this.#phase = "over";
    if (this.#finished) return;
    this.#finished = true;
    this.#turn.end();
    this.#context.runs.remove(this);
    this.#context.leave(this.owner);
    this.#doneSeq = seq;
    for (const run of this.#whenDone ?? []) run(seq);
    this.#whenDone = undefined;
  }

  /** A method, because the compiler does not know that the phase changes during an await. */
  #isOver(): boolean {
    return this.#phase === "over";
  }

  #conversationAbout(request: Envelope): TaskConversation {
    return { agent: this.#start.agentName, request, sessionId: this.opening.contextId, taskId: this.taskId };
  }
}
