import type { LocalEmbedder } from "../../../../src/router/embeddings/index.js";
import type { Measurement } from "../../../harness/result.js";
import { answerCommands } from "../../../harness/worker.js";
import { type Case, casesOf, decideAbout, readScenarioFiles, timeEach } from "../cases.js";
import type { Corpus, Opening } from "../workload.js";

/** The router with sentence embeddings, where they are installed. */

let cases: readonly Case[] = [];

answerCommands({ read, tryToOpen, measure });

/** The number of modules. */
async function read(corpus: Corpus): Promise<number> {
  cases = casesOf(await readScenarioFiles(corpus));
  return cases.length;
}

async function tryToOpen(): Promise<Opening> {
  const start = performance.now();
  try {
    const embedder = await open();
    const ms = performance.now() - start;
    await embedder.close();
    return { kind: "open", ms };
  } catch (thrown) {
    return { kind: "absent", because: thrown instanceof Error ? thrown.message : String(thrown) };
  }
}

/** All modules once. An embedder caches, so a new one is used each time. */
async function measure(): Promise<Measurement> {
  const embedder = await open();
  try {
    await embedder.embed(["The first sentence takes longer than any other."]);
    return await timeEach(cases, 0, (each) => decideAbout(each, { embedder }));
  } finally {
    await embedder.close();
  }
}

/** Loaded only here: where nothing is installed, nothing of it is needed. */
async function open(): Promise<LocalEmbedder> {
  const { openEmbedder } = await import("../../../../src/router/embeddings/index.js");
  return openEmbedder();
}
