/** Agreement beyond chance of raters who put each subject into one of some categories. */

/** Fleiss' kappa: every subject has the same number of ratings. Undefined: fewer than two ratings, or all in one category. */
export function fleissKappa(ratings: readonly (readonly string[])[]): number | undefined {
  const raters = ratings[0]?.length ?? 0;
  if (raters < 2) return undefined;
  if (ratings.some(({ length }) => length !== raters)) throw new Error("every subject needs the same number of ratings");
  const totals = new Map<string, number>();
  let agreed = 0;
  for (const subject of ratings) {
    const counts = new Map<string, number>();
    for (const rating of subject) counts.set(rating, (counts.get(rating) ?? 0) + 1);
    let pairs = 0;
    for (const [category, count] of counts) {
      totals.set(category, (totals.get(category) ?? 0) + count);
      pairs += count * (count - 1);
    }
    agreed += pairs / (raters * (raters - 1));
  }
  const all = ratings.length * raters;
  const chance = [...totals.values()].reduce((sum, total) => sum + (total / all) ** 2, 0);
  return chance === 1 ? undefined : (agreed / ratings.length - chance) / (1 - chance);
}

/** Cohen's kappa of two raters. Undefined: nothing was rated, or both used one category only. */
export function cohenKappa(pairs: readonly (readonly [string, string])[]): number | undefined {
  if (pairs.length === 0) return undefined;
  const share = (count: number): number => count / pairs.length;
  const observed = share(pairs.filter(([a, b]) => a === b).length);
  const categories = new Set(pairs.flat());
  const chance = [...categories].reduce(
    (sum, each) => sum + share(pairs.filter(([a]) => a === each).length) * share(pairs.filter(([, b]) => b === each).length),
    0,
  );
  return chance === 1 ? undefined : (observed - chance) / (1 - chance);
}

/** One subject: what a rule says of it, and what each vote says. */
export interface Voted {
  readonly rule: string;
  readonly said: readonly string[];
}

/** How far votes agree with each other, and their majority with the rule. Null: nothing can be said. */
export interface Agreement {
  readonly repeats: number | null;
  readonly repeatsKappa: number | null;
  readonly rule: number | null;
  readonly ruleKappa: number | null;
}

/** Without a majority the votes say `otherwise`. */
export function agreementOf(voted: readonly Voted[], otherwise: string): Agreement {
  const pairs = voted.map(({ rule, said }) => [rule, majorityOf(said) ?? otherwise] as const);
  const share = (hits: number): number | null => (voted.length === 0 ? null : hits / voted.length);
  return {
    repeats: share(voted.filter(({ said }) => new Set(said).size === 1).length),
    repeatsKappa: fleissKappa(voted.map(({ said }) => said)) ?? null,
    rule: share(pairs.filter(([a, b]) => a === b).length),
    ruleKappa: cohenKappa(pairs) ?? null,
  };
}

/** What more than half of the votes say. */
export function majorityOf(said: readonly string[]): string | undefined {
  return said.find((each) => said.filter((other) => other === each).length * 2 > said.length);
}
