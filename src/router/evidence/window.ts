import type { Maybe } from "../../envelope/index.js";
import type { Word } from "../text/words.js";
import type { Span } from "./extract.js";
import { isPlain } from "./marks.js";

/** The length of a quotation, in words: fewer are not informative, more repeat the text. A clause that cannot be divided may be longer. */
const WORDS = { fewest: 3, most: 14, mostWhole: 20 };
/** A quotation from the beginning or to the end of its clause is taken if it has this share of the best one's contribution. */
const NEARLY_AS_CLEAR = 0.6;
/** Joins a clause to the one before it, and is no part of what it says. */
const JOINS: ReadonlySet<string> = new Set(["and", "but", "or", "so", "yet", "then"]);

/** Begins a part of a sentence: a quotation may begin here, and end before it. */
const ADVERBIAL: ReadonlySet<string> = new Set(["when", "while", "once", "if", "before", "after", "until", "because", "unless"]);
/** Begins a part that what is before it needs: a quotation may begin here, but not end before it. */
const RELATIVE: ReadonlySet<string> = new Set(["that", "which", "who", "whose", "whoever", "where", "only"]);

/** Words in a row, with what they contribute. */
interface Run {
  readonly from: number;
  /** Exclusive. */
  readonly to: number;
  readonly sum: number;
}

/** The clause with the highest contribution, quoted verbatim: with its neighbours, all of it, or a part of a long one. */
export function windowOf(span: Span, weights: Float64Array): string {
  const { text, words } = span;
  const clauses = clausesOf(span).map((clause) => withSum(clause, weights));
  for (let fewest = Math.min(WORDS.fewest, words.length); fewest > 0; fewest--) {
    let chosen: Maybe<{ readonly clause: Run; readonly best: Run }>;
    for (const clause of clauses) {
      const best = clearest(clause, weights, fewest);
      if (best !== undefined && (chosen === undefined || best.sum > chosen.best.sum)) chosen = { clause, best };
    }
    if (chosen === undefined) continue;
    const { clause, best } = chosen;
    const isShort = clause.to - clause.from <= WORDS.most;
    return quoted(text, words, isShort ? withNeighbours(clause, clauses, span) : cut(clause, best, span, weights));
  }
  return "";
}

/** "Nobody between the two, the proxy included, may read it": clauses after commas belong together while they say something. */
function withNeighbours(clause: Run, clauses: readonly Run[], { text, words }: Span): Run {
  const isListed = (first: Run, second: Run): boolean =>
    /^,\s*(?:and|but|or|so|yet|then)?\s*$/u.test(text.slice(words[first.to - 1]?.end ?? 0, words[second.from]?.start ?? 0));
  let [low, high] = [clauses.indexOf(clause), clauses.indexOf(clause)];
  let run = clause;
  for (;;) {
    const [before, after] = [clauses[low - 1], clauses[high + 1]];
    if (after !== undefined && after.sum > 0 && after.to - run.from <= WORDS.most && isListed(run, after)) {
      run = { ...run, to: after.to };
      high++;
    } else if (before !== undefined && before.sum > 0 && run.to - before.from <= WORDS.most && isListed(before, run)) {
      run = { ...run, from: before.from };
      low--;
    } else return run;
  }
}

/** The clauses of a span: a quotation must span neither two of them nor words with another stance, nor split a surrogate pair. */
function clausesOf({ text, words, clauses }: Span): readonly Run[] {
  const runs: Run[] = [];
  let from = 0;
  let clause = 0;
  for (let index = 1; index <= words.length; index++) {
    const [last, next] = [words[index - 1], words[index]];
    if (next !== undefined && last !== undefined) {
      while ((clauses[clause]?.start ?? Number.POSITIVE_INFINITY) <= last.start) clause++;
      const begins = (clauses[clause]?.start ?? Number.POSITIVE_INFINITY) <= next.start;
      if (!begins && !parted(text, last.end, next.start)) continue;
    }
    const start = JOINS.has(words[from]?.text ?? "") && from + 1 < index ? from + 1 : from;
    runs.push({ from: start, to: index, sum: 0 });
    from = index;
  }
  return runs;
}

function parted(text: string, end: number, start: number): boolean {
  return /[\p{L}\p{N}\p{Surrogate}]/u.test(text.slice(end, start));
}

function clearest({ from, to }: Run, weights: Float64Array, fewest: number): Maybe<Run> {
  let best: Maybe<Run>;
  for (let start = from; start + fewest <= to; start++) {
    let sum = 0;
    for (let end = start; end < Math.min(to, start + WORDS.most); end++) {
      sum += weights[end] ?? 0;
      if (end - start + 1 >= fewest && (best === undefined || sum > best.sum)) best = { from: start, to: end + 1, sum };
    }
  }
  return best;
}

/** A part of a long clause: between words that begin a part of a sentence, else from its beginning or to its end, else its clearest words. */
function cut(clause: Run, best: Run, span: Span, weights: Float64Array): Run {
  const part = clearestPart(clause, span, weights);
  if (part !== undefined && part.sum >= NEARLY_AS_CLEAR * best.sum) return part;
  if (clause.to - clause.from <= WORDS.mostWhole) return clause;
  const head = withSum({ from: clause.from, to: Math.min(clause.to, clause.from + WORDS.most) }, weights);
  const tail = withSum({ from: Math.max(clause.from, clause.to - WORDS.most), to: clause.to }, weights);
  const anchored = tail.sum > head.sum ? tail : head;
  return withoutLooseEnds(anchored.sum >= NEARLY_AS_CLEAR * best.sum ? anchored : best, clause, span.words);
}

/** The clearest part of a clause from one such word or comma, or its beginning, to another, or its end. */
function clearestPart(clause: Run, { text, words }: Span, weights: Float64Array): Maybe<Run> {
  const [starts, ends] = [[clause.from], new Set([clause.to])];
  for (let at = clause.from + 1; at < clause.to; at++) {
    const word = words[at]?.text ?? "";
    const isApart = ADVERBIAL.has(word) || text.slice(words[at - 1]?.end ?? 0, words[at]?.start ?? 0).includes(",");
    if (isApart || RELATIVE.has(word)) starts.push(at);
    if (isApart) ends.add(at);
  }
  let best: Maybe<Run>;
  for (const from of starts)
    for (let to = from + WORDS.fewest; to <= Math.min(clause.to, from + WORDS.most); to++) {
      if (!ends.has(to)) continue;
      const part = withSum({ from, to }, weights);
      if (best === undefined || part.sum > best.sum) best = part;
    }
  return best;
}

function withSum({ from, to }: Pick<Run, "from" | "to">, weights: Float64Array): Run {
  return { from, to, sum: weights.subarray(from, to).reduce((sum, weight) => sum + weight, 0) };
}

/** A quotation that ends in "before a", or begins with "is", looks truncated. */
function withoutLooseEnds({ from, to, sum }: Run, clause: Run, words: readonly Word[]): Run {
  const isLoose = (at: number): boolean => {
    const word = words[at];
    return word !== undefined && isPlain(word);
  };
  let [start, end] = [from, to];
  while (end < clause.to && end - start > WORDS.fewest && isLoose(end - 1)) end--;
  while (start > clause.from && end - start > WORDS.fewest && isLoose(start)) start++;
  return { from: start, to: end, sum };
}

function quoted(text: string, words: readonly Word[], { from, to }: Run): string {
  return text.slice(words[from]?.start ?? 0, words[to - 1]?.end ?? 0);
}
