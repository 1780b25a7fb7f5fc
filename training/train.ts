// Generates the router's weights from the sentences in this folder. Run by `npm run train:router`; `--check` verifies that the committed weights match the sentences.
import { readFileSync, writeFileSync } from "node:fs";
import { manners, subjects } from "../src/router/evidence/marks.js";
import { READINGS } from "../src/router/evidence/readings.js";
import { subjectsBy } from "../src/router/evidence/subject.js";
import { Scales } from "../src/router/evidence/weigh.js";
import type { Learned as Kept, Weights } from "../src/router/evidence/weights.js";
import { wordsOf } from "../src/router/text/words.js";
import { packMarks } from "./pack-marks.js";
import { type Learned, learn } from "./regression.js";
import { readSamples, type Sample } from "./samples.js";

const TARGET = new URL("../src/router/evidence/weights.json", import.meta.url);
/** Weights are written as one character each, as steps above or below the character of zero; none needs an escape. */
const STEP = 0.15;
const HIGHEST = 28;
const ZERO = 63;

/** As it is kept, and as the router will read it. */
function kept({ marks, weights, biases }: Learned): Kept {
  const level = (weight: number): number => Math.max(-HIGHEST, Math.min(HIGHEST, Math.round(weight / STEP)));
  const characters = Array.from(weights, (weight) => String.fromCharCode(ZERO + level(weight)));
  const { list, order } = packMarks(marks);
  return {
    marks: list,
    weights: order.flatMap((at) => characters.slice(at * biases.length, (at + 1) * biases.length)).join(""),
    zero: ZERO,
    step: STEP,
    biases: Array.from(biases, (bias) => Math.round(bias * 100) / 100),
  };
}

/** The subject is learned from needs, and from sentences unrelated to any. */
function learnSubjects(samples: readonly Sample[]): Kept {
  const lessons = samples
    .filter(({ turned }) => !turned)
    .map(({ text, reading }) => ({ marks: subjects(wordsOf(text)).map(({ mark }) => mark), right: reading }));
  return kept(learn(lessons, { classes: READINGS.length, sentences: 2 }));
}

/** The stance is learned from needs, and from sentences that only mention one. */
function learnManners(samples: readonly Sample[], isSubject: ReturnType<typeof subjectsBy>): Kept {
  const lessons = samples
    .filter(({ turned, reading }) => turned || READINGS[reading] !== "none")
    .map(({ text, turned }) => ({ marks: manners(wordsOf(text), isSubject).map(({ mark }) => mark), right: turned ? 1 : 0 }));
  return kept(learn(lessons, { classes: 2, sentences: 3 }));
}

function trained(): string {
  const samples = readSamples();
  const subjects = learnSubjects(samples);
  const manners = learnManners(samples, subjectsBy(new Scales(subjects)));
  const weights: Weights = { subjects, manners };
  return `${JSON.stringify(weights)}\n`;
}

const text = trained();
if (!process.argv.includes("--check")) {
  writeFileSync(TARGET, text);
  console.log(`${text.length} characters written`);
} else if (readFileSync(TARGET, "utf8") !== text) {
  console.error("the router's weights are not those of its training sentences: run npm run train:router");
  process.exitCode = 1;
} else console.log("the router's weights are those of its training sentences");
