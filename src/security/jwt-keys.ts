import { AgentError, isObject, type JsonObject, type Maybe } from "../envelope/index.js";
import type { Link } from "../transport/exchange.js";
import { fetchJson, hostOf } from "./fetch-json.js";

/** What bounds the fetching and keeping of an issuer's keys. */
export interface KeyLimits {
  /** Fetched keys are used without asking again for this long. */
  readonly keysMs: number;
  /** While the issuer does not answer, its last keys are used for this long after they were fetched. */
  readonly staleKeysMs: number;
  /** A token that names a key we do not have makes us ask again, at most this often. */
  readonly cooldownMs: number;
  /** After a failed fetch, the next one comes no sooner. */
  readonly retryMs: number;
  readonly fetchMs: number;
  readonly keys: number;
  readonly keysBytes: number;
}
export const DEFAULT_KEY_LIMITS: KeyLimits = Object.freeze({
  keysMs: 600_000,
  staleKeysMs: 3_600_000,
  cooldownMs: 30_000,
  retryMs: 1_000,
  fetchMs: 5_000,
  keys: 100,
  keysBytes: 256 * 1024,
});

/** One state of an issuer's keys. Its identity is what says whether they changed. */
export interface KeySet {
  readonly keys: readonly JsonObject[];
}

/** Where the keys come from, newest first asked. */
export interface KeySource {
  current(): KeySet | Promise<KeySet>;
  /** Another set than this one, if there is one by now; undefined when the issuer was asked just before. */
  newerThan(set: KeySet): Promise<Maybe<KeySet>>;
}

/** What happened to keys, for the audit log. Never the keys themselves. */
export interface KeyNote {
  readonly event: "key.loaded" | "key.rotated" | "key.unavailable";
  readonly reason: string;
}

export interface RemoteKeyOptions {
  readonly url: string;
  readonly limits: KeyLimits;
  now(): number;
  readonly link?: Maybe<Link>;
  onKeys?(note: KeyNote): void;
}

/** Keys somebody wrote down: they never change. */
export function givenKeys(keys: readonly JsonObject[]): KeySource {
  const set: KeySet = { keys: checkedKeys({ keys }, keys.length) };
  return { current: () => set, newerThan: () => Promise.resolve(undefined) };
}

/** Keys at an issuer's URL: one fetch at a time, cached, fetched again when they are old or when a token names one we lack. */
export function remoteKeys(options: RemoteKeyOptions): KeySource {
  return new RemoteKeys(options);
}

class RemoteKeys implements KeySource {
  readonly #options: RemoteKeyOptions;
  #set: Maybe<KeySet>;
  #fetchedMs = 0;
  #triedMs = Number.NEGATIVE_INFINITY;
  #failed = false;
  #fetching: Maybe<Promise<KeySet>>;

  constructor(options: RemoteKeyOptions) {
    this.#options = options;
  }

  current(): KeySet | Promise<KeySet> {
    const { keysMs } = this.#options.limits;
    if (this.#set !== undefined && this.#options.now() - this.#fetchedMs < keysMs) return this.#set;
    return this.#refreshed();
  }

  async newerThan(set: KeySet): Promise<Maybe<KeySet>> {
    const { limits, now } = this.#options;
    if (this.#fetching === undefined) {
      if (this.#set !== undefined && this.#set !== set) return this.#set;
      if (this.#failed && this.#mustWait()) throw this.#unavailable();
      if (!this.#failed && now() - this.#triedMs < limits.cooldownMs) return undefined;
    }
    const fetched = await this.#fetch();
    return fetched === set ? undefined : fetched;
  }

  /** Old keys are better than none, for a while: an issuer that restarts must not lock everybody out. */
  async #refreshed(): Promise<KeySet> {
    const { limits, now } = this.#options;
    const usable = this.#set !== undefined && now() - this.#fetchedMs < limits.staleKeysMs ? this.#set : undefined;
    if (this.#fetching === undefined && this.#failed && this.#mustWait()) {
      if (usable !== undefined) return usable;
      throw this.#unavailable();
    }
    try {
      return await this.#fetch();
    } catch (thrown) {
      if (usable !== undefined) return usable;
      throw thrown;
    }
  }

  #mustWait(): boolean {
    return this.#options.now() - this.#triedMs < this.#options.limits.retryMs;
  }

  #fetch(): Promise<KeySet> {
    this.#fetching ??= this.#ask().finally(() => {
      this.#fetching = undefined;
    });
    return this.#fetching;
  }

  async #ask(): Promise<KeySet> {
    const { url, limits, link, now } = this.#options;
    this.#triedMs = now();
    try {
      const answer = await fetchJson({ method: "GET", url, timeoutMs: limits.fetchMs, maxBytes: limits.keysBytes, link });
      if (answer.status !== 200) throw new AgentError("unavailable", `HTTP ${answer.status}`);
      const keys = checkedKeys(answer.json, limits.keys);
      this.#failed = false;
      this.#fetchedMs = now();
      return this.#keep(keys);
    } catch (thrown) {
      if (!this.#failed) this.#options.onKeys?.({ event: "key.unavailable", reason: AgentError.from(thrown).message });
      this.#failed = true;
      throw this.#unavailable(thrown);
    }
  }

  /** The same keys keep their identity, so that nothing that rests on them is thrown away. */
  #keep(keys: readonly JsonObject[]): KeySet {
    const before = this.#set;
    if (before !== undefined && JSON.stringify(before.keys) === JSON.stringify(keys)) return before;
    this.#set = { keys };
    const names = keys.map(({ kid }) => (typeof kid === "string" ? kid.slice(0, 64) : "unnamed")).slice(0, 10);
    this.#options.onKeys?.({
      event: before === undefined ? "key.loaded" : "key.rotated",
      reason: `${keys.length} keys from ${hostOf(this.#options.url)}: ${names.join(", ")}`,
    });
    return this.#set;
  }

  #unavailable(cause?: unknown): AgentError {
    const { retryMs } = this.#options.limits;
    return new AgentError("unavailable", "the keys of the token's issuer cannot be had now, so nobody can be let in by token", {
      retryAfterMs: retryMs,
      cause,
    });
  }
}

const PUBLIC_KINDS: ReadonlySet<unknown> = new Set(["RSA", "EC", "OKP"]);

/** Only keys that can check signatures and that everybody may know: a secret in a public document is no secret. */
function checkedKeys(document: unknown, most: number): readonly JsonObject[] {
  const keys = isObject(document) ? document["keys"] : undefined;
  if (!Array.isArray(keys)) throw new AgentError("bad_peer", "what came is not a set of keys");
  if (keys.length > most) throw new AgentError("too_large", `${keys.length} keys came, at most ${most} are taken`);
  const usable = keys.filter(
    (key: unknown): key is JsonObject => isObject(key) && PUBLIC_KINDS.has(key["kty"]) && key["use"] !== "enc",
  );
  if (usable.length === 0) throw new AgentError("bad_peer", "the set has no public key that could check a signature");
  return usable;
}
