import { z } from "zod";
import { SCHEMA_VERSION, SETTINGS } from "./plan.js";
import { PROTECTION } from "./result.js";

const digest = z.string().regex(/^[0-9a-f]{64}$/);
const text = z.string();

/** A file that went into the measurement. */
const INPUT = z.strictObject({ role: z.enum(["data", "prompt", "recording"]), name: text, bytes: z.number(), sha256: digest });

/** The same for every scenario: the program, the machine, and when it ran. */
export const ORIGIN = z.strictObject({
  koine: text,
  /** The commit of the source tree, if it runs from one. */
  commit: text.nullable(),
  /** Uncommitted changes in it. */
  dirty: z.boolean().nullable(),
  /** SHA-256 of package-lock.json. */
  lock: digest.nullable(),
  node: text,
  machine: z.strictObject({
    system: text,
    kernel: text,
    architecture: text,
    cpu: text,
    cores: z.number(),
    governor: text.nullable(),
    memoryBytes: z.number(),
    clock: text,
  }),
  /** One-minute load average. */
  loadBefore: z.number(),
  loadAfter: z.number().nullable(),
  startedAt: text,
  endedAt: text.nullable(),
});

/** Where a result comes from: everything needed to judge and to repeat it. */
export const MANIFEST = z.strictObject({
  schema: z.literal(SCHEMA_VERSION),
  ...ORIGIN.shape,
  /** Versions of the implementations that were measured, by package. */
  versions: z.record(text, text),
  scenario: text,
  settings: SETTINGS,
  /** The arms of each block in the order in which they were measured. */
  blockOrder: z.array(z.array(text)),
  /** What protected the messages of each arm; set at the end. */
  protection: z.record(text, PROTECTION.nullable()).nullable(),
  inputs: z.array(INPUT),
  /** How the model was asked; null without one. */
  decoding: z
    .strictObject({
      model: text,
      temperature: z.number(),
      topP: z.number(),
      maxTokens: z.number(),
      requestsPerSecond: z.number().nullable(),
    })
    .nullable(),
  /** Set when the last event is written. */
  events: z.strictObject({ lines: z.number(), bytes: z.number(), sha256: digest }).nullable(),
});
export type Origin = z.infer<typeof ORIGIN>;
export type Manifest = z.infer<typeof MANIFEST>;
export type ManifestInput = z.infer<typeof INPUT>;
