import { copyFileSync, existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { FILES } from "../../bench/protocols/index.js";
import { AgentError } from "../../src/index.js";
import { defaultCandidates, parseRanking } from "../../src/router/index.js";
import { CliError, EXIT } from "./exit.js";

/** Loaded on demand: most commands do not need the router. */
const load = () => import("../../bench/routerbench/index.js");
/** The levels are in this file of the corpus. */
const WITH_LEVELS = "scenarios.jsonl";
const PRIORS = z.looseObject({ protocols: z.array(z.unknown()) });

export interface AccuracyContext {
  /** Where the numbers are kept. */
  readonly folder: string;
  /** The folder of a result whose priors act in spec+perf. */
  readonly priorsOf: string;
  readonly koine: string;
  readonly signal: AbortSignal;
  onProgress(run: string, done: number, total: number): void;
}

/** Measures how often the router is right, spec-only and with the priors of a result that was just measured. */
export async function measureAccuracy({ folder, priorsOf, koine, signal, onProgress }: AccuracyContext): Promise<void> {
  const benchmark = await load();
  const paths = (await benchmark.ownCorpus()).filter((path) => path.endsWith(WITH_LEVELS));
  const priors = join(priorsOf, FILES.priors);
  const ranking = hasPriors(priors) ? await benchmark.readInput(priors) : undefined;
  const candidates = defaultCandidates().map(({ name }) => name);
  const inputs = { scenarios: await benchmark.readInputs(paths), ranking };
  const settings = {
    modes: ["spec", "spec+perf"] as const,
    ablate: [],
    embeddings: false,
    ranking:
      ranking === undefined
        ? benchmark.DEFAULT_RANKING
        : (await parseRanking(ranking.text)).filter((name) => candidates.includes(name)),
    ...{ model: null, seed: 0, temperature: 0, split: null },
  };
  const { tools, close } = await benchmark.openTools({ signal, embeddings: false, onProgress });
  try {
    const bench = await benchmark.runBench(inputs, settings, tools);
    const texts = benchmark.textsOf(bench);
    const facts = { koine, settings, candidates: tools.engine.candidates, inputs };
    await benchmark.checkFolder(folder, true);
    await benchmark.writeFolder(folder, texts, benchmark.manifestOf(texts, { ...facts, stamped: undefined }), facts);
    // Beside what it decided, where verification looks for it.
    if (ranking !== undefined) copyFileSync(priors, join(folder, FILES.priors));
  } catch (thrown) {
    if (thrown instanceof AgentError && !signal.aborted) throw new CliError(EXIT.failure, thrown.message);
    throw thrown;
  } finally {
    await close();
  }
}

/** Where no run of a result is complete, its priors name no protocol, and there is nothing to rank by. */
function hasPriors(path: string): boolean {
  return existsSync(path) && PRIORS.parse(JSON.parse(readFileSync(path, "utf8"))).protocols.length > 0;
}

/** What is not what the inputs give, in a folder that `measureAccuracy` wrote. */
export async function accuracyDifferences(
  folder: string,
  koine: string,
): Promise<readonly { readonly path: string; readonly stated: unknown; readonly computed: unknown }[]> {
  const benchmark = await load();
  const { signal } = new AbortController();
  const { tools, close } = await benchmark.openTools({ signal, embeddings: false });
  try {
    const paths = [...(await benchmark.ownCorpus()), ...readdirSync(folder).map((name) => join(folder, name))];
    const { differences } = await benchmark.verifyFolder(folder, { paths, koine, toolsFor: () => Promise.resolve(tools) });
    return differences.map(({ file, because }) => ({ path: file, stated: because, computed: "another text" }));
  } catch (thrown) {
    throw thrown instanceof AgentError ? new CliError(EXIT.failure, `${folder}: ${thrown.message}`) : thrown;
  } finally {
    await close();
  }
}
