export interface ChaosOptions {
  readonly seed: number;
  /** Duration of the faults. */
  readonly seconds: number;
  readonly streams: number;
}

/** The result of one run. Without problems, all guarantees held. */
export interface ChaosOutcome {
  readonly name: string;
  readonly figures: Readonly<Record<string, number>>;
  readonly problems: readonly string[];
}
