import { basename, join } from "node:path";
import { type BenchInputs, runBench } from "./bench.js";
import type { RunTools } from "./entry.js";
import { FILES, type FileName, MANIFEST, manifestOf, OVERVIEW, type Role, textsOf } from "./folder.js";
import { type InputFile, readInput, sha256 } from "./inputs.js";
import { parseManifest, type ReadManifest } from "./manifest.js";
import { overviewOf } from "./overview.js";
import { replayOf } from "./replay.js";
import { AgentError } from "./router.js";

/** A file that differs from the expected one. */
export interface Difference {
  readonly file: string;
  readonly because: string;
}

/** The result of verifying a result folder. */
export interface Verification {
  readonly differences: readonly Difference[];
  /** By which version it was made. */
  readonly koine: string;
  /** The answers of a model were taken from the decisions; all the rest was computed again. */
  readonly replayed: boolean;
}

export interface VerifyOptions {
  /** Where inputs may lie, besides the folder itself. */
  readonly paths: readonly string[];
  /** The version of this one. */
  readonly koine: string;
  /** Provides the tools for a run with these settings. */
  readonly toolsFor: (settings: ReadManifest["settings"]) => Promise<RunTools>;
}

/** Decisions of several runs are much more than the file they are about. */
const MAX_OUTPUT_BYTES = 256 * 1024 * 1024;

/** Computes everything again from the inputs, and reports the differences. */
export async function verifyFolder(folder: string, { paths, koine, toolsFor }: VerifyOptions): Promise<Verification> {
  const written = await readInput(join(folder, MANIFEST));
  const manifest = parseManifest(written.text);
  const onDisk = await readFiles(folder);
  const changed = changedFiles(manifest, onDisk);
  const { inputs, differences } = await findInputs(manifest, folder, paths);
  const replayed = manifest.settings.modes.includes("model");
  if (inputs === undefined) return { differences: [...differences, ...changed], koine: manifest.koine, replayed };

  const tools = await toolsFor(manifest.settings);
  const opinion = replayed ? replayOf(onDisk.get("decisions.jsonl")?.text ?? "") : undefined;
  const texts = textsOf(await runBench(inputs, manifest.settings, { ...tools, opinion }));
  const facts = { koine, stamped: manifest.stamped, settings: manifest.settings, candidates: tools.engine.candidates, inputs };
  return {
    differences: [
      ...changed,
      ...FILES.filter((name) => hashIn(manifest, name) !== sha256(texts[name])).map(recomputed),
      ...(manifestOf(texts, facts) === written.text ? [] : [recomputed(MANIFEST)]),
      ...(await changedOverview(folder, overviewOf(inputs, manifest.settings))),
    ],
    koine: manifest.koine,
    replayed,
  };
}

async function changedOverview(folder: string, expected: string): Promise<readonly Difference[]> {
  const file = await readIfThere(join(folder, OVERVIEW));
  if (file === undefined) return [{ file: OVERVIEW, because: "it is missing" }];
  return file.text === expected ? [] : [recomputed(OVERVIEW)];
}

function recomputed(file: string): Difference {
  return { file, because: "computing it again gives something else" };
}

function hashIn({ files }: ReadManifest, name: FileName): string | undefined {
  return files.find((each) => each.name === name)?.sha256;
}

async function readFiles(folder: string): Promise<ReadonlyMap<FileName, InputFile>> {
  const found = new Map<FileName, InputFile>();
  for (const name of FILES) {
    const file = await readIfThere(join(folder, name), MAX_OUTPUT_BYTES);
    if (file !== undefined) found.set(name, file);
  }
  return found;
}

async function readIfThere(path: string, maxBytes?: number): Promise<InputFile | undefined> {
  try {
    return await readInput(path, maxBytes);
  } catch (thrown) {
    if (thrown instanceof AgentError && thrown.code === "not_found") return undefined;
    throw thrown;
  }
}

function changedFiles(manifest: ReadManifest, onDisk: ReadonlyMap<FileName, InputFile>): readonly Difference[] {
  return FILES.flatMap((name): readonly Difference[] => {
    const file = onDisk.get(name);
    if (file === undefined) return [{ file: name, because: "it is missing" }];
    return file.sha256 === hashIn(manifest, name) ? [] : [{ file: name, because: "it was changed after it was written" }];
  });
}

/** Inputs go by base name and by hash. One that lies nowhere is an error; one that is another now is a difference. */
async function findInputs(
  { inputs }: ReadManifest,
  folder: string,
  paths: readonly string[],
): Promise<{ readonly inputs?: BenchInputs; readonly differences: readonly Difference[] }> {
  const differences: Difference[] = [];
  const found: { readonly [role in Role]: InputFile[] } = { scenarios: [], train: [], ranking: [], prompt: [] };
  for (const { role, name, sha256: hash, commit = null } of inputs) {
    const places = [...paths.filter((path) => basename(path) === name), join(folder, name)];
    const files = (await Promise.all(places.map((place) => readIfThere(place)))).filter((file) => file !== undefined);
    const right = files.find((file) => file.sha256 === hash);
    if (files.length === 0) throw new AgentError("not_found", `the input ${name} is not there; name it on the command line`);
    if (right === undefined) differences.push({ file: name, because: "the input is not the one that was used" });
    // Where it was in version control then cannot be computed again.
    else found[role].push({ ...right, commit });
  }
  if (differences.length > 0) return { differences };
  const [[train], [ranking], [prompt]] = [found.train, found.ranking, found.prompt];
  return { inputs: { scenarios: found.scenarios, train, ranking, prompt }, differences };
}
