import type { Maybe } from "../../../envelope/index.js";
import type { Responder } from "./incoming-message.js";

/** A rule of the keyword table: the first with a keyword in the message answers it. */
export interface KeywordRule {
  /** Names the rule. */
  readonly name: string;
  /** Compared as whole words, case-insensitively. */
  readonly words: readonly string[];
  /** The reply. */
  readonly reply: string;
}

/** Limit of characters considered: all words of a message are kept in memory during the lookup. */
const LOOKED_AT = 8_000;

/**
 * Answers natural language from a keyword table, for hosts with neither an agent function for it nor a model. Every reply names
 * the matching rule.
 */
export class KeywordResponder {
  readonly rules: readonly KeywordRule[];
  readonly #words: readonly { readonly rule: KeywordRule; readonly words: ReadonlySet<string> }[];

  constructor(rules: readonly KeywordRule[]) {
    this.rules = rules;
    this.#words = rules.map((rule) => ({ rule, words: new Set(rule.words.map((word) => word.toLowerCase())) }));
  }

  /** Undefined if no rule matches. */
  answerTo(text: string): Maybe<Responder> {
    const messageWords =
      text
        .slice(0, LOOKED_AT)
        .toLowerCase()
        .match(/[\p{L}\p{N}]+/gu) ?? [];
    const fired = this.#words.find(({ words }) => messageWords.some((word) => words.has(word)))?.rule;
    if (fired === undefined) return undefined;
    const body = `${fired.reply}\n(keyword rule: ${fired.name})`;
    return { reply: async (state) => ({ state, body }) };
  }
}
