import { AgentError, type Envelope, type Maybe, partsOf, type Task } from "../envelope/index.js";
import { type AgentStream, isStream, Progress, Relayed, type Result } from "./agent-function.js";
import { faultOf, JournalWriter, type Written } from "./journal-writer.js";
import { InboundMessage } from "./messages.js";
import { openTurn } from "./open-turn.js";
import { cursorExpired } from "./refusals.js";
import { retryWhileAway } from "./retry-delay.js";
import type { Running, RuntimeAgent, RuntimeContext } from "./runtime-context.js";
import type { Turned } from "./store.js";
import { type Turn, type TurnTask, ttlOf } from "./turn.js";
import {
  artifactEvent,
  failedEvent,
  type ResultArtifact,
  relayedEvent,
  resultOf,
  statusEvent,
  type TaskTalk,
  type TurnEnd,
  turnEnd,
  withheldEnd,
} from "./turn-events.js";

/** A task in the hands of this process, and the message its first turn hears. */
export interface RunStart {
  readonly task: Task;
  readonly owner: string;
  readonly caller: string;
  readonly agentName: string;
  readonly agent: RuntimeAgent;
  readonly epoch: number;
  readonly seq: number;
  readonly message: Envelope;
}

/** What an agent had begun before its exchange became a task. */
export interface Begun {
  readonly stream: AgentStream;
  readonly first: Progress | Relayed | string;
}

/** One holder's work on one task: turn after turn until nobody waits to be heard, or until it is stopped. */
export class Run implements Running, TurnTask {
  readonly taskId: string;
  readonly owner: string;
  readonly restartable: boolean;
  /** The task as it stood when this run began. */
  readonly opening: Task;
  readonly openingSeq: number;
  readonly done: Promise<Maybe<number>>;
  /** The task as this run left it, where nobody else can have added to it; else the store knows. */
  outcome: Maybe<Task>;
  readonly #place: RuntimeContext;
  readonly #start: RunStart;
  readonly #writer: JournalWriter;
  #turn: Turn;
  #talk: TaskTalk;
  #message: Envelope;
  #stream: AgentStream | undefined;
  #result: ResultArtifact;
  /** `ending`: the last entries of a turn are being written. `over`: what the agent still says is refused. */
  #phase: "working" | "ending" | "over" = "working";
  #stopAsked: { readonly state: "failed" | "canceled"; readonly reason: AgentError } | undefined;
  #turns = 1;
  #agentAtWork = false;
  #finished = false;
  #settle: (seq: Maybe<number>) => void = () => undefined;

  /** The place must have been entered for the owner; the run leaves it at its end. */
  constructor(place: RuntimeContext, start: RunStart, turn: Turn) {
    const { task, owner, epoch, seq, message } = start;
    this.#place = place;
    this.#start = start;
    this.taskId = task.id;
    this.owner = owner;
    this.opening = task;
    this.openingSeq = seq;
    this.restartable = start.agent.restartable === true;
    this.done = new Promise((resolve) => {
      this.#settle = resolve;
    });
    this.#writer = new JournalWriter(place, { taskId: task.id, owner, epoch, seq }, (written) => this.#heed(written));
    this.#message = message;
    this.#talk = this.#talkOver(message);
    this.#turn = turn;
    this.#result = resultOf(task, turn.turn);
    turn.joinTask(this);
    place.runs.set(task.id, this);
  }

  get epoch(): number {
    return this.#writer.epoch;
  }

  /** Calls the agent. */
  begin(): void {
    this.#limitTime();
    void this.#work(undefined);
  }

  /** Goes on with what the agent has begun; its time is limited already. */
  continueWith(begun: Begun): void {
    void this.#work(begun);
  }

  /** The agent is done already. */
  endWith(result: Result): void {
    void this.#finishTurn(result).then((next) => (next ? this.#work(undefined) : undefined));
  }

  async snapshot(): Promise<Maybe<Task>> {
    this.#heed(await this.#writer.write());
    return (await this.#place.store.snapshot(this.taskId, this.owner))?.task;
  }

  async stop(state: "failed" | "canceled", reason: AgentError): Promise<void> {
    if (this.#phase === "working") await this.#stopNow(state, reason);
    else if (this.#phase === "ending") this.#stopAsked ??= { state, reason };
    await this.done;
  }

  abandon(reason: AgentError): void {
    if (this.#phase === "over") return;
    this.#halt(reason);
    this.#finish(undefined);
  }

  async #work(begun: Maybe<Begun>): Promise<void> {
    let from = begun;
    for (;;) {
      this.#agentAtWork = true;
      const result = await this.#outcome(from);
      this.#agentAtWork = false;
      this.#stream = undefined;
      from = undefined;
      if (this.#phase === "over") {
        this.#place.abandoned -= 1;
        return;
      }
      if (!(await this.#finishTurn(result))) return;
    }
  }

  /** What the agent returns, or what it threw as one of ours: the words of a foreign error stay inside. */
  async #outcome(begun: Maybe<Begun>): Promise<Result | AgentError> {
    try {
      const output = begun?.stream ?? this.#start.agent.handle(new InboundMessage(this.#message), this.#turn);
      return isStream(output) ? await this.#pull(output, begun) : await output;
    } catch (thrown) {
      return AgentError.from(thrown);
    }
  }

  async #pull(stream: AgentStream, begun: Maybe<Begun>): Promise<Result> {
    this.#stream = stream;
    if (begun !== undefined) this.#take(begun.first);
    for (;;) {
      const step = await stream.next();
      if (this.#phase === "over") return undefined;
      if (step.done === true) return step.value;
      this.#take(step.value);
      if (this.#writer.isFull) this.#heed(await this.#writer.drain());
    }
  }

  #take(step: Progress | Relayed | string): void {
    const { ids } = this.#place;
    if (step instanceof Relayed) {
      if (step.state !== undefined) this.#turn.save(step.state);
      for (const event of step.events) this.#writer.add(relayedEvent(this.#talk, event, ids));
      if (step.state !== undefined) this.#writer.keep(step.state);
    } else if (!(step instanceof Progress)) {
      this.#writer.add(artifactEvent(this.#talk, this.#result.id, partsOf(step), { append: this.#result.started }));
      this.#result = { id: this.#result.id, started: true };
    } else if (step.step === "working") {
      this.#writer.add(statusEvent(this.#talk, "working", ids, { content: step.content, metadata: step.options.metadata }));
    } else {
      this.#writer.add(artifactEvent(this.#talk, step.options.id ?? ids.newId(), partsOf(step.content ?? []), step.options));
    }
  }

  /** True when another turn has to follow. */
  async #finishTurn(result: Result | AgentError): Promise<boolean> {
    this.#phase = "ending";
    this.#turn.end();
    const end = this.#endOf(result);
    const written = await this.#writer.end(end.events, this.#turn.saved, !end.final);
    if (!written.ok && written.because === "heard") return this.#nextTurn(end);
    const fault = written.ok ? undefined : faultOf(written.because);
    if (fault !== undefined) return this.#close("failed", fault);
    const stands = written.ok && !(written.cancelRequested && (await this.#wasCanceled()));
    if (stands && !end.final && this.#turns === 1) this.outcome = this.#writer.addedTo(this.opening);
    this.#finish(stands ? this.#writer.seq : undefined);
    return false;
  }

  /** An ending that cannot be kept, or is none, is the failure of its task: nobody waits here who could be told. */
  #endOf(result: Result | AgentError): TurnEnd {
    try {
      if (result instanceof Relayed && result.state !== undefined) this.#turn.save(result.state);
      return turnEnd(this.#talk, result, this.#result, this.#place.ids);
    } catch (thrown) {
      return turnEnd(this.#talk, AgentError.from(thrown), this.#result, this.#place.ids);
    }
  }

  /** The turn ended before its cancel was heard of. A question is nothing to wait for then: the task is canceled where it rests. */
  async #wasCanceled(): Promise<boolean> {
    const { store, push } = this.#place;
    const asked = await store.requestCancel(this.taskId, this.owner).catch(() => undefined);
    if (asked?.outcome !== "canceled") return false;
    push?.nudge();
    return true;
  }

  async #nextTurn(withheld: TurnEnd): Promise<boolean> {
    for (const event of withheldEnd(withheld, this.#place.ids.now())) this.#writer.add(event);
    this.#phase = "working";
    this.#heed(await this.#writer.write(this.#turn.saved));
    if (this.#stopAsked !== undefined && !this.#isOver()) await this.#stopNow(this.#stopAsked.state, this.#stopAsked.reason);
    if (this.#isOver()) return false;
    const { store } = this.#place;
    const asking = retryWhileAway(this.#place, () => store.nextTurn(this.taskId, this.epoch, this.#turn.turn));
    const next = await asking.catch(() => undefined);
    if (this.#isOver()) return false;
    if (next === undefined) {
      this.abandon(cursorExpired());
      return false;
    }
    this.#enterTurn(next.message, next.turned);
    return true;
  }

  #enterTurn(message: Envelope, turned: Turned): void {
    this.#turns += 1;
    this.#message = message;
    this.#talk = this.#talkOver(message);
    this.#result = resultOf(turned.task, turned.turn);
    this.#turn = openTurn(this.#place, { caller: this.#start.caller, owner: this.owner }, message, turned);
    this.#turn.joinTask(this);
    this.#limitTime();
  }

  #limitTime(): void {
    const ttlMs = ttlOf(this.#message);
    if (ttlMs !== undefined) this.#turn.expireAfter(ttlMs, (reason) => void this.stop("failed", reason));
  }

  #heed(written: Written): void {
    if (written.ok) {
      if (written.cancelRequested) void this.stop("canceled", new AgentError("cancelled", "the task was canceled"));
      return;
    }
    const fault = faultOf(written.because);
    if (fault === undefined) this.abandon(cursorExpired());
    else void this.stop("failed", fault);
  }

  async #stopNow(state: "failed" | "canceled", reason: AgentError): Promise<void> {
    this.#halt(reason);
    await this.#close(state, reason);
  }

  /** From here on the agent's output is refused, whatever it does. */
  #halt(reason: AgentError): void {
    this.#phase = "over";
    if (this.#agentAtWork) this.#place.abandoned += 1;
    this.#turn.stop(reason);
    // Runs the agent's `finally` as soon as it can be reached; nobody waits for it.
    this.#stream?.return(undefined).catch(() => undefined);
  }

  async #close(state: "failed" | "canceled", reason: AgentError): Promise<false> {
    const { ids } = this.#place;
    const { code, message } = reason;
    const event = state === "canceled" ? statusEvent(this.#talk, state, ids) : failedEvent(this.#talk, ids, { code, message });
    const written = await this.#writer.close(event);
    this.#finish(written.ok ? this.#writer.seq : undefined);
    return false;
  }

  #finish(seq: Maybe<number>): void {
    this.#phase = "over";
    if (this.#finished) return;
    this.#finished = true;
    this.#turn.end();
    if (this.#place.runs.get(this.taskId) === this) this.#place.runs.delete(this.taskId);
    this.#place.leave(this.owner);
    this.#settle(seq);
  }

  /** A method, because the compiler does not know that the phase changes while we wait. */
  #isOver(): boolean {
    return this.#phase === "over";
  }

  #talkOver(heard: Envelope): TaskTalk {
    return { agent: this.#start.agentName, heard, sessionId: this.opening.contextId, taskId: this.taskId };
  }
}
