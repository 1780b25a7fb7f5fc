import { readFileSync } from "node:fs";
import { packageFile } from "../../transport/node/package-file.js";

/**
 * The features of a model, by the numbers of their words: texts of tens of thousands of features take longer to take apart than all
 * the rest of a first decision. Weights are in the order of the members.
 */
export interface MarkList {
  /** All words of features, separated by bars: those that are features by themselves come first. */
  readonly words: string;
  /** How many words are features by themselves. */
  readonly ones: number;
  /** Words that are features at the beginning of a text. */
  readonly firsts: readonly number[];
  /** Prefixes of words, separated by bars. */
  readonly beginnings: string;
  /** A word and the next, one pair after the other. */
  readonly pairs: readonly number[];
  /** A word and the one after the next. */
  readonly apart: readonly number[];
}

/** The parameters of one logistic regression, as `weights.json` holds them. */
export interface Learned {
  readonly marks: MarkList;
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
