import { AgentError, type JsonObject, type Maybe, type Records } from "../../../envelope/index.js";
import { readFrontMatter } from "./front-matter.js";
import { type Fingerprint, fingerprintOf } from "./hash.js";

/** Limit of document size, in bytes of UTF-8. */
export const DOCUMENT_BYTES = 64 * 1024;
/** Limit of stored documents. */
export const DOCUMENTS_KEPT = 1_000;
/** How long a hash collision is remembered. */
const COLLISION_KEEP_MS = 365 * 24 * 60 * 60 * 1000;
/** Retention of documents received in messages, and their limits per caller and in total. */
const LEARNED_KEEP_MS = 7 * 24 * 60 * 60 * 1000;
export const LEARNED_PER_CALLER = 50;
export const LEARNED_KEPT = 200;

/** The Python library's five ratings of a document for a task. */
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
  /** Received in a message; not chosen by the operator. */
  readonly learned: boolean;
}

export interface LibraryTools {
  now(): number;
  /** Default: the system clock. */
  readonly fingerprintOf?: Maybe<(text: string) => Promise<Fingerprint>>;
}

/**
 * The stored documents with their use counts and ratings, all in records. Two different texts with the same hash are both refused
 * from then on.
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

  /** Adds a text. A known one stays as it is, and becomes permanent once the operator adds it. */
  async add(
    text: string,
    about: {
      readonly sources?: readonly string[];
      readonly learned?: boolean;
      /** The caller whose message carried it. */
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
    // A rating from before the operator chose it is discarded.
    if (before !== undefined) await this.#records.delete(SUITABILITY + hash);
    return made;
  }

  /** Undefined if unknown. A hash with two texts is refused with `conflict`. */
  async get(hash: string): Promise<Maybe<KnownDocument>> {
    const [found] = await Promise.all([this.#find(hash), this.#refuseCollided(hash)]);
    return found;
  }

  /** Pages through the documents by hash, starting after `after`. */
  async list(limit: number = DOCUMENTS_KEPT, after?: string): Promise<readonly KnownDocument[]> {
    const from = after === undefined ? undefined : documentKey(after);
    const kept = await this.#records.list(DOCUMENTS, limit, from);
    return kept.flatMap(({ key, value }) => documentIn(key.slice(DOCUMENTS.length), value) ?? []);
  }

  /**
   * The documents chosen by the operator and rated adequate. Ratings are read first, so that texts from anonymous callers are
   * never loaded here, however many there are.
   */
  async adequate(): Promise<readonly KnownDocument[]> {
    const ratings = await this.#records.list(SUITABILITY, DOCUMENTS_KEPT);
    const good = ratings.filter(({ value }) => value["suitability"] === "adequate" && value["learned"] !== true);
    const found = await Promise.all(good.map(({ key }) => this.#find(key.slice(SUITABILITY.length))));
    return found.flatMap((document, index) =>
      document?.learned === false && document.sha256 === good[index]?.value["sha256"] ? [document] : [],
    );
  }

  /** Counts one use. Returns the new count. */
  use({ hash, learned }: Pick<KnownDocument, "hash" | "learned">): Promise<number> {
    return this.#records.count(`use/${hash}`, learned ? LEARNED_KEEP_MS : undefined);
  }

  async uses(hash: string): Promise<number> {
    const count = (await this.#records.get(`use/${hash}`))?.["count"];
    return typeof count === "number" ? count : 0;
  }

  /** The rating of exactly this text. */
  async suitability({ hash, sha256 }: Pick<KnownDocument, "hash" | "sha256">): Promise<Suitability> {
    const rating = await this.#records.get(SUITABILITY + hash);
    if (rating?.["sha256"] !== sha256) return "unknown";
    return SUITABILITIES.find((one) => one === rating["suitability"]) ?? "unknown";
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
      throw new AgentError("overloaded", `the limit of ${DOCUMENTS_KEPT} protocol documents is reached`);
  }

  /** Enforces the limits for received documents, per caller and in total. */
  async #requireRoomFor(caller: string): Promise<void> {
    const own = await this.#records.list(learnedBelow(caller), LEARNED_PER_CALLER);
    const all = await this.#records.list(LEARNED, LEARNED_KEPT);
    if (own.length >= LEARNED_PER_CALLER || all.length >= LEARNED_KEPT)
      throw new AgentError("overloaded", "the limit of protocol documents received in messages is reached");
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

/** Index records, caller and hash only, so that documents can be counted without reading texts. */
const LEARNED = "learned/";

/** The length prefix makes the key unambiguous. */
function learnedBelow(caller: string): string {
  return `${LEARNED}${caller.length}:${caller}/`;
}

function documentKey(hash: string): string {
  return DOCUMENTS + hash;
}

/** Throws `too_large` if the text exceeds the limit. */
export function checkSize(text: string): void {
  if (text.length <= DOCUMENT_BYTES / 3) return;
  const bytes = new TextEncoder().encode(text).byteLength;
  if (bytes > DOCUMENT_BYTES)
    throw new AgentError("too_large", `the protocol document has ${bytes} bytes; at most ${DOCUMENT_BYTES} are read`);
}

function collided(hash: string): AgentError {
  return new AgentError("conflict", `two different documents have the hash ${hash}; neither is used`);
}

function recordOf({ hash: _hash, ...value }: KnownDocument): JsonObject {
  return value;
}

/** Undefined if the record has another format. */
function documentIn(hash: string, value: JsonObject): Maybe<KnownDocument> {
  const { sha256, text, sources, name, description, multiround, addedAt, learned } = value;
  if (typeof sha256 !== "string" || typeof text !== "string" || typeof name !== "string") return undefined;
  if (typeof description !== "string" || typeof multiround !== "boolean" || typeof addedAt !== "number") return undefined;
  const listed = Array.isArray(sources) ? sources.filter((source): source is string => typeof source === "string") : [];
  return { hash, sha256, text, sources: listed, name, description, multiround, addedAt, learned: learned === true };
}
