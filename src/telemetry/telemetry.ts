import { type AgentError, type Call, CallSlot, type Layer, type Loss, type Maybe, type Via } from "../envelope/index.js";
import { stack } from "../policies/index.js";
import type { PolicySink } from "../policies/notes.js";
import type {
  Exchange,
  HandshakeSink,
  HttpRequest,
  Link,
  RelayedSessionFacts,
  RequestHead,
  Session,
  SessionMessage,
} from "../transport/exchange.js";
import { byteAccounts } from "./byte-account.js";
import type { Edge } from "./edge.js";
import { handshakeMetrics } from "./handshake-metrics.js";
import { combineHooks, type HookErrorSink, type Hooks } from "./hooks.js";
import type { LogSink } from "./log-lines.js";
import type { Family, Metrics } from "./metrics.js";
import { type Attempt, observedHandler, observedWire } from "./observed-handler.js";
import { observedLink } from "./observed-link.js";
import { OPEN_METRICS_CONTENT_TYPE, openMetricsText, wantsOpenMetrics } from "./open-metrics.js";
import { policyWatch } from "./policy-watch.js";
import { PROMETHEUS_CONTENT_TYPE, prometheusText } from "./prometheus.js";
import { refusalMetrics } from "./refusal-metrics.js";
import { relayMetrics } from "./relay-metrics.js";
import { type ServerMetering, serverMetering } from "./server-metering.js";
import { type SessionMetrics, sessionMetrics } from "./session-metrics.js";
import { createTracing, type Tracing, type TracingOptions } from "./tracing.js";

/** All observation of calls as one value. What is not observed is not wrapped. */
export interface Telemetry {
  /** Outside all client policies: the span, latency, failures, content bytes, stream events, errors. */
  client(edge: Edge, url?: string): Maybe<Layer>;
  /** Directly around the protocol client, inside all policies: each attempt, encoded and decoded. */
  wire(edge: Edge, via?: Via): Maybe<Layer>;
  /** Below the protocol client: payload bytes. */
  link(link: Link, edge: Edge): Link;
  /** Around the host's handler. */
  server(): Maybe<Layer>;
  /** Around the server's exchange: payload bytes of the serving side. */
  exchange(exchange: Exchange): Exchange;
  /** Called by the host when a request or a message of a session has become a call. Absent if not observed. */
  readonly callStarted?: Maybe<(from: HttpRequest | SessionMessage, call: Call) => void>;
  /** Called by the host with every session before its first message, and with the id of its protocol. Absent if not observed. */
  readonly session?: Maybe<(session: Session, protocol: string) => void>;
  /** Called by the host for everything of this call that could not be represented. Absent if not observed. */
  readonly lossReported?: Maybe<(loss: Loss, call: Call) => void>;
  /** Called once by a server with a TLS listener, which reports connections that wait for their handshake. Absent if not observed. */
  readonly handshakes?: Maybe<() => HandshakeSink>;
  /** Called by the host when a protocol refused a caller: a request, a handshake, or a message of a session. Absent if not observed. */
  readonly callerRefused?: Maybe<(head: RequestHead, error: AgentError, protocol: string) => void>;
  /** Called by the host with every session that is passed on unopened, before its messages are. Absent if not observed. */
  readonly sessionRelayed?: Maybe<(session: Session, facts: RelayedSessionFacts) => void>;
  /** For retrying policies: guarded, and absent without observers. */
  readonly hooks: Maybe<Hooks>;
  /** The sink for the policies of this caller: their actions become metrics, log lines, span events and hooks. */
  policies(srcAgent: string): Maybe<PolicySink>;
  /** Prometheus text; empty without metrics. */
  metricsText(): string;
  /** Metrics in the format that the `Accept` header requests. Only OpenMetrics has exemplars. */
  metricsPage(accept: Maybe<string>): MetricsPage;
}

/** The metrics as an HTTP body. */
export interface MetricsPage {
  readonly contentType: string;
  readonly text: string;
}

export interface TelemetryOptions {
  readonly hooks?: Maybe<Hooks | readonly Hooks[]>;
  /** Receives errors thrown by observers. They never reach the call. */
  readonly onHookError?: Maybe<HookErrorSink>;
  readonly metrics?: Maybe<Metrics>;
  /** Receives one line per decision, hedge, retry and circuit change of a policy. */
  readonly log?: Maybe<LogSink>;
  /** True: use the globally registered tracer provider, if any. */
  readonly tracing?: Maybe<boolean | TracingOptions>;
  /** Whether an agent of this name is served here; restricts the labels of server metrics. */
  readonly serves?: Maybe<(agent: string) => boolean>;
  /** Monotonic milliseconds. */
  readonly now?: Maybe<() => number>;
}

/** Observes nothing and wraps nothing. */
export const noTelemetry: Telemetry = Object.freeze({
  client: () => undefined,
  wire: () => undefined,
  link: (link: Link) => link,
  server: () => undefined,
  exchange: (exchange: Exchange) => exchange,
  hooks: undefined,
  policies: () => undefined,
  metricsText: () => "",
  metricsPage: (accept: Maybe<string>) => pageOf([], accept),
});

/** Creates the telemetry of a host or client: metrics, hooks, log lines and traces. */
export function createTelemetry(options: TelemetryOptions): Telemetry {
  const { metrics } = options;
  const now = options.now ?? (() => performance.now());
  const hooks = guarded(options);
  const tracing = tracingOf(options.tracing);
  const attempts = new CallSlot<Attempt>();
  const accounts = byteAccounts();
  const observes = metrics !== undefined || hooks !== undefined;
  const sessions = metrics && sessionMetrics(metrics);
  const observerOf = (edge: Edge) => ({ edge, meter: metrics?.edge(edge), hooks, now, attempts, accounts, sessions });
  const metering = serverSide(options, sessions, now);
  return {
    client: (edge, url) =>
      layered([tracing?.client(edge, url), observes ? observedHandler(observerOf(edge), accounts) : undefined]),
    wire: (edge) => (observes ? observedWire(observerOf(edge), attempts) : undefined),
    link: (link, edge) => (observes ? observedLink(link, observerOf(edge)) : link),
    server: () => layered([tracing?.server(), metering?.layer]),
    exchange: (exchange) => metering?.exchange(exchange) ?? exchange,
    callStarted: metering && ((from, call) => metering.callStarted(from, call)),
    session: metering && ((session, protocol) => metering.session(session, protocol)),
    handshakes: metrics && (() => handshakeMetrics(metrics)),
    callerRefused: metrics && refusalMetrics(metrics),
    sessionRelayed: metrics && relayMetrics(metrics),
    hooks,
    policies: (srcAgent) => policyWatchOf(options, hooks, srcAgent),
    metricsText: () => (metrics === undefined ? "" : prometheusText(metrics.families())),
    metricsPage: (accept) => pageOf(metrics?.families() ?? [], accept),
  };
}

function policyWatchOf({ metrics, log, tracing }: TelemetryOptions, hooks: Maybe<Hooks>, srcAgent: string): Maybe<PolicySink> {
  const traces = tracing !== undefined && tracing !== false;
  if (metrics === undefined && log === undefined && hooks === undefined && !traces) return undefined;
  return policyWatch({ metrics, log, hooks, tracing: traces, srcAgent });
}

function pageOf(families: readonly Family[], accept: Maybe<string>): MetricsPage {
  return wantsOpenMetrics(accept)
    ? { contentType: OPEN_METRICS_CONTENT_TYPE, text: openMetricsText(families) }
    : { contentType: PROMETHEUS_CONTENT_TYPE, text: prometheusText(families) };
}

function serverSide(
  { metrics, serves }: TelemetryOptions,
  sessions: Maybe<SessionMetrics>,
  now: () => number,
): Maybe<ServerMetering> {
  if (metrics === undefined || sessions === undefined) return undefined;
  return serverMetering({ metrics, sessions, now, serves });
}

function guarded({ hooks, onHookError }: TelemetryOptions): Maybe<Hooks> {
  if (hooks === undefined) return undefined;
  const observers: readonly Hooks[] = Array.isArray(hooks) ? hooks : [hooks];
  return observers.length === 0 ? undefined : combineHooks(observers, onHookError);
}

function tracingOf(tracing: TelemetryOptions["tracing"]): Maybe<Tracing> {
  if (tracing === undefined || tracing === false) return undefined;
  return createTracing(tracing === true ? {} : tracing);
}

function layered(layers: readonly Maybe<Layer>[]): Maybe<Layer> {
  const present = layers.filter((layer) => layer !== undefined);
  return present.length === 0 ? undefined : stack(present);
}
