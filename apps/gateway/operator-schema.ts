import { z } from "zod";
import { FILE, SECRET, TEXT, URL_TEXT } from "./config-values.js";

/** The operator's listener. */
export const ADMIN = {
  listener: z
    .enum(["own", "callers"])
    .optional()
    .describe("A port of its own, or the callers' port with the same token. Default: own."),
  port: z.int().min(0).max(65_535).optional().describe("Default: any free port."),
  host: TEXT.optional().describe("Default: 127.0.0.1."),
  tls: z
    .strictObject({ cert: FILE.describe("PEM."), key: FILE.describe("PEM.") })
    .optional()
    .describe("Reloaded with the configuration. Required for a host other than loopback, unless clearText is true."),
  clearText: z.boolean().optional().describe("Allow a host other than loopback without TLS. Default: false."),
  publicUrl: URL_TEXT.optional().describe("The URL that operators use, if there is a proxy in front of this listener."),
  token: SECRET.optional().describe("Required of every request; at least 16 characters. Default: generated at start."),
  readers: z
    .enum(["token", "admitted"])
    .optional()
    .describe("Who may read: holders of the token, or also admitted callers. Actions need the token. Default: token."),
};

export const METRICS = z.union([z.boolean(), z.literal("admitted")], {
  error: "must be true (at /metrics of the admin listener), false, or admitted (also on the callers' port, for admitted callers)",
});

export const METRIC_NAMES = z.enum(["upper", "both"]);

/** What is not here comes from the variables of OpenTelemetry: secrets, sampler, sizes. */
export const TRACING = {
  endpoint: URL_TEXT.optional().describe(
    "The collector, without /v1/traces. Default: OTEL_EXPORTER_OTLP_ENDPOINT, or http://localhost:4318.",
  ),
  serviceName: TEXT.optional().describe("Default: OTEL_SERVICE_NAME, or koine."),
};

export const LOG = z.union([z.enum(["stderr", "none"]), z.strictObject({ file: FILE })]);

export const LOG_LEVEL = z.enum(["info", "warn"]);
export const LOG_FORMAT = z.enum(["json", "text"]);
