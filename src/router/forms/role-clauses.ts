import { type Word, wordsOf } from "../text/words.js";
import type { Mention } from "./role-names.js";

export interface Stretch {
  readonly start: number;
  readonly end: number;
}

/** A part of a sentence and the modules it is about, by name or by context. */
export interface Claim extends Stretch {
  readonly modules: readonly number[];
  readonly named: boolean;
}

/** The context of a sentence. */
export interface Around {
  readonly find: (words: readonly Word[]) => readonly Mention[];
  /** The modules of the previous sentence, in order of mention. */
  readonly subjects: readonly number[];
  /** The modules of the current heading. */
  readonly section: readonly number[];
}

interface Piece extends Stretch {
  readonly modules: readonly number[];
  /** Only names and function words: an item of a list, or “for the auditor”. */
  readonly bare: boolean;
  readonly opening: string;
}

const STRONG = /;|\s(?=(?:while|whereas|but)\b)/giu;
const WEAK = /,/gu;
const EDGE_BEFORE = /^(?:[^\p{L}\p{N}]|(?:while|whereas|but|and)\b)+/iu;
const LITTLE = new Set(
  "the a an and or nor as well both either neither our each every this that these those for with to from at by of in on plus also then".split(
    " ",
  ),
);
/** A fragment that depends on the previous one; names in it are incidental. */
const RELATIVE = /^(?:which|who|whom|whose|where|that)$/;
/** “for the auditor, …” begins a statement; “the auditor, …” after a comma continues a list. */
const TOPIC = /^(?:for|as|at|with|on|in)$/;

const LEADERS =
  "(?:and|also|but|then|however|here|moreover|furthermore|additionally|still|so|for|because|if|when|once|since|as|until|in addition|in turn) ";
const ONE = new RegExp(
  `^(?:${LEADERS})*(?:it|its|it's|itself|he|his|she|her|(?:this|that) (?:one|role|module|agent|part)|the same (?:one|role|module|agent))(?: |$)`,
);
const MANY = new RegExp(`^(?:${LEADERS})*(?:they|their|they're|them|both|these two)(?: |$)`);
const LAST = new RegExp(`^(?:${LEADERS})*the latter(?: |$)`);
const FIRST = new RegExp(`^(?:${LEADERS})*the former(?: |$)`);

/** The parts of a sentence, in order. `opens`: the modules if it is a heading. */
export function claimsIn(
  text: string,
  sentence: Stretch,
  around: Around,
): { readonly claims: readonly Claim[]; readonly opens: readonly number[] | undefined } {
  const meant = meantBy(wordsOf(text, sentence.start, sentence.end), around.subjects);
  const claims: Claim[] = [];
  for (const segment of cut(text, sentence, STRONG)) {
    const pieces = cut(text, segment, WEAK).map((piece) => pieceOf(text, piece, around.find));
    const groups = grouped(pieces, claims.length === 0 ? meant : []);
    const before = claims.at(-1);
    // A segment without a name continues the previous one.
    if (before !== undefined && groups.every(({ modules }) => modules.length === 0))
      claims[claims.length - 1] = { ...before, end: segment.end };
    else claims.push(...groups);
  }
  const placed = claims.map((claim) => trimmed(text, claim));
  if (placed.some(({ modules }) => modules.length > 0)) return { claims: placed, opens: headingOf(text, sentence, around.find) };
  return { claims: placed.map((claim) => ({ ...claim, modules: around.section })), opens: undefined };
}

/** The modules that the pronoun at the start of a sentence refers to. */
function meantBy(words: readonly Word[], subjects: readonly number[]): readonly number[] {
  const head = words
    .slice(0, 8)
    .map(({ text }) => text)
    .join(" ");
  if (MANY.test(head)) return subjects;
  if (ONE.test(head) || FIRST.test(head)) return subjects.slice(0, 1);
  return LAST.test(head) ? subjects.slice(-1) : [];
}

/** Commas separate statements about different roles, but not the items of a list. */
function grouped(pieces: readonly Piece[], meant: readonly number[]): readonly Claim[] {
  const groups: { start: number; end: number; modules: readonly number[]; named: boolean; whole: boolean; listing: boolean }[] =
    [];
  for (const { start, end, modules, bare, opening } of pieces) {
    const group = groups.at(-1);
    const inPassing = RELATIVE.test(opening) && group !== undefined && group.modules.length > 0;
    const news = inPassing ? [] : modules.filter((module) => group?.modules.includes(module) !== true);
    const item = bare && !TOPIC.test(opening);
    if (group === undefined) {
      const all = [...new Set([...meant, ...modules])];
      groups.push({ start, end, modules: all, named: modules.length > 0, whole: !bare, listing: false });
    } else if (news.length > 0 && group.modules.length > 0 && group.whole && !group.listing && !item) {
      groups.push({ start, end, modules, named: true, whole: !bare, listing: false });
    } else {
      group.end = end;
      group.modules = [...group.modules, ...news];
      group.named ||= news.length > 0;
      group.whole ||= !bare;
      group.listing = item && news.length > 0;
    }
  }
  return groups;
}

function pieceOf(text: string, stretch: Stretch, find: Around["find"]): Piece {
  const words = wordsOf(text, stretch.start, stretch.end);
  const mentions = find(words);
  const bare = mentions.length > 0 && words.every(({ text: word }, index) => LITTLE.has(word) || isWithin(mentions, index));
  const modules = [...new Set(mentions.flatMap((mention) => mention.modules))];
  return { ...stretch, modules, bare, opening: words[0]?.text ?? "" };
}

function isWithin(mentions: readonly Mention[], index: number): boolean {
  return mentions.some(({ first, last }) => first <= index && index <= last);
}

/** “Auditor: …”, or a line with only the name. */
function headingOf(text: string, sentence: Stretch, find: Around["find"]): readonly number[] | undefined {
  const words = wordsOf(text, sentence.start, sentence.end);
  const [mention] = find(words);
  if (mention === undefined || words.slice(0, mention.first).some(({ text: word }) => !LITTLE.has(word))) return undefined;
  const after = words[mention.last];
  if (after === undefined) return undefined;
  const alone = mention.last === words.length - 1;
  return alone || /^\s*(?:\([^)]*\))?\s*(?::|[-–—]\s)/.test(text.slice(after.end, sentence.end)) ? mention.modules : undefined;
}

function cut(text: string, { start, end }: Stretch, at: RegExp): readonly Stretch[] {
  const parts: Stretch[] = [];
  let from = start;
  for (const match of text.slice(start, end).matchAll(at)) {
    parts.push({ start: from, end: start + match.index });
    from = start + match.index + match[0].length;
  }
  parts.push({ start: from, end });
  return parts.filter((part) => /[\p{L}\p{N}]/u.test(text.slice(part.start, part.end)));
}

function trimmed(text: string, claim: Claim): Claim {
  let end = claim.end;
  while (end > claim.start && /[\s,;]/.test(text.charAt(end - 1))) end--;
  const lead = EDGE_BEFORE.exec(text.slice(claim.start, end))?.[0].length ?? 0;
  return claim.start + lead >= end ? claim : { ...claim, start: claim.start + lead, end };
}
