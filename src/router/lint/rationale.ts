import type { Features } from "../../protocols/features.js";
import { performanceClaimIn } from "./performance-words.js";
import { unknownWordsIn } from "./vocabulary.js";

/** The longest rationale. */
export const RATIONALE_CHARACTERS = 1_000;
/** The limit of quoted text in a problem. */
const SHOWN_CHARACTERS = 80;
/** The number of unknown words a problem lists. */
const SHOWN_WORDS = 8;

/** What a rationale may refer to. */
export interface RationaleGround {
  readonly spans: readonly string[];
  readonly features: readonly Features[];
}

/** All problems of a rationale, as sentences; empty if it only names evidence and capabilities. */
export function lintRationale(rationale: string, { spans, features }: RationaleGround): readonly string[] {
  const problems = [...lintReason("rationale", rationale)];
  if (rationale.length > RATIONALE_CHARACTERS) return problems;
  const unquoted = withoutQuoted(rationale, spans);
  for (const piece of quotedIn(unquoted)) problems.push(`rationale: quotes ${shown(piece)}, which is none of the evidence spans`);
  const unknown = unknownWordsIn(unquoted, spans, features);
  if (unknown.length > 0)
    problems.push(`rationale: names what neither the feature model nor the evidence knows: ${listed(unknown)}`);
  return problems;
}

/** The rules for every reason, also of rejections. */
export function lintReason(field: string, reason: string): readonly string[] {
  if (reason.trim() === "") return [`${field}: is empty`];
  if (reason.length > RATIONALE_CHARACTERS) return [`${field}: has more than ${RATIONALE_CHARACTERS} characters`];
  const problems: string[] = [];
  // Normalized, so that full-width letters and the like are recognized.
  const plain = reason.normalize("NFKC");
  if (NUMBER.test(reason + plain)) problems.push(`${field}: contains a digit`);
  const claim = performanceClaimIn(plain);
  if (claim !== undefined) problems.push(`${field}: claims something about performance: ${shown(claim)}`);
  if (ODD_CHARACTER.test(plain)) problems.push(`${field}: contains something that is neither a letter nor punctuation`);
  return problems;
}

/** Whether a rationale may quote this span: no digits, nothing about performance. */
export function isQuotable(span: string): boolean {
  return lintReason("span", span).length === 0 && !DOUBLE_QUOTE.test(span);
}

const NUMBER = /\p{N}/u;
/**
 * Control characters and symbols, which could move a terminal's cursor or replace words by pictures. Digits are reported
 * separately.
 */
const ODD_CHARACTER = /[^\p{L}\p{M}\p{N}\p{P}\p{Zs}]/u;
const DOUBLE_QUOTE = /["“”„«»]/u;

/** Opening and closing marks of quotations. */
const QUOTES: readonly (readonly [string, string])[] = [
  ['"', '"'],
  ["“", "”"],
  ["„", "“"],
  ["«", "»"],
  ["'", "'"],
  ["‘", "’"],
];

/** The rationale without its quoted spans. The longest first: it may contain others. */
function withoutQuoted(rationale: string, spans: readonly string[]): string {
  let left = rationale;
  for (const span of [...spans].sort((a, b) => b.length - a.length))
    for (const [open, close] of QUOTES) left = left.replaceAll(`${open}${span}${close}`, " ");
  return left;
}

const DOUBLE_QUOTED = /["“„«]([^"“”„«»]*)["“”»]?|["“”„«»]/gu;
/** An apostrophe follows a letter; a quotation begins where no letter precedes, and ends where none follows. */
const SINGLE_QUOTED = /(?<![\p{L}\p{M}])['‘](?=\S)(.+?)(?<=\S)['’](?![\p{L}\p{M}])/gsu;

function quotedIn(text: string): readonly string[] {
  const found = [...text.matchAll(DOUBLE_QUOTED), ...text.matchAll(SINGLE_QUOTED)];
  return found.map(([whole, piece]) => piece ?? whole);
}

/** Untrusted text for a message: bounded, as a JSON string. */
export function shown(text: string): string {
  return JSON.stringify(text.length > SHOWN_CHARACTERS ? `${text.slice(0, SHOWN_CHARACTERS)}…` : text);
}

function listed(words: readonly string[]): string {
  const more = words.length > SHOWN_WORDS ? " and more" : "";
  return `${words
    .slice(0, SHOWN_WORDS)
    .map((word) => shown(word))
    .join(", ")}${more}`;
}
