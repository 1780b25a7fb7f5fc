import type { Sentence } from "../text/clauses.js";
import { foldCase } from "../text/fold-case.js";

/** A sentence that introduces the actual point; what precedes it is background. */
const COMES_TO_THE_POINT =
  /^(?:but |and |so |yet )?(?:here|instead|this (?:one|module|part|piece|item|service|ticket)|the (?:present|new) (?:module|product|part|one)|the module itself|our (?:bit|part|job|task|module|piece|end|share)|ours|to (?:us|our module)|for (?:us|(?:our|this) (?:module|part|piece))|only this|what (?:counts|matters|we need|is needed)|need|we (?:only|merely|just)|the (?:whole )?point)\b/u;
/** A sentence that retracts the one before it. */
const TAKES_BACK =
  /^(?:that|it|this|which) (?:was|were|has been) (?:ruled out|dropped|rejected|turned down|abandoned|given up)|^(?:that(?:'s| is)|it(?:'s| is)|this is|those are|they are|these are)(?: all)? (?:merely|only|just|not ours|none of|another|somebody|someone|for (?:others|another))|^(?:no|not|nope|never|ignore that|forget it|forget that)\b(?! one\b| a\b| the\b)/u;

/** A heading names the whole and asks for nothing: "Title: Signature dishes". */
const HEADING = /^(?:title|subject|heading|headline|re|project|name|working title|code ?name)\s*:/u;

const BEFORE_THE_POINT = 0.6;
const IN_A_HEADING = 0.2;
const TAKEN_BACK = 0.2;

/** The trust in each sentence of a text, from 0 to 1. */
export function trustOf(text: string, sentences: readonly Sentence[]): readonly number[] {
  const starts = sentences.map(({ start, end }) => foldCase(text.slice(start, end)).replaceAll("’", "'"));
  const point = starts.findIndex((start, index) => index > 0 && COMES_TO_THE_POINT.test(start));
  return starts.map((start, index) => {
    const next = starts[index + 1];
    if (next !== undefined && HEADING.test(start)) return IN_A_HEADING;
    const questioned = text.charAt(sentences[index]?.end ?? text.length) === "?";
    if (next !== undefined && TAKES_BACK.test(next) && (questioned || !/^(?:no|not|never)\b/u.test(next))) return TAKEN_BACK;
    return index < point ? BEFORE_THE_POINT : 1;
  });
}
