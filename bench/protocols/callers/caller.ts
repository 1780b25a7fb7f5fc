import { setTimeout as pause } from "node:timers/promises";
import type { Questions } from "../behaviours/behaviour.js";
import { QUESTIONS } from "../behaviours/questions.js";
import { type RunClock, runClock } from "../clock.js";
import { readEntries } from "../entries/read-entries.js";
import { hashOf, numbered, payloadOf } from "../payload.js";
import type { NoteSender } from "../processes/notes.js";
import {
  type CallerTask,
  type Configuration,
  type PhaseDone,
  type PhaseTask,
  protectionValues,
  sharedConfiguration,
} from "../processes/tasks.js";
import type { Dispatch, NoteEvent, RequestEvent } from "../result/index.js";
import { CALLER } from "../result/witness.js";
import { type Attempt, BACKOFF_FACTOR, type BenchClient, ERROR_CHARS } from "./client.js";
import { type Dispatcher, inTurn, sharedQueue } from "./dispatcher.js";
import { openKoineClient } from "./koine-client.js";
import { drive, WARM_UP_FROM } from "./load.js";
import { openProgramClient } from "./program-client.js";

const NS_PER_MS = 1_000_000;
/** Each decides by itself which agent gets a request. */
const DISPATCHERS: Readonly<Record<Dispatch, (agents: readonly string[]) => Dispatcher>> = {
  turns: inTurn,
  queue: sharedQueue,
  ring: inTurn,
};

/** The caller of a run: generates requests, owns the retries, records what it sees. */
export class Caller {
  readonly #task: CallerTask;
  readonly #client: BenchClient;
  readonly #now: RunClock;
  readonly #notes: NoteSender<RequestEvent | NoteEvent>;
  readonly #dispatcher: Dispatcher;
  readonly #questions: ReturnType<Questions> | undefined;
  readonly #payload: (seq: number) => string;
  #isToldToEnd = true;

  private constructor(task: CallerTask, client: BenchClient, notes: NoteSender<RequestEvent | NoteEvent>) {
    this.#task = task;
    this.#client = client;
    this.#now = runClock(task.origin);
    this.#notes = notes;
    this.#dispatcher = DISPATCHERS[task.settings.dispatch ?? "turns"](task.targets.map(({ agent }) => agent));
    const ask = task.settings.behaviour === undefined ? undefined : QUESTIONS[task.settings.behaviour];
    this.#questions = ask?.(task);
    this.#payload = payloadsOf(task, this.#questions);
  }

  static async open(task: CallerTask, notes: NoteSender<RequestEvent | NoteEvent>): Promise<Caller> {
    const now = runClock(task.origin);
    const { program } = task;
    const client = await (program === undefined ? openKoineClient(task, now) : openProgramClient(task, program));
    return new Caller(task, client, notes);
  }

  get configuration(): Configuration {
    const { load, arm, settings } = this.#task;
    return {
      ...sharedConfiguration(this.#task),
      ...this.#client.limits,
      ...protectionValues(this.#client.protection),
      "plug-in.protocol": arm.protocol,
      "plug-in.implementation": arm.implementation,
      "plug-in.features": arm.features,
      dispatch: settings.dispatch ?? "turns",
      loop: load.loop,
      concurrency: load.loop === "closed" ? load.clients : load.inFlight,
    };
  }

  async phase(phase: PhaseTask): Promise<PhaseDone> {
    const { load, seed } = this.#task;
    this.#isToldToEnd = phase.untilTold !== true;
    return drive(load, phase, {
      now: this.#now,
      seed,
      mayEnd: () => this.#isToldToEnd,
      send: (seq, intended) => this.#send(seq, intended, phase.phase),
      drop: (seq, intended) => this.#record({ seq, intended, phase: phase.phase }, { outcome: "dropped" }),
    });
  }

  /** Lets a phase end that lasts until it is told. */
  endPhase(): void {
    this.#isToldToEnd = true;
  }

  close(): Promise<void> {
    return this.#client.close();
  }

  async #send(seq: number, intended: number | undefined, phase: PhaseTask["phase"]): Promise<void> {
    const agent = await this.#dispatcher.take(seq);
    try {
      const sent = this.#now();
      const times = { seq, intended: intended ?? sent, sent, phase, agent };
      // It waited so long that its caller would have given up: nobody would read the answer.
      if (sent - times.intended >= this.#task.settings.messageTimeoutMs * NS_PER_MS)
        return this.#record(times, { outcome: "timeout", error: "waited in the queue until its timeout" });
      const tried = await this.#try(seq, agent);
      this.#record({ ...times, agent: tried.agent ?? agent }, tried);
    } finally {
      this.#dispatcher.release(agent);
    }
  }

  /** Sends a request, again after errors that may pass. */
  async #try(seq: number, agent: string): Promise<Tried> {
    const { retries, backoffMs, attemptTimeoutMs } = this.#task.settings;
    const payload = this.#payload(seq);
    let networkErrors = 0;
    for (let attempts = 1; ; attempts++) {
      const to = this.#isRing ? this.#after(agent, attempts - 1) : agent;
      const limit = attemptTimeoutMs === undefined ? undefined : AbortSignal.timeout(attemptTimeoutMs);
      const last = await this.#client.send({ seq, agent: to, payload, signal: limit });
      const { error } = last;
      if (error?.isNetwork === true) networkErrors++;
      const tried = { attempts, networkErrors, last, agent: to };
      if (error === undefined) return { outcome: "answered", ...tried };
      const mayPass = error.kind === "transient" || limit?.aborted === true;
      if (!mayPass || attempts > retries)
        return {
          outcome: error.kind === "timeout" || limit?.aborted === true ? "timeout" : "failed",
          error: error.text,
          ...tried,
        };
      // Another agent need not be waited for.
      if (!this.#isRing) await pause(backoffMs * BACKOFF_FACTOR ** (attempts - 1));
    }
  }

  get #isRing(): boolean {
    return this.#task.settings.dispatch === "ring";
  }

  /** The agent so many places further in the ring. */
  #after(agent: string, places: number): string {
    const { targets } = this.#task;
    const at = targets.findIndex((each) => each.agent === agent);
    return targets[(at + places) % targets.length]?.agent ?? agent;
  }

  #record(
    { seq, intended, sent = intended, phase, agent = NOBODY }: RequestTimes,
    { outcome, error, attempts = 0, networkErrors = 0, last }: Tried,
  ): void {
    const payload = this.#payload(seq);
    const { answer = "" } = last ?? {};
    this.#notes.add({
      type: "request",
      run: this.#task.run,
      seq,
      phase,
      to: agent,
      outcome,
      ...(error === undefined ? {} : { error: error.slice(0, ERROR_CHARS) }),
      attempts,
      ...(networkErrors === 0 ? {} : { networkErrors }),
      stamps: { intended, send: sent, ...last?.stamps, done: last?.done ?? this.#now() },
      payloadBytes: Buffer.byteLength(payload),
      answerBytes: Buffer.byteLength(answer),
      ...(last?.bodyBytes === undefined ? {} : { bodyBytes: last.bodyBytes }),
      streamEvents: last?.streamEvents ?? 0,
      payloadHash: hashOf(payload),
      ...(outcome === "answered" ? { answerHash: hashOf(answer) } : {}),
    });
    if (outcome === "answered" && this.#questions !== undefined) {
      const values = this.#questions.judge(seq, answer);
      this.#notes.add({ type: "note", run: this.#task.run, agent: CALLER, kind: "judged", ns: this.#now(), seq, values });
    }
  }
}

/** The addressee of a request that was never sent. */
const NOBODY = "nobody";

/** The payload of each request: a question of the scenario, an entry of the queue, or text of a given length. */
function payloadsOf(
  { entries: source, seed, settings }: CallerTask,
  questions: ReturnType<Questions> | undefined,
): (seq: number) => string {
  if (questions !== undefined) return (seq) => numbered(seq, questions.textOf(seq));
  if (source === undefined) return (seq) => payloadOf(seed, seq, settings.payloadBytes);
  const entries = readEntries(source);
  return (seq) => numbered(seq, entries[(seq % WARM_UP_FROM) % entries.length]?.text ?? "");
}

/** How a request ended. */
interface Tried {
  readonly outcome: RequestEvent["outcome"];
  readonly error?: string;
  readonly attempts?: number;
  readonly networkErrors?: number;
  readonly last?: Attempt;
  /** The agent of the last attempt. */
  readonly agent?: string;
}

interface RequestTimes {
  readonly seq: number;
  readonly intended: number;
  readonly sent?: number;
  readonly phase: PhaseTask["phase"];
  readonly agent?: string;
}
