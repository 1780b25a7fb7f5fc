import { readFileSync } from "node:fs";
import { packageFile } from "../../transport/node/package-file.js";

/** The parameters of one logistic regression, as `weights.json` holds them. */
export interface Learned {
  /** The features of the model, separated by bars. */
  readonly marks: string;
  /** For each feature one character per class: the number of steps above or below the character of weight zero. */
  readonly weights: string;
  readonly zero: number;
  readonly step: number;
  /** The initial score of each class. */
  readonly biases: readonly number[];
}

/** `weights.json`, generated from the sentences in training/ by `npm run train:router`. */
export interface Weights {
  /** Which capability a text is about. */
  readonly subjects: Learned;
  /** Whether it asks for it. */
  readonly manners: Learned;
}

/** Reads the file: over a megabyte, so callers do it once, on first use. */
export function readWeights(): Weights {
  return JSON.parse(readFileSync(packageFile("src/router/evidence/weights.json"), "utf8")) as Weights; // generated, and checked by the trainer
}
