import { AgentError, type Maybe } from "../../../src/index.js";
import { readSampler, type Sampler } from "./sampler.js";

/** What the command line or koine.yaml says about tracing; the rest comes from the variables of OpenTelemetry. */
export interface TracingRequest {
  /** Without the path `/v1/traces`. Default: `OTEL_EXPORTER_OTLP_ENDPOINT`, or http://localhost:4318. */
  readonly endpoint?: Maybe<string>;
  /** Default: `OTEL_SERVICE_NAME`, or `koine`. */
  readonly serviceName?: Maybe<string>;
}

export interface TracingParts {
  readonly env: Environment;
  /** Warnings and failures of the export, without secrets. */
  notify(line: string): void;
  /** Counts spans that were not delivered. */
  dropped(count: number): void;
}

/** Tracing that is switched on. */
export interface OpenTracing {
  /** Where the collector is, without path. */
  readonly host: string;
  /** Sends what is left, within a limit. */
  close(): Promise<void>;
}

export interface TracingSettings {
  /** Complete, and without user and password. */
  readonly url: string;
  /** May hold secrets: never display them. */
  readonly headers: { readonly [name: string]: string };
  readonly resource: { readonly [name: string]: string };
  readonly sampler: Sampler;
  /** Of one request. */
  readonly timeoutMs: number;
  readonly batch: BatchSettings;
  /** Variables that are not used, and why. Without their values. */
  readonly warnings: readonly string[];
}

/** The batch span processor of the OpenTelemetry specification. */
export interface BatchSettings {
  readonly delayMs: number;
  /** Of one batch with all its retries. */
  readonly exportMs: number;
  readonly queueSpans: number;
  readonly batchSpans: number;
}

type Environment = { readonly [name: string]: string | undefined };

const DEFAULT_ENDPOINT = "http://localhost:4318";
const TRACES_PATH = "/v1/traces";
const TIMEOUT_MS = 10_000;
const BATCH: BatchSettings = { delayMs: 5_000, exportMs: 30_000, queueSpans: 2_048, batchSpans: 512 };
/** What a variable may ask for. */
const MAX_SPANS = 65_536;
const MAX_MS = 600_000;

/** Whether the variables alone switch tracing on: an endpoint is given, and nothing is disabled. */
export function isTracingWanted(env: Environment): boolean {
  return (
    !isTracingDisabled(env) &&
    (given(env, "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT") ?? given(env, "OTEL_EXPORTER_OTLP_ENDPOINT")) !== undefined
  );
}

/** The variables that win over every switch. */
export function isTracingDisabled(env: Environment): boolean {
  return (
    given(env, "OTEL_SDK_DISABLED")?.toLowerCase() === "true" || given(env, "OTEL_TRACES_EXPORTER")?.toLowerCase() === "none"
  );
}

/** Reads the variables of the OpenTelemetry specification. Throws AgentError `invalid_message` for an endpoint that is not usable. */
export function readTracing(request: TracingRequest, env: Environment): TracingSettings {
  const warnings: string[] = [];
  const number = (name: string, fallback: number, max: number): number => {
    const text = given(env, name);
    if (text === undefined) return fallback;
    const value = Number(text);
    if (/^\d+$/.test(text) && value > 0 && value <= max) return value;
    warnings.push(`${name} is not used: it must be a whole number from 1 to ${max}`);
    return fallback;
  };
  const queueSpans = number("OTEL_BSP_MAX_QUEUE_SIZE", BATCH.queueSpans, MAX_SPANS);
  const settings = {
    url: endpointOf(request, env),
    headers: headersOf(env, warnings),
    resource: resourceOf(request, env, warnings),
    sampler: readSampler(given(env, "OTEL_TRACES_SAMPLER"), given(env, "OTEL_TRACES_SAMPLER_ARG"), warnings),
    timeoutMs: number("OTEL_EXPORTER_OTLP_TRACES_TIMEOUT", number("OTEL_EXPORTER_OTLP_TIMEOUT", TIMEOUT_MS, MAX_MS), MAX_MS),
    batch: {
      delayMs: number("OTEL_BSP_SCHEDULE_DELAY", BATCH.delayMs, MAX_MS),
      exportMs: number("OTEL_BSP_EXPORT_TIMEOUT", BATCH.exportMs, MAX_MS),
      queueSpans,
      batchSpans: Math.min(queueSpans, number("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", BATCH.batchSpans, MAX_SPANS)),
    },
  };
  const protocol = given(env, "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL") ?? given(env, "OTEL_EXPORTER_OTLP_PROTOCOL");
  if (protocol !== undefined && protocol !== "http/json")
    warnings.push("OTEL_EXPORTER_OTLP_PROTOCOL is not used: traces are sent as http/json, usually to port 4318");
  const exporter = given(env, "OTEL_TRACES_EXPORTER");
  if (exporter !== undefined && exporter !== "otlp")
    warnings.push("OTEL_TRACES_EXPORTER is not used: only otlp and none are supported");
  return { ...settings, warnings };
}

/** The specification: an empty variable counts as unset. */
function given(env: Environment, name: string): string | undefined {
  const text = env[name]?.trim();
  return text === "" ? undefined : text;
}

function endpointOf({ endpoint }: TracingRequest, env: Environment): string {
  if (endpoint !== undefined) return checked("the OTLP endpoint", below(endpoint));
  const exact = given(env, "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT");
  // Used as it is, without a path added.
  if (exact !== undefined) return checked("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", exact);
  return checked("OTEL_EXPORTER_OTLP_ENDPOINT", below(given(env, "OTEL_EXPORTER_OTLP_ENDPOINT") ?? DEFAULT_ENDPOINT));
}

function below(base: string): string {
  return `${base.replace(/\/+$/, "")}${TRACES_PATH}`;
}

/** Messages do not quote it: it may hold a secret. */
function checked(what: string, text: string): string {
  const fail = (problem: string): never => {
    throw new AgentError("invalid_message", `${what} ${problem}`, { sent: "no" });
  };
  if (!/^https?:\/\//i.test(text) || !URL.canParse(text)) return fail("must be an http or https URL");
  const { username, password } = new URL(text);
  if (username !== "" || password !== "") return fail("must not contain a user or password: use OTEL_EXPORTER_OTLP_HEADERS");
  return text;
}

function headersOf(env: Environment, warnings: string[]): TracingSettings["headers"] {
  const general = pairsOf(env, "OTEL_EXPORTER_OTLP_HEADERS", warnings);
  const entries = [...general, ...pairsOf(env, "OTEL_EXPORTER_OTLP_TRACES_HEADERS", warnings)];
  const headers: { [name: string]: string } = {};
  for (const [name, value] of entries) {
    try {
      new Headers([[name, value]]);
      headers[name.toLowerCase()] = value;
    } catch {
      warnings.push("OTEL_EXPORTER_OTLP_HEADERS has a field that is not a valid header");
    }
  }
  return headers;
}

function resourceOf({ serviceName }: TracingRequest, env: Environment, warnings: string[]): TracingSettings["resource"] {
  const attributes = Object.fromEntries(pairsOf(env, "OTEL_RESOURCE_ATTRIBUTES", warnings));
  const name = serviceName ?? given(env, "OTEL_SERVICE_NAME") ?? attributes["service.name"] ?? "koine";
  return { ...attributes, "service.name": name, "telemetry.sdk.name": "koine", "telemetry.sdk.language": "nodejs" };
}

/** `name=value,name=value`, percent-encoded, as in W3C Baggage. */
function pairsOf(env: Environment, variable: string, warnings: string[]): readonly (readonly [string, string])[] {
  const text = given(env, variable);
  if (text === undefined) return [];
  return text.split(",").flatMap((pair) => {
    if (pair.trim() === "") return [];
    const at = pair.indexOf("=");
    const name = decoded(pair.slice(0, at));
    const value = decoded(pair.slice(at + 1));
    if (at > 0 && name !== undefined && name !== "" && value !== undefined) return [[name, value] as const];
    warnings.push(`${variable} has a part that is not name=value`);
    return [];
  });
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text.trim());
  } catch {
    return undefined;
  }
}
