import type { Call } from "../../../src/index.js";
import { CallSlot } from "../../../src/internal.js";
import type { Telemetry } from "../../../src/public/telemetry.js";
import { noTelemetry } from "../../../src/public/telemetry.js";
import type { RunClock } from "../clock.js";
import { hashOf, readPeerMessage, seqOf } from "../payload.js";
import type { PeerServiceEvent, ServiceEvent } from "../result/index.js";
import type { AgentEvent } from "./agent-event.js";
import type { NoteSender } from "./notes.js";

interface Arrival {
  readonly received: number | undefined;
  readonly queueStart: number;
  /** Filled when the handler begins. */
  record?: Record;
}

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] };
type Stamped<T extends ServiceEvent | PeerServiceEvent> = Mutable<Omit<T, "stamps">> & { readonly stamps: Mutable<T["stamps"]> };
type Record = Stamped<ServiceEvent> | Stamped<PeerServiceEvent>;

/** Stamps every request of an agent, from its arrival to its reply. */
export class ServiceLog {
  readonly #run: string;
  readonly #now: RunClock;
  readonly #notes: NoteSender<AgentEvent>;
  readonly #received = new WeakMap<object, number>();
  readonly #arrivals = new CallSlot<Arrival>();

  constructor(run: string, now: RunClock, notes: NoteSender<AgentEvent>) {
    this.#run = run;
    this.#now = now;
    this.#notes = notes;
  }

  /** For `serve`: sees requests below the protocol. */
  readonly telemetry: Telemetry = {
    ...noTelemetry,
    exchange: (exchange) => (request) => {
      this.#received.set(request, this.#now());
      const response = exchange(request);
      if (!(response instanceof Promise)) return this.#replied(request.call, response);
      return response.then((answer) => this.#replied(request.call, answer));
    },
    callStarted: (from, call) => this.#arrivals.put(call, { received: this.#received.get(from), queueStart: this.#now() }),
  };

  /** The handler begins. Undefined for a message that is none of the benchmark's. */
  begin(agent: string, payload: string, call: Call | undefined): Service | undefined {
    const [seq, id] = [seqOf(payload), readPeerMessage(payload)?.id];
    if (seq === undefined && id === undefined) return undefined;
    const arrival = this.#arrivals.of(call);
    const stamps: Record["stamps"] = { serviceStart: this.#now() };
    if (arrival?.received !== undefined) stamps.received = arrival.received;
    if (arrival !== undefined) stamps.queueStart = arrival.queueStart;
    const facts = { run: this.#run, agent, stamps, payloadHash: hashOf(payload) };
    const record: Record =
      seq === undefined ? { type: "peer-service", id: id ?? "", ...facts } : { type: "service", seq, ...facts };
    if (arrival !== undefined) arrival.record = record;
    return {
      firstToken: () => {
        stamps.firstToken ??= this.#now();
      },
      // Without an end: the request arrived, and was not answered.
      fail: () => this.#notes.add(record),
      end: (answer) => {
        stamps.serviceEnd = this.#now();
        record.answerHash = hashOf(answer);
        // Kept until the reply is encoded, where that is seen.
        this.#notes.add(record);
      },
    };
  }

  #replied<T>(call: Call | undefined, response: T): T {
    const record = this.#arrivals.of(call)?.record;
    if (record !== undefined) record.stamps.replyStart ??= this.#now();
    return response;
  }
}

export interface Service {
  /** A piece of a streamed answer is there. Only the first counts. */
  firstToken(): void;
  end(answer: string): void;
  /** The handler failed. */
  fail(): void;
}
