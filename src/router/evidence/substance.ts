import type { Maybe } from "../../envelope/index.js";
import type { Span } from "./extract.js";
import { isPlain } from "./marks.js";
import { knowsWord } from "./prototypes.js";

/** Why a text justifies no decision: it is in another language, or names nothing in particular. */
export type Unread = "language" | "vague";

/** Below this share of known words a text is not English. English texts of unknown trades stay above four fifths. */
const ENOUGH_KNOWN = 0.65;
/** Fewer different words beyond those of every system say nothing in particular. */
const ENOUGH_SPECIFIC = 2;

/** Words that are in the description of every system, as lemmas. */
const GENERAL = new Set(
  (
    "agent bot helper assistant modul component system servic platform application program server client user person team solution part " +
    "protocol messag request respons data information input output result thing something anything everything work task step process " +
    "do us need want receiv send get give handl provid support produc communicat interact cooperat collaborat together " +
    "one two som several many other another each any all which what it well good best pleas " +
    "communicat network connect link usual call exchang integrat happen company project software"
  ).split(" "),
);

/** Undefined where the words say enough for a decision. */
export function unreadIn(spans: readonly Span[]): Maybe<Unread> {
  let [counted, known] = [0, 0];
  const specific = new Set<string>();
  for (const { words } of spans)
    for (const word of words) {
      if (isPlain(word)) continue;
      counted++;
      if (knowsWord(word)) known++;
      if (specific.size < ENOUGH_SPECIFIC && !GENERAL.has(word.lemma)) specific.add(word.lemma);
    }
  if (counted === 0) return "vague";
  if (known < ENOUGH_KNOWN * counted) return "language";
  return specific.size < ENOUGH_SPECIFIC ? "vague" : undefined;
}
