import { z } from "zod";
import { SCHEMA_VERSION } from "../../result/index.js";
import { PROBES, type ProbeName } from "../probe-config.js";
import { KIND, PLAN, TARGET } from "./event.js";

const name = z.string();
const count = z.number().int().nonnegative();

/** The columns of the paper's matrix, and one for what it has no column for. */
export const COLUMNS = ["tls", "hijack", "e2e", "sniffing", "metadata", "messages"] as const;
export type Column = (typeof COLUMNS)[number];

/** Every probe belongs to one column and has the same weight: fixed before anything was measured. */
export const COLUMN_OF: { readonly [probe in ProbeName]: Column } = {
  tls_downgrade: "tls",
  plaintext_fallback: "tls",
  certificate_matrix_client: "tls",
  certificate_matrix_server: "tls",
  session_hijack: "hijack",
  replay: "messages",
  time_skew_matrix: "messages",
  window_anomalies: "messages",
  tampering: "messages",
  network_sniffing: "sniffing",
  e2e_payload_detection: "e2e",
  metadata_exposure: "metadata",
  key_rotation: "hijack",
};

/** A share with Wilson's 95 % interval. */
const SHARE = z.strictObject({ count, of: count, low: z.number().nullable(), high: z.number().nullable() });

const VARIANT = z.strictObject({
  variant: name,
  scored: z.boolean(),
  attempts: count,
  succeeded: count,
  blocked: count,
  inconclusive: count,
  /** How attempts were refused, or why they say nothing. */
  reasons: z.array(name),
  evidence: z.array(name),
});

/** One probe at one target. Shares are of the scored attempts. */
const PROBE_SUMMARY = z.strictObject({
  target: name,
  probe: z.enum(PROBES),
  column: z.enum(COLUMNS),
  attempts: count,
  blocked: SHARE,
  succeeded: SHARE,
  inconclusive: count,
  variants: z.array(VARIANT),
});
export type ProbeSummary = z.infer<typeof PROBE_SUMMARY>;

/** `held`: every scored attempt was blocked. `broken`: one succeeded. `open`: some are inconclusive. Null: not probed. */
export const VERDICTS = ["held", "broken", "open"] as const;
const VERDICT = z.enum(VERDICTS).nullable();

const TARGET_SUMMARY = z.strictObject({
  target: TARGET,
  status: z.enum(["complete", "failed", "interrupted", "missing"]),
  reason: name.nullable(),
  consultations: SHARE,
  columns: z.strictObject(Object.fromEntries(COLUMNS.map((column) => [column, VERDICT])) as Record<Column, typeof VERDICT>),
  /** The mean of the block rates of all probes, each with the same weight, from 0 to 100. Null: nothing was probed. */
  score: z.number().nullable(),
});
export type TargetSummary = z.infer<typeof TARGET_SUMMARY>;

const CHECK = z.strictObject({ passed: z.boolean(), statement: name });

export const RESULT = z.strictObject({
  schema: z.literal(SCHEMA_VERSION),
  kind: z.literal(KIND),
  /** `partial`: not every target was probed to its end. `invalid`: a control did not come out as it must. */
  status: z.enum(["complete", "partial", "invalid"]),
  marks: z.array(name),
  plan: PLAN,
  checks: z.strictObject({
    /** The open control failed every probe. */
    open: CHECK,
    /** The hardened control passed every probe. */
    hardened: CHECK,
    /** Legitimate requests were answered before and after every attempt. */
    legitimate: CHECK,
  }),
  targets: z.array(TARGET_SUMMARY),
  probes: z.array(PROBE_SUMMARY),
});
export type SafetyResult = z.infer<typeof RESULT>;

/** JSON Schema of the result file. */
export function resultJsonSchema(): object {
  return { title: "Koine safety benchmark result", ...z.toJSONSchema(RESULT) };
}
