export interface ChaosOptions {
  readonly seed: number;
  /** How long the trouble lasts. */
  readonly seconds: number;
  readonly streams: number;
}

/** What one run showed. No problem means that what is promised was kept. */
export interface ChaosOutcome {
  readonly name: string;
  readonly figures: Readonly<Record<string, number>>;
  readonly problems: readonly string[];
}
