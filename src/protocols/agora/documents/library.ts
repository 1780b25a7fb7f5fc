import { AgentError, type JsonObject, type Maybe, type Records } from "../../../envelope/index.js";
import { readFrontMatter } from "./front-matter.js";
import { type Fingerprint, fingerprintOf } from "./hash.js";

/** The longest document that is read, in bytes of UTF-8. */
export const DOCUMENT_BYTES = 64 * 1024;
/** How many documents are kept at once. */
export const DOCUMENTS_KEPT = 1_000;
/** How long it is remembered that a name has two documents behind it. */
const COLLISION_KEEP_MS = 365 * 24 * 60 * 60 * 1000;
/** How long a document is kept that only a message has brought, how many of one caller and how many of all. */
const LEARNED_KEEP_MS = 7 * 24 * 60 * 60 * 1000;
export const LEARNED_PER_CALLER = 50;
export const LEARNED_KEPT = 200;

/** The library's five words for whether a document is good for a task. */
const SUITABILITIES = ["adequate", "inadequate", "probably_adequate", "probably_inadequate", "unknown"] as const;
export type Suitability = (typeof SUITABILITIES)[number];

/** A document in the library. */
export interface KnownDocument {
  /** SHA-1 in base64: its name on the wire. */
  readonly hash: string;
  readonly sha256: string;
  readonly text: string;
  readonly sources: readonly string[];
  readonly name: string;
  readonly description: string;
  readonly multiround: boolean;
  /** Milliseconds since the epoch. */
  readonly addedAt: number;
  /** A message brought it; nobody on this side has chosen it. */
  readonly learned: boolean;
}

export interface LibraryTools {
  now(): number;
  /** Default: the real one. */
  readonly fingerprintOf?: Maybe<(text: string) => Promise<Fingerprint>>;
}

/**
 * The documents one side knows, how often each was used and what is thought of it; all of it lives in records. Two
 * different texts under one name are refused from then on, both of them.
 */
export class DocumentLibrary {
  readonly #records: Records;
  readonly #now: () => number;
  readonly #fingerprintOf: (text: string) => Promise<Fingerprint>;

  constructor(records: Records, tools: LibraryTools) {
    this.#records = records;
    this.#now = () => tools.now();
    this.#fingerprintOf = tools.fingerprintOf ?? fingerprintOf;
  }

  /** Takes a text in. One that is known stays as it is, and is kept for good once somebody has chosen it. */
  async add(
    text: string,
    about: {
      readonly sources?: readonly string[];
      readonly learned?: boolean;
      /** Whose message has brought it. */
      readonly from?: string;
    } = {},
  ): Promise<KnownDocument> {
    checkSize(text);
    const { sha1: hash, sha256 } = await this.#fingerprintOf(text);
    await this.#refuseCollided(hash);
    const { sources = [], learned = false, from = "" } = about;
    const { name, description, multiround } = readFrontMatter(text);
    const made = { hash, sha256, text, sources, name, description, multiround, addedAt: this.#now(), learned };
    const before = await this.#find(hash);
    if (before === undefined) await (learned ? this.#requireRoomFor(from) : this.#requireRoom());
    else if (before.sha256 !== sha256) return this.#collide(hash, [before.sha256, sha256]);
    else if (!before.learned || learned) return before;
    if (learned) {
      await this.#records.put(learnedBelow(from) + hash, {}, LEARNED_KEEP_MS);
      const faster = await this.#records.add(documentKey(hash), recordOf(made), LEARNED_KEEP_MS);
      return faster === undefined ? made : this.add(text, about);
    }
    await this.#records.put(documentKey(hash), recordOf(made));
    // What was thought of it while it was a stranger's is found out again.
    if (before !== undefined) await this.#records.delete(SUITABILITY + hash);
    return made;
  }

  /** Undefined where it is not known. A name with two texts behind it is refused with `conflict`. */
  async get(hash: string): Promise<Maybe<KnownDocument>> {
    const [found] = await Promise.all([this.#find(hash), this.#refuseCollided(hash)]);
    return found;
  }

  /** By name, from behind `after`. */
  async list(limit: number = DOCUMENTS_KEPT, after?: string): Promise<readonly KnownDocument[]> {
    const from = after === undefined ? undefined : documentKey(after);
    const kept = await this.#records.list(DOCUMENTS, limit, from);
    return kept.flatMap(({ key, value }) => documentIn(key.slice(DOCUMENTS.length), value) ?? []);
  }

  /**
   * The documents somebody on this side has chosen, and that were found adequate. Verdicts are looked through first: of what
   * strangers have brought no text is read here, however much it is.
   */
  async adequate(): Promise<readonly KnownDocument[]> {
    const verdicts = await this.#records.list(SUITABILITY, DOCUMENTS_KEPT);
    const good = verdicts.filter(({ value }) => value["suitability"] === "adequate" && value["learned"] !== true);
    const found = await Promise.all(good.map(({ key }) => this.#find(key.slice(SUITABILITY.length))));
    return found.flatMap((document, index) =>
      document?.learned === false && document.sha256 === good[index]?.value["sha256"] ? [document] : [],
    );
  }

  /** One more use: the new count. */
  use({ hash, learned }: Pick<KnownDocument, "hash" | "learned">): Promise<number> {
    return this.#records.count(`use/${hash}`, learned ? LEARNED_KEEP_MS : undefined);
  }

  async uses(hash: string): Promise<number> {
    const count = (await this.#records.get(`use/${hash}`))?.["count"];
    return typeof count === "number" ? count : 0;
  }

  /** What was thought of exactly this text. */
  async suitability({ hash, sha256 }: Pick<KnownDocument, "hash" | "sha256">): Promise<Suitability> {
    const verdict = await this.#records.get(SUITABILITY + hash);
    if (verdict?.["sha256"] !== sha256) return "unknown";
    return SUITABILITIES.find((one) => one === verdict["suitability"]) ?? "unknown";
  }

  judge({ hash, sha256, learned }: KnownDocument, suitability: Suitability): Promise<void> {
    return this.#records.put(SUITABILITY + hash, { sha256, suitability, learned }, learned ? LEARNED_KEEP_MS : undefined);
  }

  async #find(hash: string): Promise<Maybe<KnownDocument>> {
    const value = await this.#records.get(documentKey(hash));
    return value === undefined ? undefined : documentIn(hash, value);
  }

  async #requireRoom(): Promise<void> {
    const kept = await this.#records.list(DOCUMENTS, DOCUMENTS_KEPT);
    if (kept.length >= DOCUMENTS_KEPT)
      throw new AgentError("overloaded", `${DOCUMENTS_KEPT} protocol documents are kept; there is no room for another`);
  }

  /** Strangers leave room for each other, and for what is chosen here. */
  async #requireRoomFor(caller: string): Promise<void> {
    const own = await this.#records.list(learnedBelow(caller), LEARNED_PER_CALLER);
    const all = await this.#records.list(LEARNED, LEARNED_KEPT);
    if (own.length >= LEARNED_PER_CALLER || all.length >= LEARNED_KEPT)
      throw new AgentError("overloaded", "there is no room for another protocol document that a message brings along");
  }

  async #refuseCollided(hash: string): Promise<void> {
    if ((await this.#records.get(`collision/${hash}`)) !== undefined) throw collided(hash);
  }

  async #collide(hash: string, sha256: readonly string[]): Promise<never> {
    await this.#records.put(`collision/${hash}`, { sha256, at: this.#now() }, COLLISION_KEEP_MS);
    throw collided(hash);
  }
}

const DOCUMENTS = "document/";
const SUITABILITY = "suitability/";

/** Who has brought which document: names only, to be counted without reading any text. */
const LEARNED = "learned/";

/** The length keeps caller and hash apart, whatever characters they have. */
function learnedBelow(caller: string): string {
  return `${LEARNED}${caller.length}:${caller}/`;
}

function documentKey(hash: string): string {
  return DOCUMENTS + hash;
}

/** Throws `too_large` for a text that is longer than documents are. */
export function checkSize(text: string): void {
  if (text.length <= DOCUMENT_BYTES / 3) return;
  const bytes = new TextEncoder().encode(text).byteLength;
  if (bytes > DOCUMENT_BYTES)
    throw new AgentError("too_large", `the protocol document has ${bytes} bytes; at most ${DOCUMENT_BYTES} are read`);
}

function collided(hash: string): AgentError {
  return new AgentError("conflict", `two different documents have the name ${hash}; neither is used`);
}

function recordOf({ hash: _hash, ...value }: KnownDocument): JsonObject {
  return value;
}

/** Undefined for a record that is none of ours. */
function documentIn(hash: string, value: JsonObject): Maybe<KnownDocument> {
  const { sha256, text, sources, name, description, multiround, addedAt, learned } = value;
  if (typeof sha256 !== "string" || typeof text !== "string" || typeof name !== "string") return undefined;
  if (typeof description !== "string" || typeof multiround !== "boolean" || typeof addedAt !== "number") return undefined;
  const listed = Array.isArray(sources) ? sources.filter((source): source is string => typeof source === "string") : [];
  return { hash, sha256, text, sources: listed, name, description, multiround, addedAt, learned: learned === true };
}
