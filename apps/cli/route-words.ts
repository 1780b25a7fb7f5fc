import { usageError } from "./exit.js";

/** The words of a list with commas, each once. */
export function wordsIn(list: string, option: string): readonly string[] {
  const words = [...new Set(list.split(",").map((word) => word.trim()))].filter((word) => word !== "");
  if (words.length === 0) throw usageError(`${option} is an empty list`);
  return words;
}

/** The same, where only some words are known. */
export function knownWords<T extends string>(list: string, option: string, known: readonly T[]): readonly T[] {
  return wordsIn(list, option).map((word) => {
    const found = known.find((each) => each === word.toLowerCase());
    if (found === undefined)
      throw usageError(`${option}: ${JSON.stringify(word)} is not known`, `There are: ${known.join(", ")}`);
    return found;
  });
}
