import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { loadavg } from "node:os";
import { dirname, join, relative } from "node:path";
import { z } from "zod";
import { FILES, prepareFolder, readFile, writeJson } from "../folder/folder.js";
import { originOf } from "../folder/manifest.js";
import { SCHEMA_VERSION } from "../result/index.js";
import { ORIGIN } from "../result/manifest.js";
import { CASES } from "./cases.js";
import { SAFETY_JUDGEMENTS, type SafetyJudgements } from "./judge/judgements.js";
import { PROBE_CONFIG } from "./probe-config.js";
import type { Evidence } from "./probes/probe.js";
import { KIND, type Plan } from "./result/event.js";
import { RESULT, resultJsonSchema, type SafetyResult } from "./result/result.js";
import type { Secrets } from "./secrets.js";

/** Requests, answers and excerpts, a file for each attempt. */
const EVIDENCE = "evidence";
const digest = z.string().regex(/^[0-9a-f]{64}$/);

/** Where a result comes from. */
const MANIFEST = z.strictObject({
  schema: z.literal(SCHEMA_VERSION),
  kind: z.literal(KIND),
  ...ORIGIN.shape,
  scenario: z.literal("safety"),
  config: PROBE_CONFIG,
  /** The cases that doctors are asked about. */
  data: z.strictObject({ cases: z.number(), sha256: digest }),
  /** Both set when the last event is written. */
  events: z.strictObject({ lines: z.number(), bytes: z.number(), sha256: digest }).nullable(),
  evidence: z.strictObject({ files: z.number(), sha256: digest }).nullable(),
});
export type SafetyManifest = z.infer<typeof MANIFEST>;

/** Whether the result in a folder is one of this scenario. */
export function isSafetyFolder(folder: string): boolean {
  const path = join(folder, FILES.manifest);
  return existsSync(path) && readFile(folder, FILES.manifest, z.looseObject({ kind: z.unknown().optional() })).kind === KIND;
}

export function readSafetyResult(folder: string): SafetyResult {
  return readFile(folder, FILES.result, RESULT);
}

export function readSafetyManifest(folder: string): SafetyManifest {
  return readFile(folder, FILES.manifest, MANIFEST);
}

/** Undefined: no model has judged here. */
export function readSafetyJudgements(folder: string): SafetyJudgements | undefined {
  return existsSync(join(folder, FILES.judgements)) ? readFile(folder, FILES.judgements, SAFETY_JUDGEMENTS) : undefined;
}

export function writeSafetyJudgements(folder: string, judgements: SafetyJudgements): void {
  writeJson(folder, FILES.judgements, judgements);
}

export function beginFolder(
  folder: string,
  plan: Plan,
  { koine, force }: { readonly koine: string; readonly force: boolean },
): SafetyManifest {
  prepareFolder(folder, force);
  rmSync(join(folder, EVIDENCE), { recursive: true, force: true });
  const manifest: SafetyManifest = {
    schema: SCHEMA_VERSION,
    kind: KIND,
    ...originOf(koine),
    loadAfter: null,
    endedAt: null,
    scenario: "safety",
    config: plan.config,
    data: { cases: CASES.length, sha256: sha256(JSON.stringify(CASES)) },
    events: null,
    evidence: null,
  };
  writeJson(folder, FILES.manifest, manifest);
  writeJson(folder, FILES.schema, resultJsonSchema());
  return manifest;
}

export function endManifest(
  manifest: SafetyManifest,
  events: SafetyManifest["events"],
  evidence: SafetyManifest["evidence"],
): SafetyManifest {
  return { ...manifest, loadAfter: loadavg()[0] ?? 0, endedAt: new Date().toISOString(), events, evidence };
}

/** Writes the evidence of an attempt without the credentials in it, and returns its place in the folder. */
export function writeEvidence(folder: string, names: readonly string[], evidence: Evidence, secrets: Secrets): string {
  const path = join(EVIDENCE, ...names.map((name) => name.replaceAll(/[^\w+.-]+/g, "-"))).concat(".json");
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), `${secrets.hideIn(JSON.stringify(evidence, undefined, 2))}\n`);
  return path;
}

/** Number and digest of all files of evidence, for the manifest. */
export function digestEvidence(folder: string): NonNullable<SafetyManifest["evidence"]> {
  const root = join(folder, EVIDENCE);
  const paths = existsSync(root)
    ? readdirSync(root, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => join(entry.parentPath, entry.name))
        .sort()
    : [];
  const lines = paths.map((path) => `${relative(folder, path)} ${sha256(readFileSync(path))}\n`);
  return { files: paths.length, sha256: sha256(lines.join("")) };
}

function sha256(content: string | Buffer): string {
  return createHash("sha256").update(content).digest("hex");
}
