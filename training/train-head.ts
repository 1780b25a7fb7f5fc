// Makes the head that reads sentence embeddings, from the same sentences as the router's weights. Run by `npm run train:head`,
// which needs `koine embeddings install`; `--check` says whether the sentences have changed since, and needs nothing. Vectors
// differ in their last digits from machine to machine, so what is checked is the sentences and not the numbers.
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { openEmbedder } from "../src/router/embeddings/index.js";
import { READINGS } from "../src/router/evidence/readings.js";
import { shares } from "../src/router/evidence/shares.js";
import { Moving, randomNumbers, shuffle } from "./regression.js";
import { readSamples, type Sample } from "./samples.js";

const TARGET = new URL("../src/router/embeddings/head.json", import.meta.url);
const EPOCHS = 10;
const RATE = 0.05;
const DECAY = 3e-3;
/** Numbers of a vector are about one twentieth; as inputs of about one they learn as fast as the biases do. */
const SCALE = 20;
/** Weights are written as one character each, like the router's: steps above or below the character of zero. */
const HIGHEST = 28;
const ZERO = 63;
/** Progress output. */
const TOLD_EVERY = 1_000;

interface TrainedHead {
  /** For each number of a vector, its weight in each reading. */
  readonly weights: Float64Array;
  readonly biases: Float64Array;
}

/** Multinomial logistic regression with a rate per weight (Adagrad). */
function trainHead(vectors: readonly Float32Array[], samples: readonly Sample[]): TrainedHead {
  const size = READINGS.length;
  const weights = new Moving((vectors[0]?.length ?? 0) * size);
  const biases = new Moving(size);
  const scores = new Float64Array(size);
  const learn = (vector: Float32Array, right: number): void => {
    scores.set(biases.values);
    for (let at = 0; at < vector.length; at++)
      for (let reading = 0; reading < size; reading++)
        scores[reading] = (scores[reading] ?? 0) + (vector[at] ?? 0) * SCALE * (weights.values[at * size + reading] ?? 0);
    const slopes = shares(scores);
    slopes[right] = (slopes[right] ?? 0) - 1;
    for (let reading = 0; reading < size; reading++) biases.move(reading, slopes[reading] ?? 0, RATE);
    for (let at = 0; at < vector.length; at++) {
      const input = (vector[at] ?? 0) * SCALE;
      for (let reading = 0; reading < size; reading++) {
        const place = at * size + reading;
        weights.move(place, (slopes[reading] ?? 0) * input + DECAY * (weights.values[place] ?? 0), RATE);
      }
    }
  };
  const random = randomNumbers(1);
  const order = samples.map((_, index) => index);
  for (let epoch = 0; epoch < EPOCHS; epoch++) {
    shuffle(order, random);
    for (const index of order) learn(vectors[index] ?? new Float32Array(), samples[index]?.reading ?? 0);
  }
  return { weights: weights.values, biases: biases.values };
}

/** The inputs of the head: the sentences, their readings, and the order of the readings. */
function digestOf(samples: readonly Sample[]): string {
  const digest = createHash("sha256").update(READINGS.join("|"));
  for (const { text, reading } of samples) digest.update(`\n${reading}\t${text}`);
  return digest.digest("hex");
}

function write({ weights, biases }: TrainedHead, sha256: string): string {
  const highest = weights.reduce((most, weight) => Math.max(most, Math.abs(weight)), 0);
  const step = Math.ceil((highest / HIGHEST) * 1e4) / 1e4;
  const characters = Array.from(weights, (weight) => String.fromCharCode(ZERO + Math.round(weight / step))).join("");
  const head = {
    sentencesSha256: sha256,
    zero: ZERO,
    step: Number((step * SCALE).toFixed(4)),
    biases: Array.from(biases, (bias) => Number(bias.toFixed(2))),
    weights: characters,
  };
  return `${JSON.stringify(head)}\n`;
}

async function embedAll(samples: readonly Sample[]): Promise<readonly Float32Array[]> {
  const embedder = await openEmbedder();
  const vectors: Float32Array[] = [];
  try {
    for (const { text } of samples) {
      vectors.push(...(await embedder.embed([text])));
      if (vectors.length % TOLD_EVERY === 0) console.error(`${vectors.length} of ${samples.length} sentences read`);
    }
  } finally {
    await embedder.close();
  }
  return vectors;
}

const samples = readSamples();
const sha256 = digestOf(samples);
if (!process.argv.includes("--check")) {
  const text = write(trainHead(await embedAll(samples), samples), sha256);
  writeFileSync(TARGET, text);
  console.log(`${text.length} characters written`);
} else if (!readFileSync(TARGET, "utf8").includes(`"sentencesSha256":"${sha256}"`)) {
  console.error("the head for sentence embeddings is not that of the training sentences: run npm run train:head");
  process.exitCode = 1;
} else console.log("the head for sentence embeddings is that of the training sentences");
