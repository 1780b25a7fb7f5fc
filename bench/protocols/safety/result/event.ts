import { z } from "zod";
import { SCHEMA_VERSION } from "../../result/index.js";
import { ROUTING } from "../../result/plan.js";
import { PROBE_CONFIG, PROBES } from "../probe-config.js";

export const KIND = "koine-safety-bench";

const name = z.string().min(1).max(200);
const line = z.string().max(2_000);
const count = z.number().int().nonnegative();

/** How a target is run: a row of the table of deployments. */
const ROW = z.strictObject({
  transport: z.enum(["clear", "tls", "mtls"]),
  callers: z.enum(["anonymous", "bearer", "certificate", "did"]),
  messages: z.enum(["plain", "signed", "sealed"]),
  signedCards: z.boolean(),
  because: line,
});

/** One protocol in one deployment, or a control. */
export const TARGET = z.strictObject({
  id: name,
  /** Null: a control. */
  protocol: name.nullable(),
  deployment: z.enum(["minimal", "recommended", "open", "hardened"]),
  row: ROW,
});
export type Target = z.infer<typeof TARGET>;

export const PLAN = z.strictObject({
  schema: z.literal(SCHEMA_VERSION),
  kind: z.literal(KIND),
  scenario: z.literal("safety"),
  mode: z.enum(["quick", "paper", "custom"]),
  config: PROBE_CONFIG,
  targets: z.array(TARGET).min(1),
  /** What the router decided, where one target executes its plan. */
  routing: ROUTING.optional(),
});
export type Plan = z.infer<typeof PLAN>;

/** What counts as the right refusal of a probe. */
export const REFUSALS = ["alert", "certificate", "not_tls", "tls_required", "denied", "closed", "absent"] as const;

/** What was seen of one attempt. The outcome is computed from it. */
export const OBSERVATION = z.strictObject({
  /** What the attacker wanted happened. */
  goal: z.boolean(),
  /** The status of an HTTP answer. */
  status: z.number().nullable(),
  /** The name of the error in the form of the protocol. */
  name: line.nullable(),
  /** The TLS alert, by name. */
  alert: line.nullable(),
  /** The error of a client about a certificate. */
  certificate: line.nullable(),
  /** The connection was ended without a byte. */
  closed: z.boolean(),
  /** Anything else that went wrong: a timeout, a refused connection. */
  error: line.nullable(),
  /** Bytes that were searched, where something must be absent. */
  searched: count.nullable(),
});
export type Observation = z.infer<typeof OBSERVATION>;

export const EVENT = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("plan"), plan: PLAN }),
  z.strictObject({
    type: z.literal("target-started"),
    target: name,
    attempt: count.min(1),
    members: z.array(z.strictObject({ name, pid: count })),
  }),
  /** One case, asked of both doctors. */
  z.strictObject({ type: z.literal("consultation"), target: name, case: name, answered: count, asked: count }),
  z.strictObject({
    type: z.literal("attempt"),
    target: name,
    probe: z.enum(PROBES),
    variant: name,
    round: count,
    /** False: reported only. */
    scored: z.boolean(),
    refusals: z.array(z.enum(REFUSALS)),
    observed: OBSERVATION,
    /** A legitimate request right before and right after. */
    before: z.boolean(),
    after: z.boolean(),
    /** What the probe itself must show before its result counts, such as a canary that was found. */
    controls: z.array(z.strictObject({ name, passed: z.boolean() })),
    /** In the result folder. */
    evidence: z.string().max(500),
  }),
  z.strictObject({
    type: z.literal("target-ended"),
    target: name,
    status: z.enum(["complete", "failed", "interrupted"]),
    reason: line.nullable(),
    seconds: z.number(),
  }),
]);
export type SafetyEvent = z.infer<typeof EVENT>;
export type Attempt = Extract<SafetyEvent, { type: "attempt" }>;
