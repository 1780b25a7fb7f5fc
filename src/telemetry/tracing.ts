import type { Context, ProxyTracerProvider, Span, SpanContext, SpanKind, Tracer } from "@opentelemetry/api";
import {
  type Call,
  formatTraceparent,
  type Layer,
  type Loss,
  type Maybe,
  type Operation,
  parseTraceparent,
} from "../envelope/index.js";
import { around, type Outcome } from "../policies/index.js";
import { stateIn } from "../policies/task-id.js";
import type { Edge } from "./edge.js";
import { isOpenTelemetryUsed, openTelemetry } from "./open-telemetry.js";
import { isCheck } from "./probes.js";
import { outgoingTraceparent } from "./traceparent.js";

export interface TracingOptions {
  /** Overrides the tracer of the globally registered provider. */
  readonly tracer?: Tracer;
}

/** Layers that create spans while a tracer provider is registered and otherwise pass calls through. */
export interface Tracing {
  client(edge: Edge, url?: string): Layer;
  server(): Layer;
}

interface Traced {
  readonly span: Span;
  readonly context: Context;
}

const TRACER_NAME = "koine";

export function createTracing(options: TracingOptions = {}): Tracing {
  let found: Tracer | undefined = options.tracer;
  const tracerNow = (): Tracer | undefined => {
    if (found === undefined && isRegistered()) found = openTelemetry().trace.getTracer(TRACER_NAME);
    return found;
  };
  return {
    client(edge, url) {
      const fixed = { "koine.protocol": edge.protocol, ...serverAttributes(url) };
      return spanLayer((operation, call) => {
        const tracer = tracerNow();
        if (tracer === undefined || isCheck(operation, call)) return undefined;
        const attributes = { ...fixed, ...callAttributes(operation, edge.dstId) };
        return open(
          tracer,
          { name: spanName(edge.dstId), kind: openTelemetry().SpanKind.CLIENT, attributes },
          clientParent(operation, call),
        );
      });
    },
    server: () =>
      spanLayer((operation, call) => {
        const tracer = tracerNow();
        if (tracer === undefined || isCheck(operation, call)) return undefined;
        const attributes = { "koine.protocol": call.via.protocol, ...callAttributes(operation, call.agent) };
        return open(
          tracer,
          { name: spanName(call.agent), kind: openTelemetry().SpanKind.SERVER, attributes },
          remoteParent(call),
        );
      }),
  };
}

/** Checked per call until true, because applications may register their provider at any time. */
function isRegistered(): boolean {
  if (!isOpenTelemetryUsed()) return false;
  const { trace, ProxyTracerProvider: ProxyProvider } = openTelemetry();
  const provider = trace.getTracerProvider();
  // The global provider is a proxy unless another version of the API replaced it; its delegate is shared while none is registered.
  return !("getDelegate" in provider && (provider as ProxyTracerProvider).getDelegate() === new ProxyProvider().getDelegate());
}

function spanLayer(begin: (operation: Operation, call: Call) => Traced | undefined): Layer {
  return around<Traced>({
    begin,
    under: ({ span }, call) =>
      call.derive({ parameters: withSpan(call, span.spanContext()), reportLoss: (loss) => recordLoss(span, call, loss) }),
    // Spans of the agent and its libraries become children of this one.
    within: (traced, run) => openTelemetry().context.with(traced.context, run),
    end: ({ span }, outcome) => close(span, outcome),
  });
}

interface SpanStart {
  readonly name: string;
  readonly kind: SpanKind;
  readonly attributes: { readonly [name: string]: string | number };
}

function open(tracer: Tracer, { name, kind, attributes }: SpanStart, parent: Context): Traced {
  const span = tracer.startSpan(name, { kind, attributes: { ...attributes } }, parent);
  return { span, context: openTelemetry().trace.setSpan(parent, span) };
}

function close(span: Span, outcome: Outcome): void {
  if (outcome.kind === "failed") {
    span.setAttribute("error.type", outcome.error.code);
    span.setAttribute("koine.error.face", outcome.error.face);
    span.setStatus({ code: openTelemetry().SpanStatusCode.ERROR });
  } else {
    const state = stateIn(outcome.last);
    if (state !== undefined) span.setAttribute("koine.task.state", state);
  }
  span.end();
}

/** OpenTelemetry semantic conventions for generative AI: an agent span is named by operation and agent. */
function spanName(agent: string): string {
  return agent === "" ? "invoke_agent" : `invoke_agent ${agent}`;
}

function callAttributes(operation: Operation, agent: string): SpanStart["attributes"] {
  const sessionId = operation.kind === "send" ? operation.envelope.context.sessionId : undefined;
  return {
    "gen_ai.operation.name": "invoke_agent",
    "gen_ai.agent.name": agent,
    "koine.operation": operation.kind,
    ...(sessionId === undefined ? {} : { "gen_ai.conversation.id": sessionId }),
  };
}

function serverAttributes(url: Maybe<string>): SpanStart["attributes"] {
  if (url === undefined || !URL.canParse(url)) return {};
  const { hostname, port, protocol } = new URL(url);
  if (hostname === "") return {};
  const defaultPort = protocol === "https:" || protocol === "wss:" ? 443 : 80;
  return { "server.address": hostname, "server.port": port === "" ? defaultPort : Number(port) };
}

/** The active span of this process, or else what the call continues, or the trace id of the message. */
function clientParent(operation: Operation, call: Call): Context {
  const { context, trace } = openTelemetry();
  const active = context.active();
  if (trace.getSpanContext(active) !== undefined) return active;
  const envelope = operation.kind === "send" ? operation.envelope : undefined;
  return asParent(active, outgoingTraceparent(envelope, call), call.parameters["tracestate"]);
}

function remoteParent(call: Call): Context {
  return asParent(openTelemetry().ROOT_CONTEXT, call.parameters["traceparent"], call.parameters["tracestate"]);
}

function asParent(base: Context, traceparent: Maybe<string>, tracestate: Maybe<string>): Context {
  const parent = parseTraceparent(traceparent);
  if (parent === undefined) return base;
  const { traceId, spanId, sampled } = parent;
  const { createTraceState, trace } = openTelemetry();
  const traceState = tracestate === undefined ? {} : { traceState: createTraceState(tracestate) };
  return trace.setSpanContext(base, { traceId, spanId, traceFlags: sampled ? 1 : 0, isRemote: true, ...traceState });
}

/** Call parameters from which protocol clients and further calls continue the trace. */
function withSpan(call: Call, { traceId, spanId, traceFlags, traceState }: SpanContext): Call["parameters"] {
  const traceparent = formatTraceparent({ traceId, spanId, sampled: (traceFlags & 1) === 1 });
  const state = traceState?.serialize();
  return { ...call.parameters, traceparent, ...(state === undefined || state === "" ? {} : { tracestate: state }) };
}

function recordLoss(span: Span, call: Call, loss: Loss): void {
  span.addEvent("koine.loss", { path: loss.path, "value.kind": loss.valueKind, reason: loss.reason });
  call.reportLoss(loss);
}
