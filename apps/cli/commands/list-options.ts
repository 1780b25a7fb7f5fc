import { InvalidArgumentError, Option } from "commander";
import { parseCount } from "../option-values.js";

/** A list of words. */
export function listOption(flags: string, description: string): Option {
  return new Option(flags, description).argParser((text) => wordsOf(text));
}

/** A list of some of these words. */
export function choiceList(flags: string, description: string, known: readonly string[]): Option {
  return new Option(flags, `${description} (${known.join(", ")})`).argParser((text) =>
    wordsOf(text).map((word) => {
      if (!known.includes(word)) throw new InvalidArgumentError(`It is a list of ${known.join(", ")}.`);
      return word;
    }),
  );
}

/** A list of rates, by number or by share of the capacity. */
export function rateList(flags: string, description: string): Option {
  return new Option(flags, description).argParser((text) =>
    wordsOf(text).map((word) => {
      const isShare = word.endsWith("%");
      const value = Number(isShare ? word.slice(0, -1) : word);
      if (!(value > 0) || !Number.isFinite(value))
        throw new InvalidArgumentError("It is a list of numbers above 0, or of such with %.");
      return isShare ? { ofCapacity: value / 100 } : { perSecond: value };
    }),
  );
}

/** A list of whole numbers. */
export function countList(flags: string, description: string): Option {
  return new Option(flags, description).argParser((text) => wordsOf(text).map(parseCount));
}

function wordsOf(text: string): readonly string[] {
  return [...new Set(text.split(",").map((word) => word.trim()))].filter((word) => word !== "");
}
