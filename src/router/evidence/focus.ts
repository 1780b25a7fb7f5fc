import type { Sentence } from "../text/clauses.js";

/** A sentence that introduces the actual point; what precedes it is background. */
const COMES_TO_THE_POINT =
  /^(?:but |and |so |yet )?(?:here|instead|this (?:one|module|part|piece|item|service|ticket)|the (?:present|new) (?:module|product|part|one)|the module itself|our (?:bit|part|job|task|module|piece|end|share)|ours|to (?:us|our module)|for us|what (?:counts|matters|we need|is needed)|need|we (?:only|merely|just)|the (?:whole )?point)\b/iu;
/** A sentence that retracts the one before it. */
const TAKES_BACK =
  /^(?:that|it|this|which) (?:was|were|has been) (?:ruled out|dropped|rejected|turned down|abandoned|given up)|^(?:that(?:'s| is)|it(?:'s| is)|this is|those are|they are|these are)(?: all)? (?:merely|only|just|not ours|none of|another|somebody|someone|for (?:others|another))|^(?:no|not|nope|never|ignore that|forget it|forget that)\b(?! one\b| a\b| the\b)/iu;

const BEFORE_THE_POINT = 0.6;
const TAKEN_BACK = 0.2;

/** The trust in each sentence of a text, from 0 to 1. */
export function trustOf(text: string, sentences: readonly Sentence[]): readonly number[] {
  const starts = sentences.map(({ start, end }) => text.slice(start, end).replaceAll("’", "'"));
  const point = starts.findIndex((start, index) => index > 0 && COMES_TO_THE_POINT.test(start));
  return starts.map((_, index) => {
    const next = starts[index + 1];
    const questioned = text.charAt(sentences[index]?.end ?? text.length) === "?";
    if (next !== undefined && TAKES_BACK.test(next) && (questioned || !/^(?:no|not|never)\b/iu.test(next))) return TAKEN_BACK;
    return index < point ? BEFORE_THE_POINT : 1;
  });
}
