import { type Envelope, formatTraceparent, type Maybe, parseTraceparent, RecentMap, traceIdHex } from "../../envelope/index.js";
import { spanIdOf } from "../traceparent.js";

/** Where a call stands in its trace. */
export interface SpanPosition {
  readonly traceId: string;
  readonly span: string;
  readonly parentSpan: Maybe<string>;
  readonly sampled: boolean;
}

/**
 * Gives every call a span, and finds the one it follows from: by the `traceparent` it carries, else by the message it
 * names as its parent, because an agent that calls on by itself hands on no header.
 */
export class Spans {
  readonly #newId: () => string;
  readonly #byMessage: RecentMap<SpanPosition>;

  constructor(newId: () => string, limit: number) {
    this.#newId = newId;
    this.#byMessage = new RecentMap(limit);
  }

  /** Of a call that came in. */
  incoming(envelope: Maybe<Envelope>, traceparent: Maybe<string>): SpanPosition {
    const carried = parseTraceparent(traceparent);
    const place: SpanPosition = {
      traceId: carried?.traceId ?? traceIdHex(envelope?.context.traceId) ?? this.#newTrace(),
      span: this.#newSpan(),
      parentSpan: carried?.spanId,
      sampled: carried?.sampled ?? true,
    };
    if (envelope !== undefined && envelope.id !== "") this.#byMessage.set(envelope.id, place);
    return place;
  }

  /** Of a call that goes out. */
  outgoing(envelope: Maybe<Envelope>, traceparent: Maybe<string>): SpanPosition {
    const carried = parseTraceparent(traceparent);
    // One that was made from the message alone names no span that anybody saw.
    const followed = carried !== undefined && carried.spanId !== spanIdOf(envelope?.id ?? "") ? carried : undefined;
    const cause = followed === undefined ? this.#causeOf(envelope) : undefined;
    return {
      traceId: followed?.traceId ?? cause?.traceId ?? carried?.traceId ?? this.#newTrace(),
      span: this.#newSpan(),
      parentSpan: followed?.spanId ?? cause?.span,
      sampled: carried?.sampled ?? true,
    };
  }

  /** The message that was passed on, or the one that this one says it follows from. */
  #causeOf(envelope: Maybe<Envelope>): Maybe<SpanPosition> {
    if (envelope === undefined) return undefined;
    const { parentId } = envelope.context;
    return this.#byMessage.get(envelope.id) ?? (parentId === undefined ? undefined : this.#byMessage.get(parentId));
  }

  #newSpan(): string {
    return spanIdOf(this.#newId());
  }

  #newTrace(): string {
    const id = this.#newId();
    return traceIdHex(id) ?? spanIdOf(id) + spanIdOf(`${id}.`);
  }
}

/** What the calls that follow from this one continue. */
export function traceparentOf({ traceId, span, sampled }: SpanPosition): string {
  return formatTraceparent({ traceId, spanId: span, sampled });
}
