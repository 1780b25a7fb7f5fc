import type { Range } from "../../harness/result.js";
import { betaQuantile } from "./distributions.js";

/** The exact interval of a proportion (Clopper and Pearson). It never covers less than it says, and is wider than Wilson's. */
export function clopperPearson(hits: number, of: number, confidence = 0.95): Range | undefined {
  if (of === 0) return undefined;
  const tail = (1 - confidence) / 2;
  return [
    hits === 0 ? 0 : betaQuantile(tail, hits, of - hits + 1),
    hits === of ? 1 : betaQuantile(1 - tail, hits + 1, of - hits),
  ];
}
