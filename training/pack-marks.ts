import type { MarkList } from "../src/router/evidence/weights.js";

/** Features as the router reads them, and for each, where it was among `marks`. */
interface PackedMarks {
  readonly list: MarkList;
  readonly order: readonly number[];
}

interface Parts {
  readonly first: string;
  readonly second: string;
}

/** Features by kind: words are numbered, so that the router finds features of two words without taking texts apart. */
export function packMarks(marks: readonly string[]): PackedMarks {
  const ones: number[] = [];
  const firsts: number[] = [];
  const beginnings: number[] = [];
  const pairs: number[] = [];
  const apart: number[] = [];
  for (const [at, mark] of marks.entries()) {
    if (mark.includes(" _ ")) apart.push(at);
    else if (mark.includes(" ")) pairs.push(at);
    else if (mark.endsWith("*")) beginnings.push(at);
    else if (mark.startsWith("^")) firsts.push(at);
    else ones.push(at);
  }
  const markAt = (at: number): string => marks[at] ?? "";
  const numbers = new Map<string, number>();
  const numberOf = (word: string): number => {
    const known = numbers.get(word) ?? numbers.size;
    numbers.set(word, known);
    return known;
  };
  const numbersIn = (places: readonly number[], gap: string): readonly number[] =>
    places.flatMap((at) => {
      const { first, second } = partsOf(markAt(at), gap);
      return [numberOf(first), numberOf(second)];
    });
  for (const at of ones) numberOf(markAt(at));
  const parts = {
    ones: ones.length,
    firsts: firsts.map((at) => numberOf(markAt(at).slice(1))),
    beginnings: beginnings.map((at) => markAt(at).slice(0, -1)).join("|"),
    pairs: numbersIn(pairs, " "),
    apart: numbersIn(apart, " _ "),
  };
  const list: MarkList = { words: [...numbers.keys()].join("|"), ...parts };
  return { list, order: [...ones, ...firsts, ...beginnings, ...pairs, ...apart] };
}

function partsOf(mark: string, gap: string): Parts {
  const at = mark.indexOf(gap);
  return { first: mark.slice(0, at), second: mark.slice(at + gap.length) };
}
