import { sentencesOf } from "../text/clauses.js";
import { type Claim, claimsIn, type Stretch } from "./role-clauses.js";
import { type NamedRole, roleFinder } from "./role-names.js";

/** The text about each module, piece by piece, and the text about no particular one. */
export interface SharedOut {
  readonly pieces: readonly (readonly string[])[];
  readonly rest: string;
}

/**
 * Assigns to every module the sentences about it: those that name its role, or continue with a pronoun until another module
 * is named. Where the clauses of a sentence name different roles, each gets its own. All pieces are verbatim.
 */
export function shareOut(text: string, roles: readonly NamedRole[]): SharedOut {
  // With a single module, all of the text is about it.
  if (roles.length === 1) return { pieces: [[text]], rest: "" };
  const find = roleFinder(roles);
  const stretches = roles.map((): Stretch[] => []);
  const others: Stretch[] = [];
  let subjects: readonly number[] = [];
  let section: readonly number[] = [];
  let before: Stretch | undefined;
  for (const sentence of wholeSentences(text)) {
    // A heading applies to the end of its paragraph.
    if (before !== undefined && /\n\s*\n/.test(text.slice(before.end, sentence.start))) section = [];
    const { claims, opens } = claimsIn(text, sentence, { find, subjects, section });
    if (opens !== undefined) section = opens;
    else if (claims.some(({ named }) => named)) section = [];
    for (const claim of claims) {
      if (claim.modules.length === 0) others.push(claim);
      for (const module of claim.modules) stretches[module]?.push(claim);
    }
    subjects = lastSubjects(claims) ?? subjects;
    before = sentence;
  }
  return { pieces: stretches.map((own) => joined(text, own)), rest: joined(text, others).join("\n") };
}

function lastSubjects(claims: readonly Claim[]): readonly number[] | undefined {
  return claims.findLast(({ modules }) => modules.length > 0)?.modules;
}

/** A semicolon or a wrapped line does not end a sentence here. */
function wholeSentences(text: string): readonly Stretch[] {
  const sentences: Stretch[] = [];
  for (const { start, end } of sentencesOf(text)) {
    const last = sentences.at(-1);
    const gap = last === undefined ? "" : text.slice(last.end, start);
    if (last !== undefined && (/^\s*;\s*$/.test(gap) || (/^[ \t,]*\r?\n[ \t]*$/.test(gap) && /^\p{Ll}/u.test(text.slice(start)))))
      sentences[sentences.length - 1] = { start: last.start, end };
    else sentences.push({ start, end });
  }
  return sentences;
}

/** Consecutive pieces are merged. */
function joined(text: string, stretches: readonly Stretch[]): readonly string[] {
  const runs: Stretch[] = [];
  for (const { start, end } of stretches) {
    const last = runs.at(-1);
    if (last !== undefined && !/[\p{L}\p{N}]/u.test(text.slice(last.end, start)))
      runs[runs.length - 1] = { start: last.start, end };
    else runs.push({ start, end });
  }
  return runs.map(({ start, end }) => text.slice(start, end));
}
