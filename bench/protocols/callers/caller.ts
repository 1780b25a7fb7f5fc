import { setTimeout as pause } from "node:timers/promises";
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
import type { Dispatch, RequestEvent } from "../result/index.js";
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
};

/** The caller of a run: generates requests, owns the retries, records what it sees. */
export class Caller {
  readonly #task: CallerTask;
  readonly #client: BenchClient;
  readonly #now: RunClock;
  readonly #notes: NoteSender<RequestEvent>;
  readonly #dispatcher: Dispatcher;
  readonly #requests: Requests;
  #queue: RedisQueue | undefined;
  #awaited: { readonly count: number; resolve(): void } | undefined;

  private constructor(task: CallerTask, client: BenchClient, notes: NoteSender<RequestEvent>) {
    this.#task = task;
    this.#client = client;
    this.#now = runClock(task.origin);
    this.#notes = notes;
    this.#requests = requestsOf(task);
    this.#dispatcher = dispatcherOf(task, this.#requests);
  }

  static async open(task: CallerTask, notes: NoteSender<RequestEvent>): Promise<Caller> {
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
    const done = await drive(load, phase, {
      now: this.#now,
      seed,
      queue,
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
      await this.#record(times, await this.#try(seq, agent));
    } finally {
      this.#dispatcher.release(agent);
    }
  }

  /** Sends a request, again after errors that may pass. */
  async #try(seq: number, agent: string): Promise<Tried> {
    const { retries, backoffMs } = this.#task.settings;
    const payload = this.#requests.payloadOf(seq);
    let networkErrors = 0;
    for (let attempts = 1; ; attempts++) {
      const last = await this.#client.send({ seq, agent, payload, module: this.#requests.moduleOf(seq) });
      const { error } = last;
      if (error?.isNetwork === true) networkErrors++;
      const tried = { attempts, networkErrors, last };
      if (error === undefined) return { outcome: "answered", ...tried };
      if (error.kind !== "transient" || attempts > retries)
        return { outcome: error.kind === "timeout" ? "timeout" : "failed", error: error.text, ...tried };
      await pause(backoffMs * BACKOFF_FACTOR ** (attempts - 1));
    }
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

/** Requests carry an entry of the queue, or text of a given length. */
function requestsOf({ entries: source, seed, settings }: CallerTask): Requests {
  if (source === undefined)
    return { payloadOf: (seq) => payloadOf(seed, seq, settings.payloadBytes), agentOf: () => "", moduleOf: () => undefined };
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
}

interface RequestTimes {
  readonly seq: number;
  readonly intended: number;
  readonly sent?: number;
  readonly phase: PhaseTask["phase"];
  readonly agent?: string;
}
