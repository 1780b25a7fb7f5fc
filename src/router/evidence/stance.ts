import type { Sentence, Stretch } from "../text/clauses.js";
import { foldCase } from "../text/fold-case.js";
import { ANY_FRAME, FRAMES, type Frame, type Stance } from "./stance-frames.js";

/** The stretches of a sentence with a stance other than wanted: per stance, ordered and disjoint. */
export type Turned = ReadonlyMap<Frame["stance"], readonly Stretch[]>;

const NONE_TURNED: Turned = new Map();

/** Where several stances cover the same words, the strongest wins. */
const STRONGEST_FIRST: readonly Frame["stance"][] = ["avoided", "elsewhere", "denied"];

/** A continued clause: the stance before its comma applies to it too. */
const GOES_ON = /^(?:or|nor|and (?:no|not|any|neither)|neither|any|no|not even)\b/u;

/** Introduces what is wanted instead. */
const TURNS_BACK =
  /\s(?:and|but) (?:rather |instead )?(?:favou?rs?|prefers?|uses?|wants?|keeps?|rely|relies|goes? for|needs?)\b/gu;

/** Items of a comma-separated list are short; longer ones are clauses of their own. */
const WORDS_IN_A_LIST = 3;

/** The stretches of a sentence that are denied, avoided, or about something else. */
export function turnedIn(text: string, sentence: Sentence): Turned {
  const inside = foldCase(text.slice(sentence.start, sentence.end)).replaceAll("’", "'");
  if (!ANY_FRAME.test(inside)) return NONE_TURNED;
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

/** The clauses of a sentence. Computed once: a text may consist of stance phrases only. */
interface Thoughts {
  readonly clauses: readonly Stretch[];
  /** For each clause, where a clause that is still open at its end is closed. */
  readonly ends: readonly number[];
  /** Where another statement begins: after a comma, or where an alternative is named. */
  readonly breaks: readonly number[];
}

function thoughtsIn(text: string, { clauses }: Sentence): Thoughts {
  const ends = clauses.map(({ end }) => end);
  for (let index = clauses.length - 1; index > 0; index--) {
    const { start, end } = clauses[index] ?? { start: 0, end: 0 };
    if (GOES_ON.test(foldCase(text.slice(start, end)))) ends[index - 1] = ends[index] ?? end;
  }
  return { clauses, ends, breaks: clauses.flatMap((clause) => breaksIn(text, clause)) };
}

function breaksIn(text: string, { start, end }: Stretch): readonly number[] {
  const inside = foldCase(text.slice(start, end));
  const [first = "", ...items] = inside.split(",");
  let comma = start + first.length;
  const commas = items.flatMap((item) => {
    const at = comma;
    comma += 1 + item.length;
    const statement = item.trim();
    const things = statement.split(/\s(?:and|or)\s/u);
    const isListed = GOES_ON.test(statement) || things.every((thing) => thing.trim().split(/\s+/u).length <= WORDS_IN_A_LIST);
    return isListed ? [] : [at];
  });
  const turns = Array.from(inside.matchAll(TURNS_BACK), ({ index }) => start + index);
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
  // "Signatures: not needed" separates the subject from its stance.
  const before = match.start <= clause.start ? clauses[index - 1] : undefined;
  const start = before?.start ?? clause.start;
  return { start, end: covers === "before" ? match.end : Math.max(match.end, clause.end) };
}

/** The first index from which the predicate holds, or the length. */
function firstFrom(length: number, holds: (index: number) => boolean): number {
  let low = 0;
  let high = length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (holds(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** Sorted, with adjacent stretches merged. */
function joined(stretches: readonly Stretch[]): readonly Stretch[] {
  const result: Stretch[] = [];
  for (const stretch of stretches.toSorted((a, b) => a.start - b.start)) {
    const last = result.at(-1);
    if (last === undefined || last.end < stretch.start) result.push(stretch);
    else result[result.length - 1] = { start: last.start, end: Math.max(last.end, stretch.end) };
  }
  return result;
}

/** The stance of a stretch: the strongest that covers its middle. */
export function stanceAt(turned: Turned, { start, end }: Stretch): Stance {
  const middle = (start + end) / 2;
  const over = STRONGEST_FIRST.find((stance) => {
    const stretches = turned.get(stance) ?? [];
    const reaching = stretches[firstFrom(stretches.length, (at) => (stretches[at]?.end ?? 0) >= middle)];
    return reaching !== undefined && reaching.start <= middle;
  });
  return over ?? "wanted";
}
