import { existsSync, rmSync } from "node:fs";
import { loadavg } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import { FILES, prepareFolder, readFile, writeJson } from "../folder/folder.js";
import { originOf } from "../folder/manifest.js";
import { SCHEMA_VERSION } from "../result/index.js";
import { ORIGIN } from "../result/manifest.js";

const KIND = "koine-bench-suite";
const name = z.string().min(1).max(200);

/** What the user chose. The parts of a suite follow from it, so that a suite can be gone on with. */
const CHOICE = z.strictObject({
  /** `all`: every scenario. `paper`: with the parameters of the paper. */
  suite: z.enum(["all", "paper"]),
  mode: z.enum(["smoke", "quick", "full"]),
  protocols: z.array(name).nullable(),
  seed: z.number().int().nonnegative(),
  /** Runs of each arm; null: what each part has by itself. */
  runs: z.number().int().min(1).nullable(),
  /** Only these parts; null: all. */
  parts: z.array(name).nullable(),
  /** What times are divided by, and rates multiplied with. */
  timeScale: z.number().positive(),
  /** The parameters of the paper as they were used, by name, before they were scaled. */
  parameters: z.record(name, z.number()),
  /** Those of them that are divided or multiplied by the time scale. */
  scaled: z.array(name),
});
export type SuiteChoice = z.infer<typeof CHOICE>;

const STATUS = z.enum(["complete", "partial", "invalid"]);
export type SuiteStatus = z.infer<typeof STATUS>;

const PART = z.strictObject({
  /** Also the name of its folder. */
  name: z.string().regex(/^[a-z][a-z-]{0,63}$/),
  scenario: name,
  /** Null: not measured yet. */
  status: STATUS.nullable(),
  /** Of all times that it was worked on. */
  seconds: z.number().nonnegative(),
  /** Why it could not be measured. */
  problem: z.string().max(2_000).nullable(),
});
export type SuitePart = z.infer<typeof PART>;

/** The manifest of a folder with several results. */
const SUITE = z.strictObject({
  schema: z.literal(SCHEMA_VERSION),
  kind: z.literal(KIND),
  ...ORIGIN.shape,
  choice: CHOICE,
  parts: z.array(PART).min(1),
});
export type Suite = z.infer<typeof SUITE>;

/** Whether a folder holds several results. */
export function isSuiteFolder(folder: string): boolean {
  const path = join(folder, FILES.manifest);
  return existsSync(path) && readFile(folder, FILES.manifest, z.looseObject({ kind: z.unknown().optional() })).kind === KIND;
}

export function readSuite(folder: string): Suite {
  return readFile(folder, FILES.manifest, SUITE);
}

export interface SuiteBegin {
  readonly koine: string;
  readonly choice: SuiteChoice;
  readonly parts: readonly Pick<SuitePart, "name" | "scenario">[];
  readonly force: boolean;
}

export function beginSuite(folder: string, { koine, choice, parts, force }: SuiteBegin): Suite {
  prepareFolder(folder, force);
  // A part finds nothing of a suite that was given up to go on with.
  for (const { name } of parts) rmSync(join(folder, name, FILES.manifest), { force: true });
  const suite: Suite = {
    schema: SCHEMA_VERSION,
    kind: KIND,
    ...originOf(koine),
    loadAfter: null,
    endedAt: null,
    choice,
    parts: parts.map((part) => ({ ...part, status: null, seconds: 0, problem: null })),
  };
  writeSuite(folder, suite);
  return suite;
}

export function writeSuite(folder: string, suite: Suite): void {
  writeJson(folder, FILES.manifest, suite);
}

/** The same with what is known about one part. */
export function withPart(suite: Suite, part: SuitePart): Suite {
  return { ...suite, parts: suite.parts.map((each) => (each.name === part.name ? part : each)) };
}

export function endSuite(suite: Suite): Suite {
  return { ...suite, loadAfter: loadavg()[0] ?? 0, endedAt: new Date().toISOString() };
}

/** A suite is as good as its worst part. */
export function statusOf({ parts }: Pick<Suite, "parts">): SuiteStatus {
  if (parts.some(({ status }) => status === "invalid")) return "invalid";
  return parts.every(({ status }) => status === "complete") ? "complete" : "partial";
}
