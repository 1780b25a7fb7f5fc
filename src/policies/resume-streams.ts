import {
  AgentError,
  type AgentEvent,
  type Call,
  type Handler,
  isPromise,
  isTerminal,
  type Layer,
  type Maybe,
  type Operation,
  type ReadyIterator,
  type State,
  TAKE_READY,
} from "../envelope/index.js";
import type { Clock } from "./clock.js";
import { DONE, stopIterator } from "./replies/iterators.js";
import { iteratorOf, wantsStream } from "./replies/shape.js";
import { stateIn, taskIdIn } from "./task-id.js";

export interface ResumeOptions {
  /** Whether the peer can resume a stream from a cursor. Without it an interrupted stream stays interrupted. */
  canResume(): boolean;
  readonly clock: Clock;
  /** A number from 0 up to 1, for jitter. */
  readonly random: () => number;
  /** Consecutive attempts without a new event. */
  readonly tries?: Maybe<number>;
  readonly firstWaitMs?: Maybe<number>;
  readonly longestWaitMs?: Maybe<number>;
}

const TRIES = 8;
const FIRST_WAIT_MS = 100;
const LONGEST_WAIT_MS = 5_000;

/**
 * Resumes an interrupted stream after the last event received, by subscribing to its task. Nothing is sent twice, nothing is
 * missed, and duplicates are dropped.
 */
export function resumeStreams(options: ResumeOptions): Layer {
  return (next) =>
    function resumed(operation, call) {
      const reply = next(operation, call);
      return wantsStream(operation) && !isPromise(reply) ? new ResumedStream(options, next, operation, call, reply) : reply;
    };
}

class ResumedStream implements AsyncIterableIterator<AgentEvent> {
  readonly #options: ResumeOptions;
  readonly #handler: Handler;
  readonly #operation: Operation;
  readonly #call: Call;
  #source: ReadyIterator<AgentEvent>;
  #taskId: Maybe<string>;
  /** The last cursor received, and the same if it is the position right after the last event. */
  #mark: AgentEvent["cursor"];
  #after: AgentEvent["cursor"];
  /** Until the first event of a resumed stream. */
  #takenUp = false;
  /** What ended the source while ready events were taken; the next pull resumes. */
  #cut: Maybe<{ readonly thrown: unknown }>;
  #failures = 0;
  #over = false;

  // biome-ignore lint/complexity/useMaxParams: made in one place, once per stream
  constructor(options: ResumeOptions, handler: Handler, operation: Operation, call: Call, first: AsyncIterable<AgentEvent>) {
    this.#options = options;
    this.#handler = handler;
    this.#operation = operation;
    this.#call = call;
    this.#source = first[Symbol.asyncIterator]();
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<AgentEvent>> {
    while (!this.#over) {
      try {
        const cut = this.#cut;
        this.#cut = undefined;
        if (cut !== undefined) throw cut.thrown;
        const step = await this.#source.next();
        if (this.#over) return DONE;
        if (step.done === true) return this.#end();
        if (this.#isRepeat(step.value)) continue;
        this.#note(step.value);
        return step;
      } catch (thrown) {
        if (this.#over) return DONE;
        await this.#takeUp(thrown);
      }
    }
    return DONE;
  }

  [TAKE_READY](): AgentEvent | undefined {
    // The first event of a resumed stream may be a repeat, which `next` drops.
    if (this.#over || this.#takenUp || this.#cut !== undefined) return undefined;
    try {
      const event = this.#source[TAKE_READY]?.();
      if (event !== undefined) this.#note(event);
      return event;
    } catch (thrown) {
      this.#cut = { thrown };
      return undefined;
    }
  }

  async return(): Promise<IteratorResult<AgentEvent>> {
    if (!this.#over) stopIterator(this.#source);
    return this.#end();
  }

  #end(): IteratorResult<AgentEvent> {
    this.#over = true;
    return DONE;
  }

  /** A resumed stream starts with a snapshot at the cursor, which its reader already has. */
  #isRepeat({ cursor }: AgentEvent): boolean {
    const isFirst = this.#takenUp;
    this.#takenUp = false;
    return isFirst && cursor === this.#after;
  }

  #note(event: AgentEvent): void {
    const { cursor } = event;
    // An event without a cursor of its own, or with the previous one, would be delivered twice.
    this.#after = cursor === this.#mark ? undefined : cursor;
    if (this.#after !== undefined) this.#failures = 0;
    this.#mark = cursor ?? this.#mark;
    this.#taskId = taskIdIn(event) ?? this.#taskId;
    const state = stateIn(event);
    if (state === undefined || !this.#endsAt(state)) return;
    // A subscription would continue where the stream of a send ends.
    stopIterator(this.#source);
    this.#over = true;
  }

  #endsAt(state: State): boolean {
    return isTerminal(state) || (this.#operation.kind === "send" && state === "input-required");
  }

  /** Throws the original error if the stream cannot be resumed. */
  async #takeUp(thrown: unknown): Promise<void> {
    const { clock, random, tries = TRIES, firstWaitMs = FIRST_WAIT_MS, longestWaitMs = LONGEST_WAIT_MS } = this.#options;
    const [taskId, after] = [this.#taskId, this.#after];
    if (taskId === undefined || after === undefined || !wasCut(thrown) || !this.#options.canResume() || this.#failures >= tries) {
      this.#over = true;
      throw thrown;
    }
    stopIterator(this.#source);
    const waitMs = Math.min(firstWaitMs * 2 ** this.#failures, longestWaitMs);
    this.#failures += 1;
    try {
      await clock.sleep(waitMs * (0.5 + random() / 2), this.#call.cancel);
      if (this.#over) return; // its reader left in the meantime
      this.#source = iteratorOf(this.#handler({ kind: "task.subscribe", taskId, after, follow: true }, this.#call));
      this.#takenUp = true;
    } catch (stopped) {
      if (this.#over) return;
      this.#over = true;
      throw stopped;
    }
  }
}

/** The connection or the peer is gone. An error answer is an answer. */
function wasCut(thrown: unknown): boolean {
  const { code } = AgentError.from(thrown);
  return code === "interrupted" || code === "unavailable";
}
