import type { Sentence, Stretch } from "../text/clauses.js";
import { FRAMES, type Frame, type Stance } from "./stance-frames.js";

/** The stretches of a sentence that are not simply wanted: for each stance in their order, none touching the next. */
export type Turned = ReadonlyMap<Frame["stance"], readonly Stretch[]>;

/** Where several stances cover the same words, the strongest holds. */
const STRONGEST_FIRST: readonly Frame["stance"][] = ["avoided", "elsewhere", "denied"];

/** A thought that goes on: what was said before its comma holds for it too. */
const GOES_ON = /^(?:or|nor|and (?:no|not|any|neither)|neither|any|no|not even)\b/iu;

/** What is wanted in its place. */
const TURNS_BACK =
  /\s(?:and|but) (?:rather |instead )?(?:favou?rs?|prefers?|uses?|wants?|keeps?|rely|relies|goes? for|needs?)\b/giu;

/** What stands between two commas of a list is short; more words than this are a thought of their own. */
const WORDS_IN_A_LIST = 3;

/** The stretches of a sentence that are denied, avoided, or said of something else. */
export function turnedIn(text: string, sentence: Sentence): Turned {
  const inside = text.slice(sentence.start, sentence.end).replaceAll("’", "'");
  const found = new Map<Frame["stance"], Stretch[]>();
  let thoughts: Thoughts | undefined;
  for (const { stance, covers, words } of FRAMES)
    for (const match of inside.matchAll(words)) {
      thoughts ??= thoughtsIn(text, sentence);
      const start = sentence.start + match.index;
      const stretch = covered(thoughts, covers, { start, end: start + match[0].length });
      const others = found.get(stance);
      if (others === undefined) found.set(stance, [stretch]);
      else others.push(stretch);
    }
  return new Map([...found].map(([stance, stretches]) => [stance, joined(stretches)]));
}

/** What a sentence is cut into. Found out once: a text may be made of nothing but words that turn others. */
interface Thoughts {
  readonly clauses: readonly Stretch[];
  /** For each clause, where a thought that is still open at its end is over. */
  readonly ends: readonly number[];
  /** Where something else begins to be said: after a comma, or where what is wanted instead is named. */
  readonly breaks: readonly number[];
}

function thoughtsIn(text: string, { clauses }: Sentence): Thoughts {
  const ends = clauses.map(({ end }) => end);
  for (let index = clauses.length - 1; index > 0; index--) {
    const { start, end } = clauses[index] ?? { start: 0, end: 0 };
    if (GOES_ON.test(text.slice(start, end))) ends[index - 1] = ends[index] ?? end;
  }
  return { clauses, ends, breaks: clauses.flatMap((clause) => breaksIn(text, clause)) };
}

function breaksIn(text: string, { start, end }: Stretch): readonly number[] {
  const [first = "", ...items] = text.slice(start, end).split(",");
  let comma = start + first.length;
  const commas = items.flatMap((item) => {
    const at = comma;
    comma += 1 + item.length;
    const said = item.trim();
    const things = said.split(/\s(?:and|or)\s/u);
    const isListed = GOES_ON.test(said) || things.every((thing) => thing.trim().split(/\s+/u).length <= WORDS_IN_A_LIST);
    return isListed ? [] : [at];
  });
  const turns = Array.from(text.slice(start, end).matchAll(TURNS_BACK), ({ index }) => start + index);
  return [...commas, ...turns].sort((a, b) => a - b);
}

function covered({ clauses, ends, breaks }: Thoughts, covers: Frame["covers"], match: Stretch): Stretch {
  const index = Math.min(
    firstFrom(clauses.length, (at) => match.start < (clauses[at]?.end ?? 0)),
    clauses.length - 1,
  );
  const clause = clauses[index] ?? match;
  if (covers === "after") {
    if (clause.end <= match.end) return match;
    const next = breaks[firstFrom(breaks.length, (at) => (breaks[at] ?? 0) >= match.end)];
    return { start: match.start, end: next !== undefined && next < clause.end ? next : (ends[index] ?? clause.end) };
  }
  // "Signatures: not needed" parts the thing from the word about it.
  const before = match.start <= clause.start ? clauses[index - 1] : undefined;
  const start = before?.start ?? clause.start;
  return { start, end: covers === "before" ? match.end : Math.max(match.end, clause.end) };
}

/** The first place from which on something holds, or how many places there are. */
function firstFrom(places: number, holds: (place: number) => boolean): number {
  let low = 0;
  let high = places;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (holds(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** The same stretches in their order, those that touch made one. */
function joined(stretches: readonly Stretch[]): readonly Stretch[] {
  const result: Stretch[] = [];
  for (const stretch of stretches.toSorted((a, b) => a.start - b.start)) {
    const last = result.at(-1);
    if (last === undefined || last.end < stretch.start) result.push(stretch);
    else result[result.length - 1] = { start: last.start, end: Math.max(last.end, stretch.end) };
  }
  return result;
}

/** How a stretch stands: what covers its middle, the strongest first. */
export function stanceAt(turned: Turned, { start, end }: Stretch): Stance {
  const middle = (start + end) / 2;
  const over = STRONGEST_FIRST.find((stance) => {
    const stretches = turned.get(stance) ?? [];
    const reaching = stretches[firstFrom(stretches.length, (at) => (stretches[at]?.end ?? 0) >= middle)];
    return reaching !== undefined && reaching.start <= middle;
  });
  return over ?? "wanted";
}
