import { chance, oneOf } from "../../harness/chance.js";
import type { ShardItem } from "./item.js";

/** Facts about people and places that do not exist: no model knows them, and each is in one text alone. */
const OFFICES = [
  ["the harbour master", "kept the tide tables and settled the order of the ships"],
  ["the town clerk", "wrote the minutes of the council in a hand that few could read"],
  ["the lighthouse keeper", "lived on the rock for eleven months of every year"],
  ["the surveyor", "measured the new canal with a chain of sixty-six feet"],
  ["the librarian", "lent out books against a deposit of two coins"],
  ["the clockmaker", "mended the bell of the market and the watch of the mayor"],
  ["the botanist", "planted the slope above the mill with larches"],
  ["the printer", "set the weekly paper in the back room of a bakery"],
] as const;
const FIRST = ["Ada", "Bruno", "Clara", "Dario", "Edith", "Felix", "Greta", "Hugo", "Ilse", "Jonas", "Karin", "Leo"] as const;
const LAST = ["Brandt", "Calder", "Dunmore", "Ekberg", "Falk", "Gorman", "Halvorsen", "Ibarra", "Jansen", "Kessler"] as const;
const HEADS = ["Lind", "Oster", "Wester", "Kirk", "Stein", "Mar", "Hal", "Bran", "Thorn", "Ash"] as const;
const TAILS = ["holm", "wick", "ford", "by", "burg", "haven", "mouth", "dale"] as const;
const FIRST_YEAR = 1701;
const YEARS = 250;
const GROUP = 8;

/** The same for the same seed. The number in the name of each place makes every question different. */
export function generateItems(groups: number, seed: number): readonly ShardItem[] {
  const random = chance(seed);
  return Array.from({ length: groups * GROUP }, (_, index) => {
    const [office, habit] = OFFICES[index % GROUP] ?? OFFICES[0];
    const place = `${oneOf(HEADS, random)}${oneOf(TAILS, random)} ${index + 1}`;
    const year = FIRST_YEAR + Math.floor(random() * YEARS);
    const answer = `${oneOf(FIRST, random)} ${oneOf(LAST, random)}`;
    return {
      id: `f${index + 1}`,
      question: `Who was ${office} of ${place} in ${year}?`,
      answer,
      content: `${answer} was ${office} of ${place} in ${year}. It is said that this person ${habit}.`,
    };
  });
}
