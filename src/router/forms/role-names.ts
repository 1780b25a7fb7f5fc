import { type Word, wordsOf } from "../text/words.js";

/** The names of a scenario's modules. */
export interface NamedRole {
  readonly id: string;
  readonly role: string;
}

/** The words from `first` to `last` name these modules, by index. */
export interface Mention {
  readonly modules: readonly number[];
  readonly first: number;
  readonly last: number;
}

/** Generic words: optional, and not a name by themselves. */
const GENERIC = new Set(["agent", "module", "role", "service", "component", "system", "node", "bot", "process"]);
const ORDINALS = ["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"];
const DETERMINERS = new Set(["the", "a", "an", "our", "each", "every", "this", "that", "any", "its", "their"]);

/** A module that is only compared with is not a subject: “unlike the auditor, …”. */
const COMPARED =
  /(?:^| )(?:unlike|than|instead of|rather than|contrary to|(?:opposed|contrast|compared|comparison) (?:to|with))$/;

/** Names by their words, with the maximum length of those that begin with a given word. */
interface Names {
  readonly modules: Map<string, readonly number[]>;
  readonly longest: Map<string, number>;
}

/** Finds names in a sequence of words: the longest name at each position. */
export function roleFinder(roles: readonly NamedRole[]): (words: readonly Word[]) => readonly Mention[] {
  const names: Names = { modules: new Map(), longest: new Map() };
  const add = (index: number, words: readonly string[]): void => {
    const [start] = words;
    if (start === undefined) return;
    const name = words.join(" ");
    names.modules.set(name, [...new Set([...(names.modules.get(name) ?? []), index])]);
    names.longest.set(start, Math.max(names.longest.get(start) ?? 0, words.length));
  };
  const plain = (text: string): readonly string[] => wordsOf(text).map(singular);
  const wholes = roles.map(({ role }) => plain(role));
  const padded = wholes.map((whole) => ` ${whole.join(" ")} `);
  for (const [index, { id }] of roles.entries()) {
    const whole = wholes[index] ?? [];
    add(index, whole);
    add(index, plain(id));
    for (const words of numberNames(id)) add(index, words);
    for (const words of shorter(whole)) if (isUnique(words, index, padded)) add(index, words);
  }
  return (words) => mentionsIn(words.map(singular), names);
}

function mentionsIn(words: readonly string[], { modules, longest }: Names): readonly Mention[] {
  const mentions: Mention[] = [];
  for (let first = 0; first < words.length; first++) {
    for (let count = longest.get(words[first] ?? "") ?? 0; count > 0; count--) {
      const found = modules.get(words.slice(first, first + count).join(" "));
      if (found === undefined) continue;
      const last = first + count - 1;
      if (!isCompared(words, first)) mentions.push({ modules: found, first, last });
      first = last;
      break;
    }
  }
  return mentions;
}

function isCompared(words: readonly string[], first: number): boolean {
  const before = words.slice(Math.max(0, first - 4), first);
  while (DETERMINERS.has(before.at(-1) ?? "")) before.pop();
  return COMPARED.test(before.join(" "));
}

/** An id that ends in M2 is also “M2”, “module 2” and “the second module”. */
function numberNames(id: string): readonly (readonly string[])[] {
  const digits = /(?:^|[^\p{L}\p{N}])M0*(\d+)$/iu.exec(id)?.[1];
  if (digits === undefined) return [];
  const ordinal = ORDINALS[Number(digits) - 1];
  return [[`m${digits}`], ["module", digits], ...(ordinal === undefined ? [] : [[ordinal, "module"]])];
}

/** “Claims adjuster” is also “the adjuster”; “retriever agent” is also “the retriever”. */
function shorter(whole: readonly string[]): readonly (readonly string[])[] {
  const head = whole.at(-1);
  if (whole.length < 2 || head === undefined) return [];
  return GENERIC.has(head) ? [whole.slice(0, -1)] : [[head]];
}

/** True if no other role contains these words. */
function isUnique(words: readonly string[], index: number, padded: readonly string[]): boolean {
  const name = ` ${words.join(" ")} `;
  return padded.every((whole, other) => other === index || !whole.includes(name));
}

/** A word without plural and possessive endings. */
function singular({ text }: Word): string {
  const word = text.replace(/'s?$/, "");
  if (word.length > 4 && word.endsWith("ies")) return `${word.slice(0, -3)}y`;
  if (/(?:ch|sh|x|z|ss)es$/.test(word)) return word.slice(0, -2);
  return word.length > 3 && /[^sui]s$/.test(word) ? word.slice(0, -1) : word;
}
