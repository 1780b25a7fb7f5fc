/** How one module came out: all that a metric may look at. */
export interface Outcome {
  /** Base name of the file the scenario came from: ids are unique only within one. */
  readonly file: string;
  readonly scenario_id: string;
  /** Null if the file has none. */
  readonly level: number | null;
  readonly module_id: string;
  /** The right answer. */
  readonly label: string;
  /** Null: it abstained. */
  readonly chosen: string | null;
  /** From 0 to 1; null if there is none. */
  readonly margin: number | null;
}

export function isRight({ label, chosen }: Outcome): boolean {
  return chosen === label;
}

/** The groups, in the order of their first members. */
export function groupBy<T, K>(items: readonly T[], keyOf: (item: T) => K): ReadonlyMap<K, readonly T[]> {
  const groups = new Map<K, T[]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [item]);
    else group.push(item);
  }
  return groups;
}
