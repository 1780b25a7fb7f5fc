import type { Table } from "../../harness/table.js";
import type { Legend } from "./breakdown-charts.js";

/** A chart with the sentence that says what it shows. */
export interface Chart {
  readonly svg: () => string;
  readonly legend: readonly Legend[];
}

/** One question and its answer: a sentence, a picture, the numbers. */
export interface Panel {
  readonly id: string;
  readonly title: string;
  readonly sentence: string;
  readonly chart?: Chart;
  readonly table: Table;
}
