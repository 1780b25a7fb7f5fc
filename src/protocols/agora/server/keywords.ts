import type { Maybe } from "../../../envelope/index.js";
import type { Talker } from "./asked.js";

/** One line of the table: the first rule of which a word occurs in the message answers it. */
export interface KeywordRule {
  readonly name: string;
  /** Compared whole, in any case. */
  readonly words: readonly string[];
  readonly reply: string;
}

/** As much of a message as is looked at: every word of it is held while the table is gone through. */
const LOOKED_AT = 8_000;

/**
 * Answers natural language by a table that everybody can read, for those who have neither an agent function for it nor a
 * model. It understands nothing, and every reply names the rule that fired.
 */
export class KeywordResponder {
  readonly rules: readonly KeywordRule[];
  readonly #words: readonly { readonly rule: KeywordRule; readonly words: ReadonlySet<string> }[];

  constructor(rules: readonly KeywordRule[]) {
    this.rules = rules;
    this.#words = rules.map((rule) => ({ rule, words: new Set(rule.words.map((word) => word.toLowerCase())) }));
  }

  /** Undefined where no rule fires. */
  answerTo(text: string): Maybe<Talker> {
    const said =
      text
        .slice(0, LOOKED_AT)
        .toLowerCase()
        .match(/[\p{L}\p{N}]+/gu) ?? [];
    const fired = this.#words.find(({ words }) => said.some((word) => words.has(word)))?.rule;
    if (fired === undefined) return undefined;
    const body = `${fired.reply}\n(keyword rule: ${fired.name})`;
    return { reply: async (state) => ({ state, body }) };
  }
}
