import type { Maybe } from "../../envelope/index.js";
import { CAPABILITIES, FACETS, type Features } from "../../protocols/features.js";
import { CONNECTING_WORDS } from "./connecting-words.js";

const WORD = /[\p{L}\p{M}]+(?:['’][\p{L}\p{M}]+)*/gu;

/** The words of a text in their original form. Hyphenated words count as several. */
function wordsIn(text: string): readonly string[] {
  return text.match(WORD) ?? [];
}

/** The replacement of each ending, longest first, and the minimum number of letters before it. */
const ENDINGS: readonly (readonly [RegExp, string, number])[] = [
  [/['’](?:s|re|ve|ll|d)$|n['’]t$/, "", 1],
  [/ies$|ied$/, "y", 2],
  [/(?<=s|x|z|ch|sh)es$/, "", 2],
  [/(?<![sui])s$/, "", 3],
  [/ing$|ed$/, "", 3],
  [/ly$/, "", 4],
  [/(?<=[ts])ion$/, "", 4],
  [/ity$/, "", 4],
  [/([bdglmnprt])(?<=\1\1)$/, "", 3],
  [/e$/, "", 3],
  [/y$/, "i", 2],
];

/** A rough stem: both sides of a comparison are stemmed the same way. */
function stemOf(word: string): string {
  let stem = word.normalize("NFKC").toLowerCase();
  for (const [ending, instead, least] of ENDINGS) {
    const at = stem.search(ending);
    if (at >= least) stem = stem.slice(0, at) + instead;
  }
  return stem;
}

const stemsIn = (texts: readonly string[]): readonly string[] => texts.flatMap(wordsIn).map(stemOf);

let always: Maybe<ReadonlySet<string>>;

/** The same for every decision: the words of the model, and connecting words. Built on first use. */
function stemsOfModel(): ReadonlySet<string> {
  const model = CAPABILITIES.flatMap(({ id, label, means }) => [id, label, means]);
  always ??= new Set(stemsIn([CONNECTING_WORDS, ...model, ...Object.entries(FACETS).flat()]));
  return always;
}

/** Cached: the words of a row do not change. */
const ofRows = new WeakMap<Features, ReadonlySet<string>>();

function stemsOfRow(row: Features): ReadonlySet<string> {
  const known = ofRows.get(row) ?? new Set(stemsIn([row.madeFor, row.lessSuitedFor, ...row.facts]));
  ofRows.set(row, known);
  return known;
}

/** The words of a text that are neither from the feature model nor the evidence, nor connecting words. Each once, as written. */
export function unknownWordsIn(text: string, spans: readonly string[], features: readonly Features[]): readonly string[] {
  const known = [stemsOfModel(), new Set(stemsIn(spans)), ...features.map(stemsOfRow)];
  const unknown = new Map<string, string>();
  for (const word of wordsIn(text)) {
    const stem = stemOf(word);
    if (!known.some((stems) => stems.has(stem)) && !unknown.has(stem)) unknown.set(stem, word);
  }
  return [...unknown.values()];
}
