import { AgentError, isObject, type JsonObject, type Maybe } from "../envelope/index.js";
import type { Link } from "../transport/exchange.js";
import { fetchJson, hostOf } from "./fetch-json.js";
import { MIN_RSA_BITS } from "./signing-key.js";

/** Limits for fetching and caching an issuer's keys. */
export interface KeyLimits {
  /** How long fetched keys are used without refreshing. */
  readonly keysMs: number;
  /** How long the last keys are used while the issuer is unavailable. */
  readonly staleKeysMs: number;
  /** Minimum interval of refreshes caused by tokens with an unknown key. */
  readonly cooldownMs: number;
  /** Minimum delay after a failed fetch. */
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

/** One version of an issuer's keys, compared by identity. */
export interface KeySet {
  readonly keys: readonly JsonObject[];
}

/** A source of keys. */
export interface KeySource {
  current(): KeySet | Promise<KeySet>;
  /** A newer set than this one, if there is one; undefined if the issuer was asked recently. */
  newerThan(set: KeySet): Promise<Maybe<KeySet>>;
}

/** A key event for the audit log. Never contains the keys. */
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

/** Static keys. */
export function staticKeys(keys: readonly JsonObject[]): KeySource {
  const set: KeySet = { keys: checkedKeys({ keys }, keys.length) };
  return { current: () => set, newerThan: () => Promise.resolve(undefined) };
}

/** Keys at an issuer's URL: one fetch at a time, cached, refreshed when stale or when a token names an unknown key. */
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

  /** Falls back to stale keys for a while: a restarting issuer must not lock everyone out. */
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
    this.#fetching ??= this.#startFetch().finally(() => {
      this.#fetching = undefined;
    });
    return this.#fetching;
  }

  async #startFetch(): Promise<KeySet> {
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

  /** Unchanged keys keep their identity, so that caches based on them stay valid. */
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
    return new AgentError("unavailable", "the keys of the token issuer are unavailable, so tokens cannot be verified", {
      retryAfterMs: retryMs,
      cause,
    });
  }
}

const PUBLIC_KINDS: ReadonlySet<unknown> = new Set(["RSA", "EC", "OKP"]);

/** Only public signature keys are accepted: a secret in a public document is not secret. Small RSA keys are not used. */
function checkedKeys(document: unknown, maxKeys: number): readonly JsonObject[] {
  const keys = isObject(document) ? document["keys"] : undefined;
  if (!Array.isArray(keys)) throw new AgentError("bad_peer", "the response is not a key set");
  if (keys.length > maxKeys) throw new AgentError("too_large", `the key set has ${keys.length} keys; the limit is ${maxKeys}`);
  const usable = keys.filter(
    (key: unknown): key is JsonObject => isObject(key) && PUBLIC_KINDS.has(key["kty"]) && key["use"] !== "enc" && isStrong(key),
  );
  if (usable.length === 0)
    throw new AgentError("bad_peer", `the key set has no public signature key; RSA keys need ${MIN_RSA_BITS} bits`);
  return usable;
}

function isStrong({ kty, n }: JsonObject): boolean {
  if (kty !== "RSA") return true;
  const modulus = Buffer.from(typeof n === "string" ? n : "", "base64url");
  const first = modulus.findIndex((byte) => byte !== 0);
  return first !== -1 && (modulus.length - first) * 8 - (Math.clz32(modulus[first] ?? 0) - 24) >= MIN_RSA_BITS;
}
