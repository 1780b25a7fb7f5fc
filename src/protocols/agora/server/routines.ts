import { AgentError, type Card, type Maybe, type Skill } from "../../../envelope/index.js";
import { INNER_JSON_LIMITS, readJson } from "../../../transport/json.js";
import type { Host } from "../../protocol.js";
import { readFrontMatter } from "../documents/front-matter.js";
import { fingerprintOf } from "../documents/hash.js";
import { checkSize } from "../documents/library.js";

/** `always`: the body must be JSON; `maybe`: it is parsed as JSON if it is an object or a list. */
export type JsonBodies = "always" | "maybe" | "never";

/** A skill that implements a protocol document in code. */
export interface RegisteredRoutine {
  readonly hash: string;
  readonly sha256: string;
  readonly text: string;
  readonly name: string;
  readonly description: string;
  readonly multiround: boolean;
  readonly sources: readonly string[];
  readonly agent: string;
  /** The skill's id: the intent of every message that follows the document. */
  readonly skill: string;
  readonly json: JsonBodies;
}

/** By agent; the first agent has precedence. */
type ByAgent = ReadonlyMap<string, RegisteredRoutine>;

interface Table {
  readonly cards: readonly Card[];
  readonly routines: Promise<readonly RegisteredRoutine[]>;
  readonly byHash: Promise<ReadonlyMap<string, ByAgent>>;
}

/** All routines of a host. Documents are hashed once per list of cards, never per message. */
export class Routines {
  readonly #host: Host;
  #table: Table;

  constructor(host: Host) {
    this.#host = host;
    this.#table = this.#read();
  }

  all(): Promise<readonly RegisteredRoutine[]> {
    return this.#current().routines;
  }

  /** The routine with this hash, of the given agent or else of the first that has it. */
  async find(hash: string, agent: Maybe<string>): Promise<Maybe<RegisteredRoutine>> {
    const found = (await this.#current().byHash).get(hash);
    return agent === undefined ? found?.values().next().value : found?.get(agent);
  }

  #current(): Table {
    if (this.#table.cards !== this.#host.cards()) this.#table = this.#read();
    return this.#table;
  }

  #read(): Table {
    const cards = this.#host.cards();
    const documents = cards.flatMap((card) =>
      card.skills.flatMap((skill) => (skill.document === undefined ? [] : [{ card, skill, text: skill.document }])),
    );
    // Validated at start instead of on the first request.
    for (const { text } of documents) checkSize(text);
    const padded = documents.filter(({ text }) => text.trim() !== text);
    const routines = Promise.all(documents.map(({ card, skill, text }) => registered(card, skill, text)));
    // The Python library hashes the trimmed text after a negotiation, so every routine answers to that hash too.
    const trimmed = Promise.all(padded.map(({ card, skill, text }) => registered(card, skill, text.trim())));
    return { cards, routines, byHash: Promise.all([routines, trimmed]).then(([exact, also]) => byHash([...exact, ...also])) };
  }
}

/** If an agent has two routines with one hash, the first wins. */
function byHash(routines: readonly RegisteredRoutine[]): ReadonlyMap<string, ByAgent> {
  const all = new Map<string, Map<string, RegisteredRoutine>>();
  for (const routine of routines) {
    const { hash, agent } = routine;
    const found = all.get(hash) ?? new Map<string, RegisteredRoutine>();
    if (!found.has(agent)) found.set(agent, routine);
    all.set(hash, found);
  }
  return all;
}

async function registered(card: Card, skill: Skill, text: string): Promise<RegisteredRoutine> {
  const { sha1: hash, sha256 } = await fingerprintOf(text);
  const { name, description, multiround } = readFrontMatter(text);
  const json = jsonBodies(skill.inputModes ?? card.inputModes);
  return { hash, sha256, text, name, description, multiround, sources: [], agent: card.name, skill: skill.id, json };
}

function jsonBodies(modes: readonly string[]): JsonBodies {
  if (!modes.some((mode) => /[/+]json$/i.test(mode))) return "never";
  return modes.some((mode) => mode.toLowerCase().startsWith("text/") || mode === "*/*") ? "maybe" : "always";
}

/** Whether this body is read as JSON. */
export function holdsJson(json: JsonBodies, body: Maybe<string>): boolean {
  if (json !== "maybe") return json === "always";
  if (body === undefined || !/^\s*[[{]/.test(body)) return false;
  try {
    readJson(new TextEncoder().encode(body), INNER_JSON_LIMITS);
    return true;
  } catch (thrown) {
    // Its decoder refuses one that is too large.
    return AgentError.from(thrown).code === "too_large";
  }
}
