import { AgentError, type Cancel, type Maybe } from "../../envelope/index.js";
import type { AddressClass } from "../address.js";
import { checkedDid } from "./did.js";
import { didKey } from "./did-key.js";
import type { DidMethod, FetchUrl } from "./did-method.js";
import { type DidWebOptions, didWeb } from "./did-web.js";
import { type DocumentSource, fetchDocument } from "./fetch-document.js";
import type { CurrentDid, ResolvedDid, Resolver } from "./resolver.js";
import { provenSuccessor, RetiredDids } from "./retired-dids.js";

/** Limits of a resolver. Anyone can make up DIDs, and each unknown one makes us send a request. */
export interface ResolverLimits {
  /** Documents that are kept. */
  readonly documents: number;
  /** How long a document is used before it is read again: the delay with which a revocation takes effect. */
  readonly documentMs: number;
  /** DIDs that could not be resolved and are kept as such. */
  readonly failures: number;
  /** How long such a DID is refused without another request. */
  readonly failureMs: number;
  /** The time for one resolution. */
  readonly resolveMs: number;
  /** Resolutions under way, in all and for one caller; more are refused. */
  readonly atOnce: number;
  readonly atOncePerCaller: number;
  /** Successors that are followed from one DID to the one in use. */
  readonly successors: number;
}

/** One minute, a thousand documents, and 64 resolutions at once, 8 for one caller. */
export const DEFAULT_RESOLVER_LIMITS: ResolverLimits = Object.freeze({
  documents: 1_000,
  documentMs: 60_000,
  failures: 1_000,
  failureMs: 10_000,
  resolveMs: 10_000,
  atOnce: 64,
  atOncePerCaller: 8,
  successors: 8,
});

/** Options of `createResolver`. */
export interface ResolverOptions extends DidWebOptions, Partial<Omit<DocumentSource, "from">> {
  /** No document is fetched from a more private address than this; a function if it can change. Default: public. */
  readonly from?: Maybe<AddressClass | (() => AddressClass)>;
  /** Methods beside did:web and did:key. */
  readonly methods?: Maybe<readonly DidMethod[]>;
  readonly limits?: Maybe<Partial<ResolverLimits>>;
  /** Milliseconds since the epoch. Default: the system clock. */
  readonly now?: Maybe<() => number>;
}

/** Finds DID documents by did:key, did:web and further methods. Default: documents at public addresses only. */
export function createResolver(options: ResolverOptions = {}): DidResolver {
  return new DidResolver(options);
}

interface Kept {
  readonly until: number;
  readonly result: ResolvedDid | AgentError;
}

/** A resolver with caches. One resolution of a DID is under way at a time; all who ask get its result. */
export class DidResolver implements Resolver {
  readonly #methods: ReadonlyMap<string, DidMethod>;
  readonly #source: Omit<DocumentSource, "from">;
  readonly #from: () => AddressClass;
  readonly #limits: ResolverLimits;
  readonly #now: () => number;
  readonly #documents = new Map<string, Kept>();
  readonly #failures = new Map<string, Kept>();
  readonly #underWay = new Map<string, Promise<ResolvedDid>>();
  readonly #callers = new Map<string, number>();
  readonly #retired: RetiredDids;
  #running = 0;

  constructor({ methods = [], limits, now = Date.now, from = "public", ...options }: ResolverOptions) {
    this.#methods = methodsByName([...methods, didWeb(options), didKey]);
    this.#source = options;
    this.#from = typeof from === "function" ? from : () => from;
    this.#limits = { ...DEFAULT_RESOLVER_LIMITS, ...limits };
    this.#now = now;
    this.#retired = new RetiredDids(this.#limits.documents);
  }

  resolve(did: string, cancel: Cancel): Promise<ResolvedDid> {
    return this.#resolve(did, cancel, undefined);
  }

  async resolveCurrent(did: string, cancel: Cancel): Promise<CurrentDid> {
    const former: string[] = [];
    for (let current = did; ; ) {
      const resolved = await this.resolve(current, cancel);
      const next = provenSuccessor(resolved.document, this.#methodOf(current), this.#now());
      if (next === undefined) return { ...resolved, former };
      if (next instanceof AgentError) throw next;
      former.push(current);
      if (former.includes(next)) throw endless(did, `its successors lead back to ${next}`);
      if (former.length > this.#limits.successors)
        throw endless(did, `it has more than ${this.#limits.successors} successors, one after the other`);
      current = next;
    }
  }

  /** The same resolver for one caller that is not authenticated yet: it cannot take all resolutions for itself. */
  forCaller(caller: string): Resolver {
    return {
      resolve: (did, cancel) => this.#resolve(did, cancel, caller),
      forget: (did) => this.forget(did),
    };
  }

  forget(did: string): void {
    this.#documents.delete(did);
    this.#failures.delete(did);
    this.#underWay.delete(did);
  }

  async close(): Promise<void> {
    await Promise.all([...this.#methods.values()].map(async (method) => method.close?.()));
  }

  async #resolve(did: string, cancel: Cancel, caller: Maybe<string>): Promise<ResolvedDid> {
    const known = this.#kept(did);
    if (known instanceof AgentError) throw known;
    if (known !== undefined) return known;
    return orCancelled(this.#underWay.get(did) ?? this.#start(did, caller), cancel);
  }

  #kept(did: string): Maybe<ResolvedDid | AgentError> {
    const kept = this.#documents.get(did) ?? this.#failures.get(did);
    return kept !== undefined && this.#now() < kept.until ? kept.result : undefined;
  }

  #start(did: string, caller: Maybe<string>): Promise<ResolvedDid> {
    const method = this.#methodOf(did);
    const release = this.#takeSlot(caller);
    const resolution = this.#run(method, did).finally(release);
    this.#underWay.set(did, resolution);
    const keep = (result: ResolvedDid | AgentError): void => {
      if (this.#underWay.get(did) !== resolution) return; // forgotten meanwhile
      this.#underWay.delete(did);
      this.#keep(did, method, result);
    };
    resolution.then(keep, keep);
    return resolution;
  }

  #methodOf(did: string): DidMethod {
    const { method: name } = checkedDid(did);
    const method = this.#methods.get(name);
    if (method !== undefined) return method;
    const known = [...this.#methods.keys()].map((each) => `did:${each}`).join(", ");
    throw new AgentError("unsupported", `did:${name.slice(0, 50)} cannot be resolved here; known are ${known}`, {
      field: "did",
      sent: "no",
    });
  }

  #takeSlot(caller: Maybe<string>): () => void {
    const { atOnce, atOncePerCaller } = this.#limits;
    const own = caller === undefined ? 0 : (this.#callers.get(caller) ?? 0);
    if (this.#running >= atOnce || own >= atOncePerCaller)
      throw new AgentError("unavailable", "too many DIDs are being resolved; try again later", {
        sent: "no",
        retryAfterMs: 1_000,
      });
    this.#running++;
    if (caller !== undefined) this.#callers.set(caller, own + 1);
    return () => {
      this.#running--;
      if (caller === undefined) return;
      const left = (this.#callers.get(caller) ?? 1) - 1;
      if (left === 0) this.#callers.delete(caller);
      else this.#callers.set(caller, left);
    };
  }

  async #run(method: DidMethod, did: string): Promise<ResolvedDid> {
    let from: AddressClass = "loopback"; // of a method that fetches nothing
    const fetch: FetchUrl = async (url, limits) => {
      const fetched = await fetchDocument(url, { ...this.#source, from: this.#from() }, limits);
      from = fetched.class;
      return fetched.bytes;
    };
    try {
      const observedAt = this.#now();
      const document = await withinTime(method.resolve(did, fetch, observedAt), this.#limits.resolveMs);
      if (document.id !== did) throw new AgentError("bad_peer", `the document of ${did} is that of another DID`);
      if (document.expires !== undefined && document.expires <= observedAt)
        throw new AgentError("bad_peer", `the document of ${did} has expired`);
      this.#retired.check(document, method, observedAt);
      return { document, observedAt, from };
    } catch (thrown) {
      throw resolutionError(thrown, did);
    }
  }

  #keep(did: string, { cacheMs }: DidMethod, result: ResolvedDid | AgentError): void {
    const { documents, documentMs, failures, failureMs } = this.#limits;
    const now = this.#now();
    const failed = result instanceof AgentError;
    const lifeMs = Math.min(failed ? failureMs : documentMs, cacheMs ?? Number.POSITIVE_INFINITY);
    if (lifeMs <= 0) return;
    const cache = failed ? this.#failures : this.#documents;
    this.#documents.delete(did);
    this.#failures.delete(did);
    cache.set(did, { until: Math.min(now + lifeMs, failed ? Number.POSITIVE_INFINITY : endOf(result)), result });
    const [oldest] = cache.keys();
    if (cache.size > (failed ? failures : documents) && oldest !== undefined) cache.delete(oldest);
  }
}

/** When the document or one of its keys ends: it is then read again, and the key is gone. */
function endOf({ document }: ResolvedDid): number {
  const ends = [document.expires, ...document.keys.map(({ expires }) => expires)];
  return Math.min(...ends.map((end) => end ?? Number.POSITIVE_INFINITY));
}

/** The first of a name is used, so that a protocol can replace a built-in method. */
function methodsByName(methods: readonly DidMethod[]): ReadonlyMap<string, DidMethod> {
  const byName = new Map<string, DidMethod>();
  for (const method of methods) if (!byName.has(method.method)) byName.set(method.method, method);
  return byName;
}

/** The outbound guard refuses with `forbidden`, which a caller would read as being about itself. */
function resolutionError(thrown: unknown, did: string): AgentError {
  const error = AgentError.from(thrown);
  const code = error.code === "forbidden" || error.code === "too_large" ? "bad_peer" : error.code;
  const kept = code === "not_found" || code === "bad_peer" || code === "internal" ? code : "unavailable";
  const reason = error.facts.detail?.["reason"];
  return new AgentError(kept, `${did.slice(0, 200)} could not be resolved: ${error.message}`, {
    sent: "no",
    ...(reason === undefined ? undefined : { detail: { reason } }),
    cause: error,
  });
}

function endless(did: string, why: string): AgentError {
  return new AgentError("bad_peer", `${did.slice(0, 200)} could not be resolved: ${why}`, {
    sent: "no",
    detail: { reason: "did_transition_invalid" },
  });
}

function withinTime<T>(work: Promise<T>, ms: number): Promise<T> {
  return new Promise((resolve, reject) => {
    const late = (): void => reject(new AgentError("unavailable", `it took longer than ${ms} ms`));
    const timer = setTimeout(late, ms);
    work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

/** Who leaves does not end the resolution: others may wait for it, and its time is limited. */
function orCancelled<T>(work: Promise<T>, cancel: Cancel): Promise<T> {
  if (cancel.cancelled) {
    work.catch(() => undefined);
    return Promise.reject(cancel.reason);
  }
  return new Promise((resolve, reject) => {
    const stop = cancel.onCancel(reject);
    work.then(resolve, reject).finally(stop);
  });
}
