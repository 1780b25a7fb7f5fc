import type { Call, Layer, Loss, Maybe, Via } from "../envelope/index.js";
import { stack } from "../policies/index.js";
import type { PolicySink } from "../policies/notes.js";
import type { Exchange, HttpRequest, Link } from "../transport/exchange.js";
import { Attempts } from "./attempts.js";
import type { Edge } from "./edge.js";
import { combineHooks, type HookErrorSink, type Hooks } from "./hooks.js";
import type { LogSink } from "./log-lines.js";
import type { Family, Metrics } from "./metrics.js";
import { observedHandler, observedWire } from "./observed-handler.js";
import { observedLink } from "./observed-link.js";
import { OPEN_METRICS_CONTENT_TYPE, openMetricsText, wantsOpenMetrics } from "./open-metrics.js";
import { policyWatch } from "./policy-watch.js";
import { PROMETHEUS_CONTENT_TYPE, prometheusText } from "./prometheus.js";
import { type ServerMetering, serverMetering } from "./server-metering.js";
import { createTracing, type Tracing, type TracingOptions } from "./tracing.js";

/** Everything that watches calls, as one value. What is not watched is not wrapped. */
export interface Telemetry {
  /** Outside all policies of a client: the span, latency, failures, content bytes, stream events, errors. */
  client(edge: Edge, url?: string): Maybe<Layer>;
  /** Directly around the client half, inside all policies: each try, encoded and decoded. */
  wire(edge: Edge, via?: Via): Maybe<Layer>;
  /** Below the client half: payload bytes. */
  link(link: Link, edge: Edge): Link;
  /** Around the host's handler. */
  server(): Maybe<Layer>;
  /** Around the front door's exchange: payload bytes of the serving side. */
  exchange(exchange: Exchange): Exchange;
  /** Told by the host when a request has become a call. */
  callStarted(request: HttpRequest, call: Call): void;
  /** Told by the host when something of an answer to this request could not be carried. Absent when nobody wants to know. */
  readonly lossReported?: Maybe<(request: HttpRequest, loss: Loss) => void>;
  /** For the policies that retry: guarded, and absent when nobody listens. */
  readonly hooks: Maybe<Hooks>;
  /** For the policies of whoever calls under this name: what they did becomes metrics, log lines, span events and hooks. */
  policies(srcAgent: string): Maybe<PolicySink>;
  /** The Prometheus text; empty without metrics. */
  metricsText(): string;
  /** The same in the format that a scraper asks for by its `Accept` header. Only OpenMetrics has examples. */
  metricsPage(accept: Maybe<string>): MetricsPage;
}

export interface MetricsPage {
  readonly contentType: string;
  readonly text: string;
}

export interface TelemetryOptions {
  readonly hooks?: Maybe<Hooks | readonly Hooks[]>;
  /** Hears what an observer threw. The call never does. */
  readonly onHookError?: Maybe<HookErrorSink>;
  readonly metrics?: Maybe<Metrics>;
  /** Hears every decision, hedge, repeat and breaker change of a policy as one line. */
  readonly log?: Maybe<LogSink>;
  /** True: spans by the globally registered provider, while there is one. */
  readonly tracing?: Maybe<boolean | TracingOptions>;
  /** Names of the agents served here, for the labels of the serving side. */
  readonly serves?: Maybe<(agent: string) => boolean>;
  /** Milliseconds on a clock that never goes back. */
  readonly now?: Maybe<() => number>;
}

/** Watches nothing, wraps nothing, costs nothing. */
export const noTelemetry: Telemetry = Object.freeze({
  client: () => undefined,
  wire: () => undefined,
  link: (link: Link) => link,
  server: () => undefined,
  exchange: (exchange: Exchange) => exchange,
  callStarted: () => undefined,
  hooks: undefined,
  policies: () => undefined,
  metricsText: () => "",
  metricsPage: (accept: Maybe<string>) => pageOf([], accept),
});

export function createTelemetry(options: TelemetryOptions): Telemetry {
  const { metrics } = options;
  const now = options.now ?? (() => performance.now());
  const hooks = guarded(options);
  const tracing = tracingOf(options.tracing);
  const attempts = new Attempts();
  const observes = metrics !== undefined || hooks !== undefined;
  const observerOf = (edge: Edge) => ({ edge, meter: metrics?.edge(edge), hooks, now, attempts });
  const metering = serverSide(options, now);
  return {
    client: (edge, url) => layered([tracing?.client(edge, url), observes ? observedHandler(observerOf(edge)) : undefined]),
    wire: (edge) => (observes ? observedWire(observerOf(edge), attempts) : undefined),
    link: (link, edge) => (observes ? observedLink(link, observerOf(edge)) : link),
    server: () => layered([tracing?.server(), metering?.layer]),
    exchange: (exchange) => metering?.exchange(exchange) ?? exchange,
    callStarted: (request, call) => metering?.callStarted(request, call),
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

function serverSide({ metrics, serves }: TelemetryOptions, now: () => number): Maybe<ServerMetering> {
  if (metrics === undefined) return undefined;
  return serverMetering(serves === undefined ? { metrics, now } : { metrics, now, serves });
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
