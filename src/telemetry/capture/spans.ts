import {
  type Envelope,
  formatTraceparent,
  type Maybe,
  parseTraceparent,
  RecentMap,
  type TraceParent,
  traceIdHex,
} from "../../envelope/index.js";
import { isActiveSpan } from "../open-telemetry.js";
import { spanIdOf } from "../traceparent.js";

/** The position of a call in its trace. */
export interface SpanPosition {
  readonly traceId: string;
  readonly span: string;
  readonly parentSpan: Maybe<string>;
  readonly sampled: boolean;
}

/**
 * Assigns a span to every call and finds its parent: by the `traceparent` it carries, or else by the parent message, because an
 * agent that makes further calls by itself passes no header on.
 */
export class Spans {
  readonly #newId: () => string;
  readonly #byMessage: RecentMap<SpanPosition>;

  constructor(newId: () => string, limit: number) {
    this.#newId = newId;
    this.#byMessage = new RecentMap(limit);
  }

  /** For an incoming call. `received`: the header of its request, which not every protocol passes on. */
  incoming(envelope: Maybe<Envelope>, traceparent: Maybe<string>, received?: Maybe<string>): SpanPosition {
    const carried = parseTraceparent(traceparent ?? received);
    const own = ownSpan(carried);
    const position: SpanPosition = own
      ? { ...own, parentSpan: parseTraceparent(received)?.spanId }
      : {
          traceId: carried?.traceId ?? traceIdHex(envelope?.context.traceId) ?? this.#newTrace(),
          span: this.#newSpan(),
          parentSpan: carried?.spanId,
          sampled: carried?.sampled ?? true,
        };
    if (envelope !== undefined && envelope.id !== "") this.#byMessage.set(envelope.id, position);
    return position;
  }

  /** For an outgoing call. */
  outgoing(envelope: Maybe<Envelope>, traceparent: Maybe<string>): SpanPosition {
    const carried = parseTraceparent(traceparent);
    const own = ownSpan(carried);
    if (own !== undefined) return { ...own, parentSpan: this.#causeOf(envelope)?.span };
    // A traceparent derived from the message alone names a span that does not exist.
    const continued = carried !== undefined && carried.spanId !== spanIdOf(envelope?.id ?? "") ? carried : undefined;
    const cause = continued === undefined ? this.#causeOf(envelope) : undefined;
    return {
      traceId: continued?.traceId ?? cause?.traceId ?? carried?.traceId ?? this.#newTrace(),
      span: this.#newSpan(),
      parentSpan: continued?.spanId ?? cause?.span,
      sampled: carried?.sampled ?? true,
    };
  }

  /** The incoming call with the same message, or with its parent message. */
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

/** The span that tracing has created for this very call. The peer must see that one, or its spans have no parent. */
function ownSpan(carried: Maybe<TraceParent>): Maybe<Omit<SpanPosition, "parentSpan">> {
  if (carried === undefined || !isActiveSpan(carried.spanId)) return undefined;
  return { traceId: carried.traceId, span: carried.spanId, sampled: carried.sampled };
}

/** The header for calls that this one causes. */
export function traceparentOf({ traceId, span, sampled }: SpanPosition): string {
  return formatTraceparent({ traceId, spanId: span, sampled });
}
