import { readFileSync } from "node:fs";
import type { Maybe } from "../../envelope/index.js";
import { packageFile } from "../../transport/node/package-file.js";
import type { Embedder } from "../embedder.js";
import type { Readings } from "../evidence/capabilities.js";
import type { Span } from "../evidence/extract.js";
import { readWords } from "../evidence/prototypes.js";
import { READINGS } from "../evidence/readings.js";
import { shares } from "../evidence/shares.js";

/** Spans read this clearly from their words are not embedded. */
const CLEAR_SHARE = 0.7;
/** Limits of the embedded text, which bound the time of a decision. Longer spans are cut. */
const CHARACTERS_PER_MODULE = 400;
const SPANS_PER_MODULE = 8;

/** Reads spans by sentence embeddings. Spans that are clear without them, or beyond the limits, get no reading. */
export async function readSpans(spans: readonly Span[], embedder: Embedder): Promise<Readings> {
  const asked = unclearIn(spans);
  const vectors = await embedder.embed(asked.map(({ stretch }) => stretch));
  return new Map(
    asked.flatMap(({ span }, index) => {
      const vector = vectors[index];
      return vector === undefined ? [] : [[span, readVector(vector)]];
    }),
  );
}

interface Asked {
  readonly span: Span;
  readonly stretch: string;
}

/** The spans that are unclear from their words, the longest first. */
function unclearIn(spans: readonly Span[]): readonly Asked[] {
  const unclear = spans
    .filter(({ words }) => words.length > 0 && !isClear(words))
    .map((span) => ({ span, stretch: stretchOf(span).slice(0, CHARACTERS_PER_MODULE) }))
    .sort((a, b) => b.stretch.length - a.stretch.length || (a.stretch < b.stretch ? -1 : 1));
  const asked: Asked[] = [];
  let left = CHARACTERS_PER_MODULE;
  for (const each of unclear) {
    if (each.stretch.length > left) continue;
    asked.push(each);
    left -= each.stretch.length;
    if (asked.length === SPANS_PER_MODULE) break;
  }
  return asked;
}

/** `none` is never clear: unknown words read like that too. */
function isClear(words: Span["words"]): boolean {
  const { shares } = readWords(words, { phrases: true, stance: true });
  return READINGS.some((reading, index) => reading !== "none" && (shares[index] ?? 0) >= CLEAR_SHARE);
}

/** The text of a span. Words of another stance in between are replaced by an ellipsis. */
function stretchOf({ text, words }: Span): string {
  let stretch = "";
  let end = words[0]?.start ?? 0;
  for (const word of words) {
    const between = text.slice(end, word.start);
    stretch += (/[\p{L}\p{N}]/u.test(between) ? " … " : between) + text.slice(word.start, word.end);
    end = word.end;
  }
  return stretch;
}

/** `head.json`, generated from the sentences in training/ by `npm run train:head`. */
interface Head {
  /** For each number of a vector, its weight in each reading: one character each, as steps above or below the one for zero. */
  readonly weights: string;
  readonly zero: number;
  readonly step: number;
  readonly biases: readonly number[];
}

let loaded: Maybe<Head>;

function head(): Head {
  loaded ??= JSON.parse(readFileSync(packageFile("src/router/embeddings/head.json"), "utf8")) as Head;
  return loaded;
}

/** How likely each of `READINGS` is for a vector. */
export function readVector(vector: Float32Array): Float64Array {
  const { weights, zero, step, biases } = head();
  const size = READINGS.length;
  const scores = Float64Array.from(biases);
  for (let at = 0; at < vector.length; at++) {
    const scaled = (vector[at] ?? 0) * step;
    for (let reading = 0; reading < size; reading++)
      scores[reading] = (scores[reading] ?? 0) + scaled * (weights.charCodeAt(at * size + reading) - zero);
  }
  return shares(scores);
}
