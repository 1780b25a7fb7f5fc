import type { Loss, Maybe } from "../../envelope/index.js";
import type { WireCapture } from "./body-capture.js";
import type {
  CapturedEvent,
  CapturedMessage,
  CapturedMessageSummary,
  CaptureFilter,
  CaptureLimits,
  WireBytes,
} from "./captured-message.js";
import type { CapturedDocument } from "./document.js";
import { ListPlace } from "./linked-list.js";

/** What is known when a call starts and does not change. */
export type EntryStart = Pick<
  CapturedMessage,
  "id" | "direction" | "at" | "traceId" | "span" | "parentSpan" | "agent" | "caller" | "via" | "operation" | "messageId" | "text"
>;

/** A long stream may report the same loss with every event, so the list is bounded. */
const LOSSES_PER_MESSAGE = 100;
/** Size of an event apart from its text. */
const EVENT_OVERHEAD = 64;

/** Who signed the request and the response of a call. */
export interface WireSigners {
  readonly request: Maybe<string>;
  readonly response: Maybe<string>;
}

/** A captured message while it is being recorded. Readers get a copy. */
export class Entry {
  readonly start: EntryStart;
  readonly #limits: CaptureLimits;
  /** Who signed the request and the response, unless their bytes say so. */
  #signers: WireSigners;
  /** Whether the request and the response carry nothing but ciphertext. */
  #isSealed = false;
  #isAnswerSealed = false;
  seq = 0;
  /** The first `seq`; orders calls that start in the same millisecond. */
  firstSeq = 0;
  /** Its end was reported. */
  isReported = false;
  /** The size that the log has accounted for it. */
  countedBytes = 0;
  /** Among all entries, and among those that hold content. */
  readonly inLog = new ListPlace<Entry>();
  readonly withContent = new ListPlace<Entry>();
  taskId: Maybe<string>;
  sessionId: Maybe<string>;
  status: CapturedMessage["status"] = "open";
  endedAt: Maybe<number>;
  error: CapturedMessage["error"];
  #request: Maybe<WireCapture>;
  #response: Maybe<WireCapture>;
  #envelope: Maybe<CapturedDocument>;
  #answer: Maybe<CapturedDocument>;
  #events: CapturedEvent[] = [];
  #eventCount = 0;
  #eventSize = 0;
  readonly #nameSize: number;
  #lossSize = 0;
  readonly #losses: Loss[] = [];
  /** It holds secrets that cannot be located in binary bodies. */
  #sensitive = false;
  /** Its content was dropped to free memory. */
  #stripped = false;

  constructor(start: EntryStart, limits: CaptureLimits, signer?: Maybe<string>) {
    this.start = start;
    const { traceId, parentSpan = "", agent, caller, messageId = "", text } = start;
    this.#nameSize = traceId.length + parentSpan.length + agent.length + caller.length + messageId.length + text.length;
    this.#limits = limits;
    this.#signers = { request: signer, response: undefined };
  }

  setSigners(signers: WireSigners): void {
    this.#signers = signers;
  }

  markSealed(part: "request" | "response"): void {
    if (part === "request") this.#isSealed = true;
    else this.#isAnswerSealed = true;
  }

  get hasRequest(): boolean {
    return this.#request !== undefined;
  }

  get requestBytes(): number {
    return this.#request?.bytes ?? 0;
  }

  /** Approximate memory use. Names come from callers and peers, so they count as well. */
  get size(): number {
    const documents = (this.#envelope?.size ?? 0) + (this.#answer?.size ?? 0);
    const names = this.#nameSize + (this.taskId?.length ?? 0) + (this.sessionId?.length ?? 0) + this.#lossSize;
    return (this.#request?.size ?? 0) + (this.#response?.size ?? 0) + documents + this.#eventSize + names;
  }

  setRequest(request: WireCapture): void {
    this.#request = this.#allowed(request);
  }

  setResponse(response: WireCapture): void {
    this.#response = this.#allowed(response);
  }

  setEnvelope(envelope: Maybe<CapturedDocument>): void {
    if (!this.#stripped) this.#envelope = envelope;
  }

  setAnswer(answer: Maybe<CapturedDocument>): void {
    if (!this.#stripped) this.#answer = answer;
  }

  markSensitive(): void {
    this.#sensitive = true;
    this.#request?.dropBinary();
    this.#response?.dropBinary();
  }

  /** At the limit the newest event replaces the last one, so that the outcome stays visible. */
  addEvent(event: CapturedEvent): void {
    this.#eventCount++;
    if (this.#stripped || this.#events.length >= this.#limits.eventsPerMessage) this.#eventSize -= sizeOf(this.#events.pop());
    this.#events.push(event);
    this.#eventSize += sizeOf(event);
  }

  addLoss(loss: Loss): boolean {
    if (this.#losses.length >= LOSSES_PER_MESSAGE) return false;
    this.#losses.push(loss);
    this.#lossSize += loss.path.length + loss.reason.length;
    return true;
  }

  /** Drops everything that lists do not show. */
  strip(): void {
    this.#stripped = true;
    this.#request?.drop();
    this.#response?.drop();
    this.#envelope = undefined;
    this.#answer = undefined;
    this.#events = this.#events.slice(-1);
    this.#eventSize = sizeOf(this.#events[0]);
  }

  message(): CapturedMessage {
    return {
      ...this.#common(),
      request: protectedBy(this.#request?.wire(), this.#signers.request, this.#isSealed),
      envelope: this.#envelope?.json,
      // The signature of a response was verified if the call was answered.
      response: protectedBy(
        this.#response?.wire(),
        this.status === "failed" ? undefined : this.#signers.response,
        this.#isAnswerSealed,
      ),
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
      (text === undefined || this.#containsText(text.toLowerCase()))
    );
  }

  #containsText(lower: string): boolean {
    return (
      this.start.text.toLowerCase().includes(lower) || this.#events.some((event) => event.text?.toLowerCase().includes(lower))
    );
  }

  #common() {
    const { seq, endedAt, taskId, sessionId, status, error } = this;
    return { ...this.start, seq, endedAt, taskId, sessionId, losses: [...this.#losses], status, error };
  }

  #allowed(capture: WireCapture): WireCapture {
    if (this.#stripped) capture.drop();
    else if (this.#sensitive) capture.dropBinary();
    return capture;
  }
}

function protectedBy(wire: Maybe<WireBytes>, signer: Maybe<string>, sealed: boolean): Maybe<WireBytes> {
  if (wire === undefined || (signer === undefined && !sealed)) return wire;
  return { ...(signer === undefined ? undefined : { signer }), ...(sealed ? { sealed } : undefined), ...wire };
}

function sizeOf(event: Maybe<CapturedEvent>): number {
  return event === undefined ? 0 : EVENT_OVERHEAD + (event.text?.length ?? 0);
}
