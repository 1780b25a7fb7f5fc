import { installEmbeddings } from "../../src/router/embeddings/index.js";

/** Beside the files of other checks, so that one download serves a clean tree. */
const DIR = ".cache/embeddings";

/** Installs missing or damaged optional packages, and passes their folder to the tests. */
export async function setup(): Promise<void> {
  const { dir } = await installEmbeddings({ dir: DIR, onStep: (step, what) => console.error(`${step} ${what}`) });
  process.env["KOINE_EMBEDDINGS_DIR"] = dir;
}
