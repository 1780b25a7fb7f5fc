import { setTimeout as pause } from "node:timers/promises";
import { type RunClock, runClock } from "../clock.js";
import { hashOf, payloadOf } from "../payload.js";
import type { NoteSender } from "../processes/notes.js";
import {
  type CallerTask,
  type Configuration,
  type PhaseDone,
  type PhaseTask,
  protectionValues,
  sharedConfiguration,
} from "../processes/tasks.js";
import type { RequestEvent } from "../result/index.js";
import type { Attempt, BenchClient } from "./client.js";
import { openKoineClient } from "./koine-client.js";
import { drive } from "./load.js";
import { openProgramClient } from "./program-client.js";

/** The longest text of an error that is kept. */
const ERROR_CHARS = 300;
const BACKOFF_FACTOR = 2;

/** The caller of a run: generates requests, owns the retries, records what it sees. */
export class Caller {
  readonly #task: CallerTask;
  readonly #client: BenchClient;
  readonly #now: RunClock;
  readonly #notes: NoteSender<RequestEvent>;

  private constructor(task: CallerTask, client: BenchClient, notes: NoteSender<RequestEvent>) {
    this.#task = task;
    this.#client = client;
    this.#now = runClock(task.origin);
    this.#notes = notes;
  }

  static async open(task: CallerTask, notes: NoteSender<RequestEvent>): Promise<Caller> {
    const now = runClock(task.origin);
    const { program } = task;
    const client = await (program === undefined ? openKoineClient(task, now) : openProgramClient(task, program));
    return new Caller(task, client, notes);
  }

  get configuration(): Configuration {
    const { load, arm } = this.#task;
    return {
      ...sharedConfiguration(this.#task),
      ...this.#client.limits,
      ...protectionValues(this.#client.protection),
      "plug-in.protocol": arm.protocol,
      "plug-in.implementation": arm.implementation,
      "plug-in.features": arm.features,
      loop: load.loop,
      concurrency: load.loop === "closed" ? load.clients : load.inFlight,
    };
  }

  async phase(phase: PhaseTask): Promise<PhaseDone> {
    const { load, seed } = this.#task;
    return drive(load, phase, {
      now: this.#now,
      seed,
      send: (seq, intended) => this.#send(seq, intended, phase.phase),
      drop: (seq, intended) => this.#record({ seq, intended, phase: phase.phase }, { outcome: "dropped", attempts: 0 }),
    });
  }

  close(): Promise<void> {
    return this.#client.close();
  }

  async #send(seq: number, intended: number | undefined, phase: PhaseTask["phase"]): Promise<void> {
    const { settings, seed } = this.#task;
    const payload = payloadOf(seed, seq, settings.payloadBytes);
    const sent = this.#now();
    const agent = this.#agentOf(seq);
    let attempts = 0;
    let last: Attempt;
    for (;;) {
      last = await this.#client.send({ seq, agent, payload });
      attempts++;
      if (last.error?.kind !== "transient" || attempts > settings.retries) break;
      await pause(settings.backoffMs * BACKOFF_FACTOR ** (attempts - 1));
    }
    const outcome = last.error === undefined ? "answered" : last.error.kind === "timeout" ? "timeout" : "failed";
    this.#record({ seq, intended: intended ?? sent, sent, phase }, { outcome, attempts, last });
  }

  #agentOf(seq: number): string {
    const { targets } = this.#task;
    return targets[seq % targets.length]?.agent ?? "";
  }

  #record(
    { seq, intended, sent = intended, phase }: RequestTimes,
    {
      outcome,
      attempts,
      last,
    }: { readonly outcome: RequestEvent["outcome"]; readonly attempts: number; readonly last?: Attempt },
  ): void {
    const { run, seed, settings } = this.#task;
    const payload = payloadOf(seed, seq, settings.payloadBytes);
    const { answer = "" } = last ?? {};
    this.#notes.add({
      type: "request",
      run,
      seq,
      phase,
      to: this.#agentOf(seq),
      outcome,
      ...(last?.error === undefined ? {} : { error: last.error.text.slice(0, ERROR_CHARS) }),
      attempts,
      stamps: { intended, send: sent, ...last?.stamps, done: last?.done ?? this.#now() },
      payloadBytes: Buffer.byteLength(payload),
      answerBytes: Buffer.byteLength(answer),
      ...(last?.bodyBytes === undefined ? {} : { bodyBytes: last.bodyBytes }),
      streamEvents: last?.streamEvents ?? 0,
      payloadHash: hashOf(payload),
      ...(outcome === "answered" ? { answerHash: hashOf(answer) } : {}),
    });
  }
}

interface RequestTimes {
  readonly seq: number;
  readonly intended: number;
  readonly sent?: number;
  readonly phase: PhaseTask["phase"];
}
