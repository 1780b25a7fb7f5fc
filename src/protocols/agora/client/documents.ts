import type { Card, Maybe, Skill } from "../../../envelope/index.js";
import { readFrontMatter } from "../documents/front-matter.js";
import { protocolHash } from "../documents/hash.js";
import { dataUriOf } from "../documents/sources.js";

/** A document by which a message is asked for, as far as this side knows it. */
export interface SpokenDocument {
  readonly hash: string;
  readonly text: string;
  readonly sources: readonly string[];
  readonly name: string;
  readonly description: string;
  readonly multiround: boolean;
  /** The peer's skill behind it. */
  readonly skill: Maybe<string>;
}

/**
 * The documents a message can name: those of the peer's card and those this side was given. The text rides along in every
 * request as a data URI, so that no peer has to fetch anything.
 */
export class SpokenDocuments {
  readonly #card: Card;
  readonly #own: readonly string[];
  #all: Maybe<Promise<readonly SpokenDocument[]>>;
  #byName: Maybe<Promise<ReadonlyMap<string, SpokenDocument>>>;

  constructor(card: Card, own: readonly string[]) {
    this.#card = card;
    this.#own = own;
  }

  /** By the id of the peer's skill, by hash, or by the name in the document itself. At once where there is nothing to find. */
  find(intent: string): Maybe<SpokenDocument> | Promise<Maybe<SpokenDocument>> {
    if (intent === "" || this.#isEmpty) return undefined;
    return this.#named().then((named) => named.get(intent));
  }

  get #isEmpty(): boolean {
    return this.#own.length === 0 && this.#card.skills.every(({ document }) => document === undefined);
  }

  #named(): Promise<ReadonlyMap<string, SpokenDocument>> {
    this.#byName ??= this.all().then((all) => {
      // Of two under one name the first counts, and the surer kind of name before the others: so those are put in last.
      const last = all.toReversed();
      return new Map([
        ...last.map((each) => [each.name, each] as const),
        ...last.map((each) => [each.hash, each] as const),
        ...last.flatMap((each) => (each.skill === undefined ? [] : [[each.skill, each] as const])),
      ]);
    });
    return this.#byName;
  }

  /** Hashed once, when the first is asked for. */
  all(): Promise<readonly SpokenDocument[]> {
    this.#all ??= Promise.all([
      ...this.#card.skills.flatMap((skill) => (skill.document === undefined ? [] : [spoken(skill.document, skill)])),
      ...this.#own.map((text) => spoken(text, undefined)),
    ]);
    return this.#all;
  }
}

/** A text as this side speaks it. */
export async function spoken(text: string, skill: Maybe<Skill>): Promise<SpokenDocument> {
  return { hash: await protocolHash(text), text, sources: [dataUriOf(text)], skill: skill?.id, ...readFrontMatter(text) };
}
