import { setTimeout as pause } from "node:timers/promises";
import type { Questions } from "../behaviours/behaviour.js";
import { QUESTIONS } from "../behaviours/questions.js";
import { type RunClock, runClock } from "../clock.js";
import { hashOf } from "../payload.js";
import type { NoteSender } from "../processes/notes.js";
import {
  type CallerTask,
  type Configuration,
  type PhaseDone,
  type PhaseTask,
  protectionValues,
  sharedConfiguration,
} from "../processes/tasks.js";
import { RedisQueue } from "../queue/redis-queue.js";
import type { NoteEvent, RequestEvent } from "../result/index.js";
import { CALLER } from "../result/witness.js";
import { AnswerBook } from "./answer-book.js";
import { type Attempt, BACKOFF_FACTOR, type BenchClient, ERROR_CHARS } from "./client.js";
import { type Dispatcher, dispatcherOf } from "./dispatcher.js";
import { openKoineClient } from "./koine-client.js";
import { drive, WARM_UP_FROM } from "./load.js";
import { type AskedAttempt, OpenAttempts } from "./open-attempts.js";
import { probeUntilRight } from "./probe.js";
import { openProgramClient } from "./program-client.js";
import { type Requests, requestsOf } from "./requests.js";

const NS_PER_MS = 1_000_000;
/** Numbers of probes are those of measured questions and so many times those of a phase more. */
const FIRST_PROBE = 2;
/** An attempt that took longer than one may. */
const LATE = { text: "no answer within the time of an attempt", kind: "timeout", isNetwork: false } as const;
/** The caller of a run: generates requests, owns the retries, records what it sees. */
export class Caller {
  readonly #task: CallerTask;
  readonly #client: BenchClient;
  readonly #now: RunClock;
  readonly #notes: NoteSender<RequestEvent | NoteEvent>;
  readonly #dispatcher: Dispatcher;
  readonly #questions: ReturnType<Questions> | undefined;
  readonly #requests: Requests;
  readonly #book: AnswerBook;
  readonly #probed = new Set<string>();
  #nextProbe = FIRST_PROBE;
  /** Attempts of requests that have ended. */
  readonly #hearing = new Set<Promise<void>>();
  /** Ends probes with their phase. */
  #ending = new AbortController();
  #queue: RedisQueue | undefined;
  #awaited: { readonly count: number; resolve(): void } | undefined;
  #isToldToEnd = true;

  private constructor(task: CallerTask, client: BenchClient, notes: NoteSender<RequestEvent | NoteEvent>, book: AnswerBook) {
    this.#task = task;
    this.#book = book;
    this.#client = client;
    this.#now = runClock(task.origin);
    this.#notes = notes;
    const ask = task.settings.behaviour === undefined ? undefined : QUESTIONS[task.settings.behaviour];
    this.#questions = ask?.(task);
    this.#requests = requestsOf(task, this.#questions);
    this.#dispatcher = dispatcherOf(task, this.#requests);
  }

  /** `book`: what decides whether an answer is counted. */
  static async open(
    task: CallerTask,
    notes: NoteSender<RequestEvent | NoteEvent>,
    book: AnswerBook = new AnswerBook(),
  ): Promise<Caller> {
    const now = runClock(task.origin);
    const { program } = task;
    const client = await (program === undefined ? openKoineClient(task, now) : openProgramClient(task, program));
    return new Caller(task, client, notes, book);
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
      freeze: settings.freeze.join(",") || "nothing",
      queue: settings.queue ?? "memory",
      loop: load.loop,
      concurrency: load.loop === "closed" ? load.clients : load.inFlight,
    };
  }

  async phase(phase: PhaseTask): Promise<PhaseDone> {
    const { load, seed, redis, settings } = this.#task;
    const queue = redis === undefined ? undefined : await RedisQueue.open(redis, phase.phase);
    this.#queue = queue;
    this.#isToldToEnd = phase.untilTold !== true;
    this.#ending = new AbortController();
    this.#book.begin();
    const done = await drive(load, phase, {
      now: this.#now,
      seed,
      queue,
      batch: settings.batch,
      mayEnd: () => this.#isToldToEnd,
      send: (seq, intended) => this.#send(seq, intended, phase.phase),
      drop: (seq, intended) => void this.#record({ seq, intended, phase: phase.phase }, { outcome: "dropped" }),
    });
    this.#ending.abort();
    // Each ends within the time of a message.
    await Promise.all(this.#hearing);
    // What earlier coordinators recorded is part of it.
    if (queue !== undefined) for await (const event of queue.events()) this.#notes.add(event);
    queue?.close();
    return done;
  }

  /** Resolves when so many entries of the queue are recorded. */
  whenRecorded(count: number): Promise<void> {
    return new Promise((resolve) => {
      this.#awaited = { count, resolve };
    });
  }

  /** Lets a phase end that lasts until it is told. */
  endPhase(): void {
    this.#isToldToEnd = true;
  }

  /** Asks an agent that is coming back until it answers right. Not where a model would have to be asked for each. */
  async probe(agent: string): Promise<void> {
    const { settings, targets, run } = this.#task;
    const questions = this.#questions;
    const at = targets.findIndex((each) => each.agent === agent);
    if (questions?.heldBy === undefined || at < 0 || settings.model === "live" || settings.model === "recorded") return;
    const held = questions.heldBy(at);
    if (held.length === 0 || this.#probed.has(agent)) return;
    this.#probed.add(agent);
    await probeUntilRight({
      now: this.#now,
      signal: this.#ending.signal,
      ask: async (probe, signal) => {
        // A number of its own, so that no journal has the answer already.
        const seq = this.#nextProbe++ * WARM_UP_FROM + (held[probe % held.length] ?? 0);
        const attempt = await this.#client.send({ seq, agent, payload: this.#requests.payloadOf(seq), signal });
        const isRight = attempt.error === undefined && questions.judge(seq, attempt.answer ?? "")["right"] === true;
        return { attempt, isRight };
      },
      note: (ns, values) => this.#notes.add({ type: "note", run, agent: CALLER, kind: "probe", about: agent, ns, values }),
    }).finally(() => this.#probed.delete(agent));
  }

  close(): Promise<void> {
    return this.#client.close();
  }

  async #send(seq: number, intended: number | undefined, phase: PhaseTask["phase"]): Promise<void> {
    const agent = await this.#dispatcher.take(seq);
    try {
      const sent = this.#now();
      const times = { seq, intended: intended ?? sent, sent, phase, agent };
      const { messageTimeoutMs, answerLimitMs } = this.#task.settings;
      const waitedMs = (sent - times.intended) / NS_PER_MS;
      // It waited so long that its caller would have given up: nobody would read the answer.
      if (waitedMs >= (answerLimitMs ?? messageTimeoutMs))
        return await this.#record(times, { outcome: "timeout", error: "waited in the queue until its timeout" });
      const whole = answerLimitMs === undefined ? undefined : AbortSignal.timeout(Math.ceil(answerLimitMs - waitedMs));
      const tried = await this.#try(seq, agent, whole);
      await this.#record({ ...times, agent: tried.agent ?? agent }, tried);
    } finally {
      this.#dispatcher.release(agent);
    }
  }

  /** Sends a request, again after errors that may pass, until `whole` ends it. */
  async #try(seq: number, agent: string, whole: AbortSignal | undefined): Promise<Tried> {
    const { retries, backoffMs, attemptTimeoutMs } = this.#task.settings;
    const open = new OpenAttempts();
    let networkErrors = 0;
    for (let attempts = 1; ; attempts++) {
      const to = this.#isRing ? this.#after(agent, attempts - 1) : agent;
      const ended = await open.next(this.#ask(seq, to, whole), attemptTimeoutMs);
      const error = ended === undefined ? LATE : ended.last.error;
      if (error?.isNetwork === true) networkErrors++;
      const tried = { attempts, networkErrors, last: ended?.last, agent: ended?.agent ?? to };
      const isOver = error === undefined || error.kind === "final" || (error.kind === "timeout" && error !== LATE);
      if (!isOver && whole?.aborted !== true && attempts <= retries) {
        // Another agent need not be waited for.
        if (!this.#isRing) await pause(backoffMs * BACKOFF_FACTOR ** (attempts - 1));
        continue;
      }
      const hearing = open.afterwards(ended, (later) => this.#arrivedLate(seq, later));
      this.#hearing.add(hearing);
      void hearing.then(() => this.#hearing.delete(hearing));
      if (error === undefined) return { outcome: "answered", ...tried };
      const isLate = error.kind === "timeout" || whole?.aborted === true;
      return { outcome: isLate ? "timeout" : "failed", error: error.text, ...tried };
    }
  }

  async #ask(seq: number, agent: string, signal: AbortSignal | undefined): Promise<AskedAttempt> {
    const { payloadOf, moduleOf } = this.#requests;
    const last = await this.#client.send({ seq, agent, payload: payloadOf(seq), module: moduleOf(seq), signal });
    return { last, agent };
  }

  /** An answer to a request that has ended. */
  #arrivedLate(seq: number, { last, agent }: AskedAttempt): void {
    this.#count(seq, agent, last.answer ?? "");
  }

  /** Judges the first answer to a question; another one is discarded, and noted. */
  #count(seq: number, agent: string, answer: string): void {
    if (this.#questions === undefined) return;
    const note = { type: "note", run: this.#task.run, agent: CALLER, ns: this.#now(), seq } as const;
    if (this.#book.settle(seq)) this.#notes.add({ ...note, kind: "judged", values: this.#questions.judge(seq, answer) });
    else this.#notes.add({ ...note, kind: "discarded", about: agent, values: {} });
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

  async #record(
    { seq, intended, sent = intended, phase, agent = NOBODY }: RequestTimes,
    { outcome, error, attempts = 0, networkErrors = 0, last }: Tried,
  ): Promise<void> {
    const payload = this.#requests.payloadOf(seq);
    const { answer = "" } = last ?? {};
    const event: RequestEvent = {
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
    };
    if (this.#queue === undefined) this.#notes.add(event);
    else if ((await this.#queue.settle(event)) >= (this.#awaited?.count ?? Number.POSITIVE_INFINITY)) this.#awaited?.resolve();
    if (outcome === "answered") this.#count(seq, agent, answer);
    // Given up: what still arrives comes too late to count.
    else this.#book.settle(seq);
  }
}

/** The addressee of a request that was never sent. */
const NOBODY = "nobody";

/** How a request ended. */
interface Tried {
  readonly outcome: RequestEvent["outcome"];
  readonly error?: string;
  readonly attempts?: number;
  readonly networkErrors?: number;
  readonly last?: Attempt | undefined;
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
