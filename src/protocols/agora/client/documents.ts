import type { Card, Maybe, Skill } from "../../../envelope/index.js";
import { readFrontMatter } from "../documents/front-matter.js";
import { protocolHash } from "../documents/hash.js";
import { dataUriOf } from "../documents/sources.js";

/** A document that a message can follow, as far as the client knows it. */
export interface ClientDocument {
  readonly hash: string;
  readonly text: string;
  readonly sources: readonly string[];
  readonly name: string;
  readonly description: string;
  readonly multiround: boolean;
  /** The peer's skill that implements it. */
  readonly skill: Maybe<string>;
}

/**
 * The documents a message can name: those of the peer's card and those configured on the client. Every request carries the text
 * as a data URI, so that no peer has to fetch anything.
 */
export class ClientDocuments {
  readonly #card: Card;
  readonly #configured: readonly string[];
  #all: Maybe<Promise<readonly ClientDocument[]>>;
  #byName: Maybe<Promise<ReadonlyMap<string, ClientDocument>>>;

  constructor(card: Card, own: readonly string[]) {
    this.#card = card;
    this.#configured = own;
  }

  /** Finds a document by the id of the peer's skill, by hash, or by its own name. Synchronous if there are no documents. */
  find(intent: string): Maybe<ClientDocument> | Promise<Maybe<ClientDocument>> {
    if (intent === "" || this.#isEmpty) return undefined;
    return this.#named().then((named) => named.get(intent));
  }

  get #isEmpty(): boolean {
    return this.#configured.length === 0 && this.#card.skills.every(({ document }) => document === undefined);
  }

  #named(): Promise<ReadonlyMap<string, ClientDocument>> {
    this.#byName ??= this.all().then((all) => {
      // The first document of a name wins, and skill ids win over names. Entries with precedence are therefore added last.
      const last = all.toReversed();
      return new Map([
        ...last.map((each) => [each.name, each] as const),
        ...last.map((each) => [each.hash, each] as const),
        ...last.flatMap((each) => (each.skill === undefined ? [] : [[each.skill, each] as const])),
      ]);
    });
    return this.#byName;
  }

  /** Hashed once, on first use. */
  all(): Promise<readonly ClientDocument[]> {
    this.#all ??= Promise.all([
      ...this.#card.skills.flatMap((skill) => (skill.document === undefined ? [] : [documentOf(skill.document, skill)])),
      ...this.#configured.map((text) => documentOf(text, undefined)),
    ]);
    return this.#all;
  }
}

/** A text as a document entry. */
export async function documentOf(text: string, skill: Maybe<Skill>): Promise<ClientDocument> {
  return { hash: await protocolHash(text), text, sources: [dataUriOf(text)], skill: skill?.id, ...readFrontMatter(text) };
}
