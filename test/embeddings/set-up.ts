import { installEmbeddings } from "../../src/router/embeddings/index.js";

/** Beside what other checks fetch, so that one try of a clean tree is enough. */
const DIR = ".cache/embeddings";

/** Brings the optional packages where they are missing or damaged, and tells the tests where they are. */
export async function setup(): Promise<void> {
  const { dir } = await installEmbeddings({ dir: DIR, onStep: (step, what) => console.error(`${step} ${what}`) });
  process.env["KOINE_EMBEDDINGS_DIR"] = dir;
}
