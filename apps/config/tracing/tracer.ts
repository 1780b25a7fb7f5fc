import { AsyncLocalStorage } from "node:async_hooks";
import type { Context, ContextManager, Link, Span, SpanContext, SpanOptions, Tracer, TracerProvider } from "@opentelemetry/api";
import type { Maybe } from "../../../src/index.js";
import type { Sampler } from "./sampler.js";
import { RecordedSpan, type SpanClock } from "./span.js";

type Api = typeof import("@opentelemetry/api");

export interface ProviderParts {
  readonly api: Api;
  readonly sampler: Sampler;
  readonly now: SpanClock;
  /** Random hex digits. */
  newId(bytes: number): string;
  ended(span: RecordedSpan): void;
}

/** Tracers whose sampled spans are recorded. Spans that are not sampled only carry their ids on. */
export function createProvider(parts: ProviderParts): TracerProvider {
  return { getTracer: (name) => createTracer(name, parts) };
}

function createTracer(scope: string, { api, sampler, now, newId, ended }: ProviderParts): Tracer {
  const startSpan = (name: string, options: SpanOptions = {}, context: Context = api.context.active()): Span => {
    const parent = options.root === true ? undefined : validOf(api, api.trace.getSpanContext(context));
    const traceId = parent?.traceId ?? newId(16);
    const isSampled = sampler(traceId, parent && { sampled: (parent.traceFlags & 1) === 1 });
    const spanContext: SpanContext = {
      traceId,
      spanId: newId(8),
      traceFlags: isSampled ? 1 : 0,
      ...(parent?.traceState && { traceState: parent.traceState }),
    };
    if (!isSampled) return api.trace.wrapSpanContext(spanContext);
    const { kind = api.SpanKind.INTERNAL, attributes, startTime } = options;
    const links: readonly Link[] = options.links ?? [];
    return new RecordedSpan({ name, kind, context: spanContext, parent, attributes, links, startTime, scope }, now, ended);
  };
  const startActiveSpan = (name: string, ...rest: readonly unknown[]): unknown => {
    const run = rest.at(-1) as (span: Span) => unknown; // the last argument of every overload
    const [options, given] = rest.slice(0, -1) as [SpanOptions?, Context?];
    const context = given ?? api.context.active();
    const span = startSpan(name, options, context);
    return api.context.with(api.trace.setSpan(context, span), run, undefined, span);
  };
  return { startSpan, startActiveSpan: startActiveSpan as Tracer["startActiveSpan"] }; // one function for three overloads
}

function validOf({ isSpanContextValid }: Api, context: Maybe<SpanContext>): Maybe<SpanContext> {
  return context !== undefined && isSpanContextValid(context) ? context : undefined;
}

/** Keeps the active span across asynchronous work. */
export function createContextManager({ ROOT_CONTEXT }: Api): ContextManager {
  const storage = new AsyncLocalStorage<Context>();
  const manager: ContextManager = {
    active: () => storage.getStore() ?? ROOT_CONTEXT,
    with: (context, run, self, ...args) => storage.run(context, () => run.call(self as never, ...args)), // as given by the caller
    bind<T>(context: Context, target: T): T {
      if (typeof target !== "function") return target;
      const bound = (...args: unknown[]): unknown => manager.with(context, () => target(...args));
      return bound as T; // takes and returns what the target does
    },
    enable: () => manager,
    disable() {
      storage.disable();
      return manager;
    },
  };
  return manager;
}
