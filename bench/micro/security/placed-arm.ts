import type { Measurement } from "../../harness/result.js";

/** An arm, and the section of the table that it belongs to. */
export interface PlacedArm {
  readonly section: string;
  readonly arm: string;
  measure(): Promise<Measurement>;
}
