import type { Module, PassageKind, Scenario } from "../scenario.js";
import { type Sentence, type Stretch, sentencesOf } from "../text/clauses.js";
import { foldCase } from "../text/fold-case.js";
import { type Word, wordsOf } from "../text/words.js";
import { trustOf } from "./focus.js";
import { stanceAt, turnedIn } from "./stance.js";
import type { Stance } from "./stance-frames.js";

/** A part of the input that may be evidence: words of one sentence with one stance. */
export interface Span {
  /** Which of the module's texts; `description` for what the scenario says of all its modules. */
  readonly source: "module" | "description";
  readonly kind: PassageKind;
  /** The whole text it is part of. */
  readonly text: string;
  readonly words: readonly Word[];
  /** The clauses of its sentence; a quotation is cut where one begins. */
  readonly clauses: readonly Stretch[];
  /** The words statement by statement, where there are several. */
  readonly statements: readonly (readonly Word[])[];
  /** The span is the whole text, such as an item of a list. */
  readonly whole: boolean;
  readonly stance: Stance;
  /** From 0 to 1; lower where the text later comes to its actual point. */
  readonly trust: number;
  /** Its position in reading order. */
  readonly position: number;
}

/** Matches a sentence about all modules, in small letters. */
const OF_ALL =
  /\b(?:both|all|every|each|none|no|any)\b[^.;]{0,40}\b(?:modules?|stages?|parts?|links?|steps?|components?|pieces?|connections?|legs?|hops?|agents?|exchanges?|messages?|sides?|here)\b|\b(?:throughout|everywhere|across the board|in all cases|without exception|the whole (?:system|flow|network|thing))\b/u;

/** Statements about all modules have exceptions, so they are trusted less. */
const SAID_OF_ALL = 0.7;

/** The description comes after the texts of the module. */
const AFTER_ALL_MODULES = 1_000_000;

interface ExtractSettings {
  readonly stance: boolean;
  readonly locks: boolean;
}

/** The evidence spans of a module, in the order of their kinds, and those of the description about all modules. */
export function extractEvidenceSpans(scenario: Scenario, module: Module, settings: ExtractSettings): readonly Span[] {
  const counted = module.passages.filter(({ kind }) => settings.locks || (kind !== "must" && kind !== "mustNot"));
  const spans: Span[] = [];
  for (const { text, kind } of counted) addSpans(spans, { source: "module", kind, text, trust: 1, position: 0 }, settings);
  return [...spans, ...describedIn(scenario, settings)];
}

/** Cached: many modules share one description. */
const described = new WeakMap<Scenario, Map<boolean, readonly Span[]>>();

function describedIn(scenario: Scenario, settings: ExtractSettings): readonly Span[] {
  const others = described.get(scenario);
  const known = others?.get(settings.stance);
  if (known !== undefined) return known;
  const isShared = scenario.modules.length > 1;
  const trust = isShared ? SAID_OF_ALL : 1;
  const about = { source: "description", kind: "need", text: scenario.description, trust, position: AFTER_ALL_MODULES } as const;
  const spans: Span[] = [];
  addSpans(spans, about, settings, (sentence) => !isShared || OF_ALL.test(foldCase(sentence)));
  if (others === undefined) described.set(scenario, new Map([[settings.stance, spans]]));
  else others.set(settings.stance, spans);
  return spans;
}

/** Adds the spans of a text. `position` is that of the first of `spans`. */
function addSpans(
  spans: Span[],
  { source, kind, text, trust, position }: Pick<Span, "source" | "kind" | "text" | "trust" | "position">,
  settings: ExtractSettings,
  counts: (sentence: string) => boolean = () => true,
): void {
  const sentences = sentencesOf(text);
  const trusts = trustOf(text, sentences);
  for (const [index, sentence] of sentences.entries()) {
    if (!counts(text.slice(sentence.start, sentence.end))) continue;
    for (const [stance, words] of byStance(text, sentence, settings.stance))
      spans.push({
        source,
        kind,
        text,
        words,
        clauses: sentence.clauses,
        statements: statementsIn(words, sentence),
        whole: sentences.length === 1 && kind !== "name",
        stance: kind === "mustNot" ? "avoided" : stance,
        trust: (trusts[index] ?? 1) * trust,
        position: position + spans.length,
      });
  }
}

/** Fewer words are no statement; a bare "and" after fewer joins two things, not two statements. */
const STATEMENT_WORDS = 5;

/** The words by statement; empty if there is only one. */
function statementsIn(words: readonly Word[], { clauses }: Sentence): readonly (readonly Word[])[] {
  const statements: Word[][] = [];
  let clause = -1;
  for (const word of words) {
    const before = clause;
    while (clause < clauses.length - 1 && word.start >= (clauses[clause + 1]?.start ?? 0)) clause++;
    const last = statements.at(-1);
    if (last === undefined || clause !== before || (word.text === "and" && last.length >= STATEMENT_WORDS))
      statements.push([word]);
    else last.push(word);
  }
  return statements.length < 2 ? [] : statements.filter(({ length }) => length >= STATEMENT_WORDS);
}

/** The words of a sentence, grouped by stance. */
function byStance(text: string, sentence: Sentence, minded: boolean): ReadonlyMap<Stance, readonly Word[]> {
  const words = wordsOf(text, sentence.start, sentence.end);
  if (!minded) return new Map([["wanted", words]]);
  const turned = turnedIn(text, sentence);
  if (turned.size === 0) return new Map([["wanted", words]]);
  const groups = new Map<Stance, Word[]>();
  for (const word of words) {
    const stance = stanceAt(turned, word);
    const group = groups.get(stance);
    if (group === undefined) groups.set(stance, [word]);
    else group.push(word);
  }
  return groups;
}
