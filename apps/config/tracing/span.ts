import type {
  Attributes,
  AttributeValue,
  Exception,
  Link,
  Span,
  SpanContext,
  SpanKind,
  SpanStatus,
  TimeInput,
} from "@opentelemetry/api";
import type { Maybe } from "../../../src/index.js";

/** The limits of the OpenTelemetry specification, and one for texts, which it leaves open. */
const MAX_ATTRIBUTES = 128;
const MAX_EVENTS = 128;
const MAX_LINKS = 128;
const MAX_TEXT = 8_192;
/** Smaller times are those of a process, which has not run for three years; larger ones are dates after 1973. */
const EPOCH_MS = 1e11;

/** Attributes within their limits. */
export class BoundedAttributes {
  readonly values = new Map<string, AttributeValue>();
  dropped = 0;

  constructor(attributes: Maybe<Attributes>) {
    this.add(attributes);
  }

  add(attributes: Maybe<Attributes>): void {
    for (const [name, value] of Object.entries(attributes ?? {})) if (value !== undefined) this.set(name, value);
  }

  set(name: string, value: AttributeValue): void {
    if (this.values.size >= MAX_ATTRIBUTES && !this.values.has(name)) this.dropped++;
    else this.values.set(name, cutValue(value));
  }
}

export interface SpanEvent {
  readonly name: string;
  /** Milliseconds since the epoch. */
  readonly time: number;
  readonly attributes: BoundedAttributes;
}

export interface SpanStart {
  readonly name: string;
  readonly kind: SpanKind;
  readonly context: SpanContext;
  readonly parent: Maybe<SpanContext>;
  readonly attributes: Maybe<Attributes>;
  readonly links: readonly Link[];
  readonly startTime: Maybe<TimeInput>;
  readonly scope: string;
}

/** Milliseconds since the epoch, with fractions. */
export type SpanClock = () => number;

/** A span that is exported when it ends. */
export class RecordedSpan implements Span {
  readonly kind: SpanKind;
  readonly parent: Maybe<SpanContext>;
  readonly attributes: BoundedAttributes;
  readonly links: Link[] = [];
  readonly events: SpanEvent[] = [];
  readonly scope: string;
  readonly startTime: number;
  droppedEvents = 0;
  droppedLinks = 0;
  name: string;
  endTime = 0;
  status: SpanStatus = { code: 0 };
  readonly #context: SpanContext;
  readonly #now: SpanClock;
  readonly #ended: (span: RecordedSpan) => void;
  #isEnded = false;

  constructor(start: SpanStart, now: SpanClock, ended: (span: RecordedSpan) => void) {
    this.name = start.name;
    this.kind = start.kind;
    this.parent = start.parent;
    this.scope = start.scope;
    this.attributes = new BoundedAttributes(start.attributes);
    this.startTime = timeOf(start.startTime, now);
    this.#context = start.context;
    this.#now = now;
    this.#ended = ended;
    this.addLinks(start.links);
  }

  spanContext(): SpanContext {
    return this.#context;
  }

  setAttribute(name: string, value: AttributeValue): this {
    if (!this.#isEnded) this.attributes.set(name, value);
    return this;
  }

  setAttributes(attributes: Attributes): this {
    if (!this.#isEnded) this.attributes.add(attributes);
    return this;
  }

  addEvent(name: string, attributesOrTime?: Attributes | TimeInput, time?: TimeInput): this {
    if (this.#isEnded) return this;
    if (this.events.length >= MAX_EVENTS) {
      this.droppedEvents++;
      return this;
    }
    const isTime = isTimeInput(attributesOrTime);
    const at = timeOf(isTime ? attributesOrTime : time, this.#now);
    this.events.push({ name, time: at, attributes: new BoundedAttributes(isTime ? undefined : attributesOrTime) });
    return this;
  }

  addLink(link: Link): this {
    if (this.#isEnded) return this;
    if (this.links.length >= MAX_LINKS) this.droppedLinks++;
    else this.links.push(link);
    return this;
  }

  addLinks(links: readonly Link[]): this {
    for (const link of links) this.addLink(link);
    return this;
  }

  setStatus(status: SpanStatus): this {
    if (!this.#isEnded) this.status = status;
    return this;
  }

  updateName(name: string): this {
    if (!this.#isEnded) this.name = name;
    return this;
  }

  end(time?: TimeInput): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.endTime = Math.max(this.startTime, timeOf(time, this.#now));
    this.#ended(this);
  }

  isRecording(): boolean {
    return !this.#isEnded;
  }

  /** Semantic conventions for exceptions. */
  recordException(exception: Exception, time?: TimeInput): void {
    const { name, message, stack } =
      typeof exception === "string" ? { name: undefined, message: exception, stack: undefined } : exception;
    const attributes: Attributes = { "exception.type": name, "exception.message": message, "exception.stacktrace": stack };
    this.addEvent("exception", attributes, time);
  }
}

function cutValue(value: AttributeValue): AttributeValue {
  return typeof value === "string" ? value.slice(0, MAX_TEXT) : value;
}

function isTimeInput(value: Attributes | TimeInput | undefined): value is TimeInput {
  return typeof value === "number" || value instanceof Date || Array.isArray(value);
}

/** Dates, milliseconds since the epoch or since the start of the process, or seconds and nanoseconds. */
function timeOf(time: Maybe<TimeInput>, now: SpanClock): number {
  if (time === undefined) return now();
  if (Array.isArray(time)) return time[0] * 1_000 + time[1] / 1e6;
  if (time instanceof Date) return time.getTime();
  return time < EPOCH_MS ? performance.timeOrigin + time : time;
}
