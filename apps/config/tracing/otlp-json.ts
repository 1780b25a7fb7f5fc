import type { AttributeValue } from "@opentelemetry/api";
import { BoundedAttributes, type RecordedSpan } from "./span.js";

/** OTLP 1.x in JSON: ids as hex, 64-bit numbers as decimal strings, enums as numbers, names in lowerCamelCase. */

interface AnyValue {
  readonly stringValue?: string;
  readonly boolValue?: boolean;
  readonly intValue?: string;
  readonly doubleValue?: number | string;
  readonly arrayValue?: { readonly values: readonly AnyValue[] };
}

/** `opentelemetry.proto.trace.v1.SpanFlags`: whether the parent is remote is known, and whether it is. */
const HAS_IS_REMOTE = 0x100;
const IS_REMOTE = 0x200;

/** The body of an export request. */
export function exportRequest(spans: readonly RecordedSpan[], resource: { readonly [name: string]: string }): string {
  const scopeSpans = Array.from(byScope(spans), ([name, each]) => ({ scope: { name }, spans: each.map(spanJson) }));
  return JSON.stringify({ resourceSpans: [{ resource: { attributes: attributesJson(Object.entries(resource)) }, scopeSpans }] });
}

function byScope(spans: readonly RecordedSpan[]): ReadonlyMap<string, readonly RecordedSpan[]> {
  const found = new Map<string, RecordedSpan[]>();
  for (const span of spans) {
    const known = found.get(span.scope);
    if (known === undefined) found.set(span.scope, [span]);
    else known.push(span);
  }
  return found;
}

function spanJson(span: RecordedSpan) {
  const { traceId, spanId, traceFlags, traceState } = span.spanContext();
  const { parent, status, attributes, events, links } = span;
  const remote = HAS_IS_REMOTE | (parent?.isRemote === true ? IS_REMOTE : 0);
  return {
    traceId,
    spanId,
    ...(traceState && { traceState: traceState.serialize() }),
    ...(parent && { parentSpanId: parent.spanId }),
    flags: traceFlags | remote,
    name: span.name,
    kind: span.kind + 1, // the API begins with INTERNAL, OTLP with UNSPECIFIED
    startTimeUnixNano: nanos(span.startTime),
    endTimeUnixNano: nanos(span.endTime),
    attributes: attributesJson(attributes.values),
    droppedAttributesCount: attributes.dropped,
    events: events.map((event) => ({
      timeUnixNano: nanos(event.time),
      name: event.name,
      attributes: attributesJson(event.attributes.values),
      droppedAttributesCount: event.attributes.dropped,
    })),
    droppedEventsCount: span.droppedEvents,
    links: links.map(({ context, attributes: more = {} }) => ({
      traceId: context.traceId,
      spanId: context.spanId,
      attributes: attributesJson(new BoundedAttributes(more).values),
    })),
    droppedLinksCount: span.droppedLinks,
    status: { code: status.code, ...(status.message === undefined ? {} : { message: status.message }) },
  };
}

function nanos(milliseconds: number): string {
  const whole = Math.floor(milliseconds);
  return String(BigInt(whole) * 1_000_000n + BigInt(Math.floor((milliseconds - whole) * 1e6)));
}

function attributesJson(attributes: Iterable<readonly [string, AttributeValue]>) {
  return Array.from(attributes, ([key, value]) => ({ key, value: valueJson(value) }));
}

function valueJson(value: AttributeValue | null | undefined): AnyValue {
  if (Array.isArray(value)) return { arrayValue: { values: value.map((each) => valueJson(each)) } };
  if (typeof value === "string") return { stringValue: value };
  if (typeof value === "boolean") return { boolValue: value };
  if (typeof value !== "number") return {};
  if (Number.isSafeInteger(value)) return { intValue: String(value) };
  // The JSON form of protobuf: JSON itself has no NaN and no infinity.
  return { doubleValue: Number.isFinite(value) ? value : String(value) };
}
