import type { Maybe } from "../../envelope/index.js";
import { CAPABILITIES, FACETS, type Features } from "../../protocols/features.js";
import { CONNECTING_WORDS } from "./connecting-words.js";

const WORD = /[\p{L}\p{M}]+(?:['’][\p{L}\p{M}]+)*/gu;

/** The words of a text as they stand there. What hangs together by hyphens counts as several. */
function wordsIn(text: string): readonly string[] {
  return text.match(WORD) ?? [];
}

/** What an ending is replaced by, the longest first; the number of letters that have to be left in front of it. */
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

/** What the inflections of a word share. Rough: both sides of a comparison are cut the same way, and only have to meet. */
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

/** The same for every decision: the words of the model, and those that hold sentences together. Made when first needed. */
function stemsOfModel(): ReadonlySet<string> {
  const model = CAPABILITIES.flatMap(({ id, label, means }) => [id, label, means]);
  always ??= new Set(stemsIn([CONNECTING_WORDS, ...model, ...Object.entries(FACETS).flat()]));
  return always;
}

/** Rows are asked for again and again, and their words do not change. */
const ofRows = new WeakMap<Features, ReadonlySet<string>>();

function stemsOfRow(row: Features): ReadonlySet<string> {
  const known = ofRows.get(row) ?? new Set(stemsIn([row.madeFor, row.lessSuitedFor, ...row.facts]));
  ofRows.set(row, known);
  return known;
}

/** Which words of a text come neither from the feature model nor from the evidence, nor merely connect. Each once, as written. */
export function strangersIn(text: string, spans: readonly string[], features: readonly Features[]): readonly string[] {
  const known = [stemsOfModel(), new Set(stemsIn(spans)), ...features.map(stemsOfRow)];
  const strange = new Map<string, string>();
  for (const word of wordsIn(text)) {
    const stem = stemOf(word);
    if (!known.some((stems) => stems.has(stem)) && !strange.has(stem)) strange.set(stem, word);
  }
  return [...strange.values()];
}
