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
import { askWith, readPrompt } from "../prompts/prompts.js";
import { RedisQueue } from "../queue/redis-queue.js";
import type { Dispatch, NoteEvent, RequestEvent } from "../result/index.js";
import { CALLER } from "../result/witness.js";
import { type Attempt, BACKOFF_FACTOR, type BenchClient, ERROR_CHARS } from "./client.js";
import { asNamed, type Dispatcher, inTurn, ownQueues, sharedQueue } from "./dispatcher.js";
import { openKoineClient } from "./koine-client.js";
import { drive, WARM_UP_FROM } from "./load.js";
import { openProgramClient } from "./program-client.js";

const NS_PER_MS = 1_000_000;
/** Each decides by itself which agent gets a request. */
const DISPATCHERS: Readonly<Record<Dispatch, (agents: readonly string[], requests: Requests) => Dispatcher>> = {
  turns: inTurn,
  queue: sharedQueue,
  named: (_, { agentOf }) => asNamed(agentOf),
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
  readonly #requests: Requests;
  #queue: RedisQueue | undefined;
  #awaited: { readonly count: number; resolve(): void } | undefined;
  #isToldToEnd = true;

  private constructor(task: CallerTask, client: BenchClient, notes: NoteSender<RequestEvent | NoteEvent>) {
    this.#task = task;
    this.#client = client;
    this.#now = runClock(task.origin);
    this.#notes = notes;
    const ask = task.settings.behaviour === undefined ? undefined : QUESTIONS[task.settings.behaviour];
    this.#questions = ask?.(task);
    this.#requests = requestsOf(task, this.#questions);
    this.#dispatcher = dispatcherOf(task, this.#requests);
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
      freeze: settings.freeze.join(",") || "nothing",
      queue: settings.queue ?? "memory",
      loop: load.loop,
      concurrency: load.loop === "closed" ? load.clients : load.inFlight,
    };
  }

  async phase(phase: PhaseTask): Promise<PhaseDone> {
    const { load, seed, redis } = this.#task;
    const queue = redis === undefined ? undefined : await RedisQueue.open(redis, phase.phase);
    this.#queue = queue;
    this.#isToldToEnd = phase.untilTold !== true;
    const done = await drive(load, phase, {
      now: this.#now,
      seed,
      queue,
      mayEnd: () => this.#isToldToEnd,
      send: (seq, intended) => this.#send(seq, intended, phase.phase),
      drop: (seq, intended) => void this.#record({ seq, intended, phase: phase.phase }, { outcome: "dropped" }),
    });
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
        return await this.#record(times, { outcome: "timeout", error: "waited in the queue until its timeout" });
      const tried = await this.#try(seq, agent);
      await this.#record({ ...times, agent: tried.agent ?? agent }, tried);
    } finally {
      this.#dispatcher.release(agent);
    }
  }

  /** Sends a request, again after errors that may pass. */
  async #try(seq: number, agent: string): Promise<Tried> {
    const { retries, backoffMs, attemptTimeoutMs } = this.#task.settings;
    const payload = this.#requests.payloadOf(seq);
    const module = this.#requests.moduleOf(seq);
    let networkErrors = 0;
    for (let attempts = 1; ; attempts++) {
      const to = this.#isRing ? this.#after(agent, attempts - 1) : agent;
      const limit = attemptTimeoutMs === undefined ? undefined : AbortSignal.timeout(attemptTimeoutMs);
      const last = await this.#client.send({ seq, agent: to, payload, module, signal: limit });
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
    if (outcome === "answered" && this.#questions !== undefined) {
      const values = this.#questions.judge(seq, answer);
      this.#notes.add({ type: "note", run: this.#task.run, agent: CALLER, kind: "judged", ns: this.#now(), seq, values });
    }
  }
}

function dispatcherOf({ settings: { dispatch = "turns", freeze }, targets }: CallerTask, requests: Requests): Dispatcher {
  const agents = targets.map(({ agent }) => agent);
  return dispatch === "queue" && freeze.includes("topology") ? ownQueues(agents) : DISPATCHERS[dispatch](agents, requests);
}

/** The addressee of a request that was never sent. */
const NOBODY = "nobody";

/** What each request says, and to whom if it names somebody. */
interface Requests {
  payloadOf(seq: number): string;
  agentOf(seq: number): string;
  moduleOf(seq: number): string | undefined;
}

const OF_NOBODY = { agentOf: () => "", moduleOf: () => undefined };

/** Requests carry a question of the scenario, an entry of the queue, or text of a given length. */
function requestsOf({ entries: source, seed, settings }: CallerTask, questions: ReturnType<Questions> | undefined): Requests {
  if (questions !== undefined) return { ...OF_NOBODY, payloadOf: (seq) => numbered(seq, questions.textOf(seq)) };
  if (source === undefined) return { ...OF_NOBODY, payloadOf: (seq) => payloadOf(seed, seq, settings.payloadBytes) };
  const entries = readEntries(source);
  const prompt = source.prompt === undefined ? undefined : readPrompt(source.prompt);
  const entryOf = (seq: number) => entries[(seq % WARM_UP_FROM) % entries.length];
  return {
    payloadOf(seq) {
      const question = entryOf(seq)?.text ?? "";
      return numbered(seq, prompt === undefined ? question : askWith(prompt, question));
    },
    agentOf: (seq) => entryOf(seq)?.to ?? "",
    moduleOf: (seq) => entryOf(seq)?.module,
  };
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
