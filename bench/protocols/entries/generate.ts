import { chance, oneOf } from "../../harness/chance.js";
import type { Entry } from "./entry.js";

/** Questions as people type them into a search box: short, of uneven length, mostly about one thing. */
const SUBJECTS = [
  "a tidal power station",
  "sourdough bread",
  "the harbour of Rotterdam",
  "a heat pump",
  "the common swift",
  "a letter of credit",
  "compound interest",
  "the Hanseatic League",
  "basalt",
  "a suspension bridge",
  "vitamin B12",
  "the water cycle",
  "an espresso machine",
  "radio waves",
  "crop rotation",
  "a customs declaration",
] as const;
const OPENINGS = [
  "what is",
  "how does one recognise",
  "who first described",
  "how much does it cost to look after",
  "what is the history of",
  "why do people care about",
  "what are common mistakes with",
  "in which countries is there a rule about",
] as const;
const ENDINGS = [
  "",
  " in simple words",
  " compared with fifty years ago",
  " for a small business",
  " and which numbers matter most",
  " at temperatures below zero",
  " according to the people who work with it every day",
] as const;

/** The same questions for the same seed. Numbered, so that no two are equal. */
export function generateEntries(count: number, seed: number): readonly Entry[] {
  const random = chance(seed);
  return Array.from({ length: count }, (_, index) => {
    const [opening, subject, ending] = [oneOf(OPENINGS, random), oneOf(SUBJECTS, random), oneOf(ENDINGS, random)];
    return { id: `q${index + 1}`, text: `${opening} ${subject}${ending} (case ${index + 1})?` };
  });
}
