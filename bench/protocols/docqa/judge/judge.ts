/** What a judge says about one answer. */
export interface Verdict {
  readonly is_correct: boolean;
  /** From 0 to 1: how many words answer and reference share. */
  readonly f1: number;
  /** From 1 to 5, by the rule below. */
  readonly quality_score: 1 | 2 | 3 | 4 | 5;
}

/** How the work on a question went. */
export interface Work {
  /** Undefined: no answer arrived. */
  readonly answer: string | undefined;
  /** Steps of the team's plan. */
  readonly planned: number;
  readonly completed: number;
  /** Steps that failed, or were taken twice. */
  readonly flawed: number;
}

/**
 * Judges by rule. Correct: equal after normalisation. Quality: 5 correct and every step completed once; 4 correct, but not so; 3 wrong or
 * missing though every step was completed; 2 wrong, with at least one step completed; 1 nothing completed.
 */
export function judge(reference: string, { answer, planned, completed, flawed }: Work): Verdict {
  const given = answer ?? "";
  const isCorrect = normalise(given) !== "" && normalise(given) === normalise(reference);
  const whole = completed >= planned;
  const quality = isCorrect ? (whole && flawed === 0 ? 5 : 4) : whole ? 3 : completed > 0 ? 2 : 1;
  return { is_correct: isCorrect, f1: tokenF1(given, reference), quality_score: quality };
}

const DROPPED = new Set(["a", "an", "the", "crowns", "crown"]);

/** Lower case, without articles, units, signs and groups of thousands; numbers in their shortest form. */
export function normalise(text: string): string {
  return wordsOf(text).join(" ");
}

function wordsOf(text: string): readonly string[] {
  return text
    .normalize("NFKC")
    .toLowerCase()
    .replace(/(\d),(?=\d{3}(?!\d))/g, "$1")
    .replace(/[^\p{L}\p{N}.\-\s]/gu, " ")
    .split(/\s+/)
    .map((word) => word.replace(/^[.]+|[.-]+$/g, ""))
    .filter((word) => word !== "" && !DROPPED.has(word))
    .map((word) => (/^-?\d+(\.\d+)?$/.test(word) ? String(Number(word)) : word));
}

/** The harmonic mean of precision and recall over words, each counted as often as it occurs. */
export function tokenF1(given: string, reference: string): number {
  const [own, wanted] = [wordsOf(given), wordsOf(reference)];
  if (own.length === 0 || wanted.length === 0) return own.length === wanted.length ? 1 : 0;
  const left = new Map<string, number>();
  for (const word of wanted) left.set(word, (left.get(word) ?? 0) + 1);
  let shared = 0;
  for (const word of own) {
    const count = left.get(word) ?? 0;
    if (count === 0) continue;
    left.set(word, count - 1);
    shared++;
  }
  if (shared === 0) return 0;
  const [precision, recall] = [shared / own.length, shared / wanted.length];
  return (2 * precision * recall) / (precision + recall);
}
