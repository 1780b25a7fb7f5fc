import type { Loss, Maybe } from "../../envelope/index.js";
import type { BodyCapture } from "./body-capture.js";
import type { CapturedEvent, CapturedMessage, CapturedMessageSummary, CaptureFilter, CaptureLimits } from "./captured-message.js";
import type { KeptDocument } from "./document.js";

/** What is known when a call begins, and does not change. */
export type EntryStart = Pick<
  CapturedMessage,
  "id" | "direction" | "at" | "traceId" | "span" | "parentSpan" | "agent" | "caller" | "via" | "operation" | "messageId" | "text"
>;

/** A long stream may lose the same thing with every event; more of them say nothing new. */
const LOSSES_PER_SIGHTING = 100;
/** What an event weighs beside its text. */
const EVENT_OVERHEAD = 64;

/** A sighting as it grows. Whoever looks gets a copy. */
export class Entry {
  readonly start: EntryStart;
  readonly #limits: CaptureLimits;
  seq = 0;
  /** The place at which it was first seen: two calls may begin in the same millisecond. */
  firstSeq = 0;
  /** What the log counts for it. */
  counted = 0;
  taskId: Maybe<string>;
  sessionId: Maybe<string>;
  status: CapturedMessage["status"] = "open";
  endedAt: Maybe<number>;
  error: CapturedMessage["error"];
  #request: Maybe<BodyCapture>;
  #response: Maybe<BodyCapture>;
  #envelope: Maybe<KeptDocument>;
  #answer: Maybe<KeptDocument>;
  #events: CapturedEvent[] = [];
  #eventCount = 0;
  #eventSize = 0;
  readonly #losses: Loss[] = [];
  /** It holds secrets that cannot be found in bytes nobody here reads. */
  #secretive = false;
  /** What it held was given up to make room. */
  #bare = false;

  constructor(start: EntryStart, limits: CaptureLimits) {
    this.start = start;
    this.#limits = limits;
  }

  get hasRequest(): boolean {
    return this.#request !== undefined;
  }

  get requestBytes(): number {
    return this.#request?.bytes ?? 0;
  }

  /** In memory, roughly, beyond what every sighting has. */
  get size(): number {
    const documents = (this.#envelope?.size ?? 0) + (this.#answer?.size ?? 0);
    return (this.#request?.size ?? 0) + (this.#response?.size ?? 0) + documents + this.#eventSize;
  }

  sent(request: BodyCapture): void {
    this.#request = this.#allowed(request);
  }

  answered(response: BodyCapture): void {
    this.#response = this.#allowed(response);
  }

  said(envelope: Maybe<KeptDocument>): void {
    if (!this.#bare) this.#envelope = envelope;
  }

  replied(answer: Maybe<KeptDocument>): void {
    if (!this.#bare) this.#answer = answer;
  }

  beSecretive(): void {
    this.#secretive = true;
    this.#request?.dropBinary();
    this.#response?.dropBinary();
  }

  /** Beyond the limit the last one stays the last: how it ended is what people look for. */
  happened(event: CapturedEvent): void {
    this.#eventCount++;
    if (this.#bare || this.#events.length >= this.#limits.eventsPerSighting) this.#eventSize -= sizeOf(this.#events.pop());
    this.#events.push(event);
    this.#eventSize += sizeOf(event);
  }

  lost(loss: Loss): boolean {
    // What is lost below the host is told to the host too: the same loss is one.
    if (this.#losses.length >= LOSSES_PER_SIGHTING || this.#losses.includes(loss)) return false;
    this.#losses.push(loss);
    return true;
  }

  /** Gives up everything but what stands in lists. */
  strip(): void {
    this.#bare = true;
    this.#request?.drop();
    this.#response?.drop();
    this.#envelope = undefined;
    this.#answer = undefined;
    this.#events = this.#events.slice(-1);
    this.#eventSize = sizeOf(this.#events[0]);
  }

  sighting(): CapturedMessage {
    return {
      ...this.#common(),
      request: this.#request?.wire(),
      envelope: this.#envelope?.json,
      response: this.#response?.wire(),
      events: [...this.#events],
      answer: this.#answer?.json,
    };
  }

  summary(): CapturedMessageSummary {
    return {
      ...this.#common(),
      eventCount: this.#eventCount,
      requestBytes: this.requestBytes,
      responseBytes: this.#response?.bytes ?? 0,
    };
  }

  matches({ agent, traceId, protocol, direction, status, text }: CaptureFilter): boolean {
    const { start } = this;
    return (
      (agent === undefined || start.agent === agent) &&
      (traceId === undefined || start.traceId === traceId) &&
      (protocol === undefined || start.via.protocol === protocol) &&
      (direction === undefined || start.direction === direction) &&
      (status === undefined || this.status === status) &&
      (text === undefined || this.#says(text.toLowerCase()))
    );
  }

  #says(lower: string): boolean {
    return (
      this.start.text.toLowerCase().includes(lower) || this.#events.some((event) => event.text?.toLowerCase().includes(lower))
    );
  }

  #common() {
    const { seq, endedAt, taskId, sessionId, status, error } = this;
    return { ...this.start, seq, endedAt, taskId, sessionId, losses: [...this.#losses], status, error };
  }

  #allowed(capture: BodyCapture): BodyCapture {
    if (this.#bare) capture.drop();
    else if (this.#secretive) capture.dropBinary();
    return capture;
  }
}

function sizeOf(event: Maybe<CapturedEvent>): number {
  return event === undefined ? 0 : EVENT_OVERHEAD + (event.text?.length ?? 0);
}
