import { AgentError, type JsonObject, type Maybe, RecentMap, type Records, recordsBelow } from "../../envelope/index.js";
import { type Fading, NOTHING_KNOWN, type Posterior, readPosterior, withReward, writePosterior } from "./posterior.js";
import type { ReportOnce } from "./report-once.js";
import { writingAlone } from "./write-lock.js";

/** Contexts with their own evidence; later ones share one. */
export const CONTEXTS = 500;
/** Evidence without additions for this long is dropped. */
export const KEEP_EVIDENCE_MS = 30 * 24 * 60 * 60 * 1_000;
/** Rewards queued for a slow store, over all contexts; more are dropped and reported. */
export const REWARDS_WAITING = 10_000;

const DRAWS = "draws";
const OWN = "contexts/";
const SHARED = "other-contexts";
const STORE = "store";
const BACKLOG = "backlog";

interface Reward {
  readonly protocol: string;
  readonly reward: number;
}
interface Batch {
  readonly rewards: Reward[];
  readonly saved: Promise<void>;
}

/**
 * The evidence of all contexts, kept in records. A failing store is reported and never thrown: choosing continues without
 * evidence. Writes of one process are serialized, those of several processes by a lock in the records.
 */
export class EvidenceStore {
  readonly #records: Records;
  readonly #fading: Fading;
  readonly #problems: ReportOnce;
  readonly #batches = new Map<string, Batch>();
  /** Contexts beyond the limit. */
  readonly #sharing = new RecentMap<true>(2 * CONTEXTS);
  #lastWrite: Promise<void> = Promise.resolve();
  #waiting = 0;
  #ownDraws = 0;

  constructor(records: Records, fading: Fading, problems: ReportOnce) {
    this.#records = recordsBelow(records, "bandit");
    this.#fading = fading;
    this.#problems = problems;
  }

  /** A number unique to this draw among all processes on these records. */
  async nextDraw(): Promise<number> {
    try {
      return await this.#records.count(DRAWS);
    } catch (thrown) {
      this.#failed(thrown);
      // Below zero, where the store never counts.
      return -++this.#ownDraws;
    }
  }

  async read(context: string): Promise<Posterior> {
    try {
      return (await this.#find(context)).posterior;
    } catch (thrown) {
      this.#failed(thrown);
      return NOTHING_KNOWN;
    }
  }

  /** Resolves when the reward is stored, or dropped. */
  add(context: string, reward: Reward): Promise<void> {
    if (this.#waiting >= REWARDS_WAITING) {
      this.#problems.report(BACKLOG, new AgentError("overloaded", "the store is too slow: outcomes of calls are dropped"));
      return Promise.resolve();
    }
    this.#waiting++;
    const batch = this.#batches.get(context) ?? this.#newBatch(context);
    batch.rewards.push(reward);
    return batch.saved;
  }

  /** Resolves when everything added so far is stored. */
  settled(): Promise<void> {
    return this.#lastWrite;
  }

  /** Rewards that arrive during a write are batched into the next one. */
  #newBatch(context: string): Batch {
    const rewards: Reward[] = [];
    this.#lastWrite = this.#lastWrite.then(() => {
      this.#batches.delete(context);
      return this.#save(context, rewards);
    });
    const batch = { rewards, saved: this.#lastWrite };
    this.#batches.set(context, batch);
    return batch;
  }

  async #save(context: string, rewards: readonly Reward[]): Promise<void> {
    try {
      await writingAlone(this.#records, async () => {
        const { key, posterior } = await this.#find(context);
        let after = posterior;
        for (const { protocol, reward } of rewards) after = withReward(after, protocol, reward, this.#fading);
        const place = key ?? (await this.#keyFor(context));
        return () => this.#records.put(place, writePosterior(after), KEEP_EVIDENCE_MS);
      });
      for (const problem of [STORE, BACKLOG, OWN + context]) this.#problems.clear(problem);
    } catch (thrown) {
      this.#failed(thrown);
    } finally {
      this.#waiting -= rewards.length;
    }
  }

  /** The key and the evidence of a context. The key is undefined while it is beyond the limit. */
  async #find(context: string): Promise<{ readonly key: Maybe<string>; readonly posterior: Posterior }> {
    if (this.#sharing.get(context) === undefined) {
      const own = await this.#records.get(OWN + context);
      if (own !== undefined) return { key: OWN + context, posterior: this.#checked(own, context) };
    }
    const shared = await this.#records.get(SHARED);
    const key = this.#sharing.get(context) === undefined ? undefined : SHARED;
    return { key, posterior: shared === undefined ? NOTHING_KNOWN : this.#checked(shared, context) };
  }

  async #keyFor(context: string): Promise<string> {
    const known = await this.#records.list(OWN, CONTEXTS);
    if (known.length < CONTEXTS) return OWN + context;
    this.#sharing.set(context, true);
    return SHARED;
  }

  #checked(value: JsonObject, context: string): Posterior {
    const posterior = readPosterior(value);
    if (posterior !== undefined) return posterior;
    const why = `the record of context ${JSON.stringify(context)} is not valid evidence: it was reset`;
    this.#problems.report(OWN + context, new AgentError("decode", why));
    return NOTHING_KNOWN;
  }

  #failed(thrown: unknown): void {
    const why = "the evidence store fails; protocols are selected without it";
    this.#problems.report(STORE, new AgentError("unavailable", why, { cause: thrown }));
  }
}
