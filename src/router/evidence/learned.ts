/** What was learned from sentences, as it is kept. */
export interface Learned {
  /** Parted by bars. */
  readonly marks: string;
  /** For each mark one character per class: so many steps above or below the character of weight zero. */
  readonly weights: string;
  readonly zero: number;
  readonly step: number;
  /** What each class starts from. */
  readonly biases: readonly number[];
}
