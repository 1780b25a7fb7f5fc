import { isTracingWanted, type LogSettings } from "../config/index.js";
import type { GatewayConfig } from "../gateway/index.js";
import type { TraceOptions } from "./tracing.js";

/** The log options of the command line. */
export type LogOptions = Pick<LogSettings, "logLevel" | "logFormat">;

/** For commands without a configuration file: one of the options logs to stderr. */
export function logSettings({ logLevel, logFormat }: LogOptions): LogSettings {
  const log = logLevel === undefined && logFormat === undefined ? undefined : "stderr";
  return { log, logLevel, logFormat };
}

/** The options of the command line win over the file; a level alone logs to stderr. */
export function withLogging(config: GatewayConfig, { logLevel, logFormat }: LogOptions): GatewayConfig {
  if (logLevel === undefined && logFormat === undefined) return config;
  const { log = "stderr", ...rest } = config.document;
  return { ...config, document: { ...rest, log, ...(logLevel && { logLevel }), ...(logFormat && { logFormat }) } };
}

/** The command line wins over the file, and the file over the variables of OpenTelemetry. */
export function withTracing(config: GatewayConfig, { trace, otlpEndpoint }: TraceOptions, env = process.env): GatewayConfig {
  const { tracing } = config.document;
  const isAsked = trace === true || otlpEndpoint !== undefined;
  if (!isAsked && (tracing !== undefined || !isTracingWanted(env))) return config;
  const written = typeof tracing === "object" ? tracing : {};
  const chosen = { ...written, ...(otlpEndpoint === undefined ? {} : { endpoint: otlpEndpoint }) };
  return { ...config, document: { ...config.document, tracing: chosen } };
}
