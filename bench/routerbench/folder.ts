import { mkdir, readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Bench, BenchInputs } from "./bench.js";
import type { Entry, Run } from "./entry.js";
import { reportHtml } from "./html.js";
import { type InputFile, sha256 } from "./inputs.js";
import { overviewOf } from "./overview.js";
import { type BenchSettings, inOrder } from "./plan.js";
import { reportJson } from "./report.js";
import { AgentError, type Features } from "./router.js";
import { formatSections } from "./table.js";
import { sectionsOf } from "./tables.js";

/** The files of a run, besides its manifest. */
export const FILES = ["decisions.jsonl", "metrics.json", "tables.txt", "report.html"] as const;
export type FileName = (typeof FILES)[number];
export const MANIFEST = "manifest.json";
/** The same facts in short, in the layout of the paper. */
export const OVERVIEW = "MANIFEST.yaml";

/** The contents of the result files, by name. */
export type Texts = { readonly [name in FileName]: string };

export type Role = "scenarios" | "train" | "ranking" | "prompt";

export interface ManifestInput {
  readonly role: Role;
  /** Base name. */
  readonly name: string;
  readonly bytes: number;
  readonly sha256: string;
  /** Of version control, for scenarios; null where there is none. */
  readonly commit?: string | null | undefined;
}

/** Everything the other files depend on, and their digests. Contains neither time nor paths unless requested. */
export interface Manifest {
  readonly schema: 1;
  readonly koine: string;
  readonly stamped?: string | undefined;
  readonly settings: BenchSettings;
  readonly candidates: readonly Features[];
  readonly inputs: readonly ManifestInput[];
  readonly files: readonly { readonly name: FileName; readonly bytes: number; readonly sha256: string }[];
}

/** The four files. Pure: the same decisions give the same bytes. */
export function textsOf({ report, runs }: Bench): Texts {
  return {
    "decisions.jsonl": runs.flatMap(decisionLines).join(""),
    "metrics.json": reportJson(report),
    "tables.txt": formatSections(sectionsOf(report, { wrong: false })),
    "report.html": reportHtml(report),
  };
}

function decisionLines({ plan, entries }: Run): readonly string[] {
  return entries.map((entry) => `${JSON.stringify({ run: plan.name, ...lineOf(entry) })}\n`);
}

function lineOf({ of, module, answer }: Entry): object {
  const { file, scenario } = of;
  const { label, id } = module;
  if (answer.kind === "decision") return { file, label, decision: answer.decision };
  return { file, label, scenario_id: scenario.id, module_id: id, because: answer.because };
}

export interface ManifestFacts {
  readonly koine: string;
  readonly stamped?: string | undefined;
  readonly settings: BenchSettings;
  readonly candidates: readonly Features[];
  readonly inputs: BenchInputs;
}

/** The manifest of a result folder: versions, settings, inputs and digests of the files. */
export function manifestOf(texts: Texts, { koine, stamped, settings, candidates, inputs }: ManifestFacts): string {
  const { scenarios, train, ranking, prompt } = inputs;
  const manifest: Manifest = {
    schema: 1,
    koine,
    ...(stamped === undefined ? {} : { stamped }),
    settings: inOrder(settings),
    candidates,
    inputs: [
      ...scenarios.map((input) => ({ ...facts("scenarios", input), commit: input.commit })),
      ...(train === undefined ? [] : [facts("train", train)]),
      ...(ranking === undefined ? [] : [facts("ranking", ranking)]),
      ...(prompt === undefined ? [] : [facts("prompt", prompt)]),
    ],
    files: FILES.map((name) => ({ name, bytes: Buffer.byteLength(texts[name]), sha256: sha256(texts[name]) })),
  };
  return `${JSON.stringify(manifest, undefined, 2)}\n`;
}

function facts(role: Role, { name, bytes, sha256: hash }: InputFile): ManifestInput {
  return { role, name, bytes, sha256: hash };
}

/** A missing or empty folder, so that no files are lost; with `force` our own are overwritten. */
export async function checkFolder(folder: string, force: boolean): Promise<void> {
  const names = await readdir(folder).catch((thrown: NodeJS.ErrnoException) => {
    if (thrown.code === "ENOENT") return [];
    throw new AgentError("conflict", `${folder} cannot be used as a folder (${thrown.code ?? "unknown reason"})`);
  });
  if (names.length > 0 && !force) throw new AgentError("conflict", `${folder} is not empty`);
}

/** The manifest is removed first and written last: an interrupted write leaves none. */
export async function writeFolder(
  folder: string,
  texts: Texts,
  manifest: string,
  { inputs, settings }: Pick<ManifestFacts, "inputs" | "settings">,
): Promise<void> {
  await mkdir(folder, { recursive: true });
  await rm(join(folder, MANIFEST), { force: true });
  for (const name of FILES) await writeFile(join(folder, name), texts[name]);
  await writeFile(join(folder, OVERVIEW), overviewOf(inputs, settings));
  await writeFile(join(folder, MANIFEST), manifest);
}
