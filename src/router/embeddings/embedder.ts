import { AgentError, type Maybe, RecentMap } from "../../envelope/index.js";
import type { Embedder } from "../embedder.js";
import { embeddingsDir } from "./install-folder.js";
import { VECTOR_SIZE } from "./packages.js";
import { loadRuntime, type Runtime } from "./runtime.js";
import { embeddingsStatus } from "./status.js";

/** Longer texts are cut. The model was trained on texts of about this length. */
const TEXT_TOKENS = 128;
/** Enough for that many tokens; the rest is not tokenized. */
const TEXT_CHARACTERS = 4_096;
/** Cached vectors, 1.5 KB each: a description is embedded once for all modules of its scenario. */
const RECENT_TEXTS = 1_000;

/** Runs in the process, one text at a time: a text of ten words blocks the event loop for a few milliseconds. */
export interface LocalEmbedder extends Embedder {
  /** Releases the memory of the model. May be called again. */
  close(): Promise<void>;
}

const INSTALL = "koine embeddings install";

/** Opens the sentence embeddings installed by `koine embeddings install`. Downloads nothing. */
export async function openEmbedder(options: { readonly dir?: Maybe<string> } = {}): Promise<LocalEmbedder> {
  const dir = embeddingsDir(options.dir);
  const { state, problem } = await embeddingsStatus({ dir });
  if (state === "absent")
    throw new AgentError("unsupported", `sentence embeddings are not installed: run \`${INSTALL}\``, {
      detail: { dir, run: INSTALL },
    });
  if (problem !== undefined)
    throw new AgentError("unsupported", `the sentence embeddings are damaged (${problem}): run \`${INSTALL}\``, {
      detail: { dir, run: INSTALL },
    });
  return new RuntimeEmbedder(await loadRuntime(dir));
}

class RuntimeEmbedder implements LocalEmbedder {
  #runtime: Maybe<Runtime>;
  readonly #recent = new RecentMap<Float32Array>(RECENT_TEXTS);

  constructor(runtime: Runtime) {
    this.#runtime = runtime;
  }

  async embed(texts: readonly string[]): Promise<readonly Float32Array[]> {
    const vectors: Float32Array[] = [];
    for (const text of texts) vectors.push(await this.#embedOne(text.slice(0, TEXT_CHARACTERS)));
    return vectors;
  }

  async close(): Promise<void> {
    const runtime = this.#runtime;
    this.#runtime = undefined;
    await runtime?.release();
  }

  async #embedOne(text: string): Promise<Float32Array> {
    if (this.#runtime === undefined) throw new AgentError("unavailable", "the sentence embeddings are closed");
    const known = this.#recent.get(text);
    // A copy, because the caller may write to it.
    if (known !== undefined) return known.slice();
    const vector = meanOf(await this.#runtime.run(shortened(this.#runtime.tokensOf(text))));
    this.#recent.set(text, vector.slice());
    return vector;
  }
}

/** The first tokens and the last one, which marks the end. */
function shortened(tokens: readonly number[]): readonly number[] {
  return tokens.length <= TEXT_TOKENS ? tokens : [...tokens.slice(0, TEXT_TOKENS - 1), ...tokens.slice(-1)];
}

/** The mean of the rows, normalized to length one. */
function meanOf(rows: Float32Array): Float32Array {
  const sums = new Float64Array(VECTOR_SIZE);
  for (let at = 0; at < rows.length; at++) sums[at % VECTOR_SIZE] = (sums[at % VECTOR_SIZE] ?? 0) + (rows[at] ?? 0);
  const length = Math.sqrt(sums.reduce((total, sum) => total + sum * sum, 0));
  return Float32Array.from(sums, (sum) => sum / length);
}
