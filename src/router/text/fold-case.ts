/** Every letter that matches a small Latin one where case is ignored; the last two are the long s and the sign of Kelvin. */
const CAPITALS = /[A-Z\u017f\u212a]/g;
const SPECIAL: ReadonlyMap<string, string> = new Map([
  ["\u017f", "s"],
  ["\u212a", "k"],
]);
const ASCII = /^[\0-\x7f]*$/;

/**
 * A text in small Latin letters, each character in its place. Expressions are searched in this: those that ignore case themselves take
 * many times as long to compile, and longer to search.
 */
export function foldCase(text: string): string {
  return ASCII.test(text) ? text.toLowerCase() : text.replace(CAPITALS, (letter) => SPECIAL.get(letter) ?? letter.toLowerCase());
}
