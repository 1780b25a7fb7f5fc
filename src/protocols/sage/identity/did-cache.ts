import { AgentError, type Maybe } from "../../../envelope/index.js";
import type { DidDocument, DidMethod, PublicKey } from "../../../security/identity/index.js";
import { DidNotResolved, type UnresolvedReason } from "../errors.js";
import type { RegistryReader } from "../registry/registry.js";
import { type AgentInfo, documentOf, type KeyState, usableKeys, verifiedInfo } from "./agent-record.js";
import { checkedSageDid, METHOD, type Network, type SageDid, sageDidOf } from "./did-sage.js";
import { RegistryWatch, type WatchEvents, type WatchLimits } from "./registry-watch.js";

/** Limits of a cache of DIDs. */
export interface DidCacheLimits extends WatchLimits {
  /** How long a record is used before it is read again: the longest delay of a revocation. At most 60 s. */
  readonly ttlMs: number;
  /** How long a DID that was not resolved is refused without asking again. */
  readonly failureMs: number;
  /** How long a registry may take to answer: a record is as old as the question, and an older one is not used. */
  readonly answerMs: number;
  /** Records and failures that are kept; the oldest give way. */
  readonly entries: number;
}

/** Five seconds each, a thousand DIDs, and a look for changes every second, or every 30 while a registry does not answer. */
export const DEFAULT_DID_CACHE_LIMITS: DidCacheLimits = Object.freeze({
  ttlMs: 5_000,
  failureMs: 5_000,
  answerMs: 5_000,
  entries: 1_000,
  watchMs: 1_000,
  watchRetryMs: 30_000,
});
const MAX_TTL_MS = 60_000;

export interface DidCacheOptions {
  /** One registry for each network. */
  readonly registries: readonly RegistryReader[];
  /** The networks whose registries are asked for changes for as long as a record of them is kept. Default: none. */
  readonly watched?: Maybe<readonly Network[]>;
  readonly limits?: Maybe<Partial<DidCacheLimits>>;
  /** Milliseconds since the epoch. Default: the system clock. */
  readonly now?: Maybe<() => number>;
}

/** Why a key of a record cannot be used. One that was accepted when it was read has ended since. */
const UNUSABLE: { readonly [state in KeyState]: UnresolvedReason } = {
  accepted: "key.expired",
  replaced: "key.expired",
  ended: "key.expired",
  revoked: "key.revoked",
  unproven: "key.unproven",
};

interface Entry {
  readonly until: number;
  readonly result: AgentInfo | AgentError;
}

/**
 * Resolves `did:sage`, and keeps what it read for a short time. Errors are `ErrDIDNotResolved`: a registry that cannot be asked is an
 * error, never an empty answer.
 */
export class DidCache {
  readonly #registries: ReadonlyMap<string, RegistryReader>;
  readonly #limits: DidCacheLimits;
  readonly #now: () => number;
  readonly #entries = new Map<string, Entry>();
  readonly #underWay = new Map<string, Promise<AgentInfo>>();
  readonly #watches: ReadonlyMap<string, RegistryWatch>;

  constructor({ registries, watched = [], limits, now = Date.now }: DidCacheOptions) {
    this.#registries = new Map(registries.map((registry) => [registry.network, registry]));
    this.#limits = { ...DEFAULT_DID_CACHE_LIMITS, ...limits };
    this.#now = now;
    if (!(this.#limits.ttlMs >= 0 && this.#limits.ttlMs <= MAX_TTL_MS))
      throw new AgentError("invalid_message", `a record of a registry is kept for at most ${MAX_TTL_MS} ms`, { field: "ttlMs" });
    this.#watches = new Map(
      registries
        .filter(({ network }) => watched.includes(network) && this.#limits.ttlMs > 0)
        .map((registry) => [registry.network, this.#watchOf(registry, { isNeeded: () => this.#keepsAny(registry) })]),
    );
  }

  /** Whether a DID is registered and active, and its keys. */
  async getAgentInfo(did: string): Promise<AgentInfo> {
    const kept = this.#entries.get(did);
    if (kept !== undefined && this.#now() < kept.until) {
      if (kept.result instanceof AgentError) throw kept.result;
      return kept.result;
    }
    return this.#underWay.get(did) ?? this.#start(checkedSageDid(did));
  }

  /** The key to verify with: the named one, or the first that the agent signs messages with. An inactive agent has none. */
  async resolvePublicKey(did: string, keyId?: string): Promise<PublicKey> {
    const info = await this.getAgentInfo(did);
    if (!info.active) throw new DidNotResolved("record.inactive", `${did} is deactivated`);
    const keys = usableKeys(info).filter(({ expires }) => expires === undefined || this.#now() < expires);
    const key = keys.find((each) => (keyId === undefined ? signsMessages(each) : each.id === keyId));
    if (key !== undefined) return key;
    const wanted = keyId === undefined ? "that signs" : keyId.slice(0, 200);
    const { state } = info.keys.find(({ id }) => id === keyId) ?? {};
    throw new DidNotResolved(
      state === undefined ? "key.not-in-record" : UNUSABLE[state],
      `${did} has no usable key ${wanted}${state === undefined ? "" : `: it is ${state}`}`,
    );
  }

  /** Drops what is kept of a DID. */
  forget(did: string): void {
    this.#entries.delete(did);
    this.#underWay.delete(did);
  }

  /**
   * Asks the registries for changes from now on, and forgets the DIDs that changed. If a registry cannot be asked, all that was read
   * from it is forgotten: revocations could be missed. The returned function ends it.
   */
  watch(): () => void {
    const watches = [...this.#registries.values()].map((registry) => {
      // What was read before the first answer may have changed unseen.
      const watch = this.#watchOf(registry, { isNeeded: () => true, began: () => this.#forgetAll(registry) });
      watch.started().catch(() => undefined); // asked again later
      return watch;
    });
    return () => {
      for (const watch of watches) watch.stop();
    };
  }

  /** Ends what outlives a question: watches, and connections to registries. */
  async close(): Promise<void> {
    for (const watch of this.#watches.values()) watch.stop();
    await Promise.all([...this.#registries.values()].map(async (registry) => registry.close?.()));
  }

  #watchOf(registry: RegistryReader, events: Pick<WatchEvents, "isNeeded" | "began">): RegistryWatch {
    return new RegistryWatch(registry, this.#limits, {
      changed: (account) => this.forget(sageDidOf(registry.network, account)),
      lost: () => this.#forgetAll(registry),
      ...events,
    });
  }

  /** Whether a record is kept or being read. A failure is no record: it ends by itself. */
  #keepsAny({ network }: RegistryReader): boolean {
    const prefix = sageDidOf(network, "");
    const now = this.#now();
    for (const did of this.#underWay.keys()) if (did.startsWith(prefix)) return true;
    for (const [did, { until, result }] of this.#entries)
      if (now < until && !(result instanceof AgentError) && did.startsWith(prefix)) return true;
    return false;
  }

  /** Drops all records. Failures stay, so that a registry which does not answer is not asked by everybody. */
  #forgetAll({ network }: RegistryReader): void {
    const prefix = sageDidOf(network, "");
    for (const [did, { result }] of this.#entries)
      if (!(result instanceof AgentError) && did.startsWith(prefix)) this.#entries.delete(did);
    for (const did of this.#underWay.keys()) if (did.startsWith(prefix)) this.#underWay.delete(did);
  }

  #start(did: SageDid): Promise<AgentInfo> {
    const resolution = this.#read(did);
    this.#underWay.set(did.did, resolution);
    const keep = (result: AgentInfo | AgentError): void => {
      if (this.#underWay.get(did.did) !== resolution) return; // forgotten meanwhile
      this.#underWay.delete(did.did);
      this.#keep(did.did, result);
    };
    resolution.then(keep, (thrown: unknown) => keep(AgentError.from(thrown)));
    return resolution;
  }

  async #read(did: SageDid): Promise<AgentInfo> {
    const registry = this.#registries.get(did.network);
    if (registry === undefined)
      throw new DidNotResolved("id.unknown-kind", `${did.did}: no registry is configured for ${did.network}`);
    await registry.prepare?.();
    // A change after this is noticed, so that none is between the record and the first look.
    await this.#watches.get(did.network)?.started();
    const observedAt = this.#now();
    const record = await registry.read(did.account);
    if (record === undefined) throw new DidNotResolved("record.not-found", `${did.did} is not registered`);
    const info = await verifiedInfo(did, record, registry, observedAt);
    if (this.#now() - observedAt <= this.#limits.answerMs) return info;
    throw new DidNotResolved("record.stale", `${did.did}: the registry took longer than ${this.#limits.answerMs} ms to answer`);
  }

  #keep(did: string, result: AgentInfo | AgentError): void {
    const { ttlMs, failureMs, entries } = this.#limits;
    const [start, life] = result instanceof AgentError ? [this.#now(), failureMs] : [result.observedAt, ttlMs];
    if (life <= 0) return;
    this.#entries.delete(did);
    this.#entries.set(did, { until: start + life, result });
    const [oldest] = this.#entries.keys();
    if (this.#entries.size > entries && oldest !== undefined) this.#entries.delete(oldest);
  }
}

/** The key of the account signs operations of the registry, and no messages. */
function signsMessages({ kind, uses }: PublicKey): boolean {
  return kind === "Ed25519" && uses.includes("authentication");
}

/** The DID method for `createResolver`. The resolver keeps nothing itself: the cache knows of revocations. */
export function didSage(cache: DidCache): DidMethod {
  /** Of each record, as long as the cache keeps it: every message asks several times. */
  const documents = new WeakMap<AgentInfo, DidDocument>();
  return {
    method: METHOD,
    cacheMs: 0,
    async resolve(did) {
      const info = await cache.getAgentInfo(did);
      const document = documents.get(info) ?? documentOf(info);
      documents.set(info, document);
      return document;
    },
    close: () => cache.close(),
  };
}
