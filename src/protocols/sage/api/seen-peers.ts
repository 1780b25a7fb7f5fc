import { type Maybe, RecentMap, type Records, recordsBelow } from "../../../envelope/index.js";
import { originOf } from "./peers.js";

/** How long an agent that was once seen with SAGE is called by nothing else. */
const KEPT_MS = 30 * 86_400_000;
/** How often that time begins again: not every message is a write. */
const RENEW_MS = 86_400_000;
/** Agents that one process adds; further ones are checked by the card alone. */
const MAX_ADDED = 10_000;

/** The agents that were seen with SAGE, by DID and by address. They stay required to use it: it cannot be stripped from them. */
export class SeenPeers {
  readonly #records: Records;
  readonly #now: () => number;
  readonly #renewed = new RecentMap<number>(2 * MAX_ADDED);
  #added = 0;

  constructor(records: Records, now: () => number) {
    this.#records = recordsBelow(records, "sage-seen");
    this.#now = now;
  }

  /** Whether the DID was seen. */
  async has(did: string): Promise<boolean> {
    return (await this.#records.get(`did/${did}`)) !== undefined;
  }

  /** The DID that was seen at an address. */
  async didAt(url: string): Promise<Maybe<string>> {
    const did = (await this.#records.get(`at/${originOf(url)}`))?.["did"];
    return typeof did === "string" ? did : undefined;
  }

  async add(did: string, url?: Maybe<string>): Promise<void> {
    await this.#put(`did/${did}`, did);
    if (url !== undefined) await this.#put(`at/${originOf(url)}`, did);
  }

  async #put(key: string, did: string): Promise<void> {
    const now = this.#now();
    const before = this.#renewed.get(key);
    if (before !== undefined && now - before < RENEW_MS) return;
    if (before === undefined && ++this.#added > MAX_ADDED) return;
    await this.#records.put(key, { did }, KEPT_MS);
    this.#renewed.set(key, now);
  }
}
