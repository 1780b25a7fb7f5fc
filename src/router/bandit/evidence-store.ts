import { AgentError, type JsonObject, type Maybe, RecentMap, type Records, recordsBelow } from "../../envelope/index.js";
import { type Fading, NOTHING_KNOWN, type Posterior, readPosterior, withReward, writePosterior } from "./posterior.js";
import type { TellOnce } from "./tell-once.js";

/** Contexts that have evidence of their own; whatever comes later shares one. */
export const CONTEXTS = 500;
/** Evidence to which nothing was added for so long is forgotten. */
export const KEEP_EVIDENCE_MS = 30 * 24 * 60 * 60 * 1_000;
/** Rewards that wait for a slow store, all contexts together; more are dropped, and that is told. */
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
 * The evidence of all contexts, kept in records. A store that fails is told of and never thrown: without it there is no
 * evidence, and choosing goes on. Writes of one process follow each other; of two processes that write one context at the
 * same moment, the later wins and the other's last rewards are lost, which fading would have done anyway.
 */
export class EvidenceStore {
  readonly #records: Records;
  readonly #fading: Fading;
  readonly #problems: TellOnce;
  readonly #batches = new Map<string, Batch>();
  /** Those for which there was no room of their own. */
  readonly #sharing = new RecentMap<true>(2 * CONTEXTS);
  #lastWrite: Promise<void> = Promise.resolve();
  #waiting = 0;
  #ownDraws = 0;

  constructor(records: Records, fading: Fading, problems: TellOnce) {
    this.#records = recordsBelow(records, "bandit");
    this.#fading = fading;
    this.#problems = problems;
  }

  /** A number that no draw had before, in any process on these records. */
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

  /** Resolves when it is kept, or when it is known that it will not be. */
  add(context: string, reward: Reward): Promise<void> {
    if (this.#waiting >= REWARDS_WAITING) {
      this.#problems.begins(
        BACKLOG,
        new AgentError("overloaded", "the store is too slow: outcomes of calls are not learned from"),
      );
      return Promise.resolve();
    }
    this.#waiting++;
    const batch = this.#batches.get(context) ?? this.#newBatch(context);
    batch.rewards.push(reward);
    return batch.saved;
  }

  /** All that was added so far is kept. */
  settled(): Promise<void> {
    return this.#lastWrite;
  }

  /** Rewards that come while others are written wait together and are written at once. */
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
      const { key, posterior } = await this.#find(context);
      let after = posterior;
      for (const { protocol, reward } of rewards) after = withReward(after, protocol, reward, this.#fading);
      await this.#records.put(key ?? (await this.#place(context)), writePosterior(after), KEEP_EVIDENCE_MS);
      for (const problem of [STORE, BACKLOG, OWN + context]) this.#problems.isOver(problem);
    } catch (thrown) {
      this.#failed(thrown);
    } finally {
      this.#waiting -= rewards.length;
    }
  }

  /** Where the evidence of a context is, and what it says. The key is undefined while it has no place. */
  async #find(context: string): Promise<{ readonly key: Maybe<string>; readonly posterior: Posterior }> {
    if (this.#sharing.get(context) === undefined) {
      const own = await this.#records.get(OWN + context);
      if (own !== undefined) return { key: OWN + context, posterior: this.#checked(own, context) };
    }
    const shared = await this.#records.get(SHARED);
    const key = this.#sharing.get(context) === undefined ? undefined : SHARED;
    return { key, posterior: shared === undefined ? NOTHING_KNOWN : this.#checked(shared, context) };
  }

  async #place(context: string): Promise<string> {
    const known = await this.#records.list(OWN, CONTEXTS);
    if (known.length < CONTEXTS) return OWN + context;
    this.#sharing.set(context, true);
    return SHARED;
  }

  #checked(value: JsonObject, context: string): Posterior {
    const posterior = readPosterior(value);
    if (posterior !== undefined) return posterior;
    const why = `what was kept for the context ${JSON.stringify(context)} is no evidence: it starts anew`;
    this.#problems.begins(OWN + context, new AgentError("decode", why));
    return NOTHING_KNOWN;
  }

  #failed(thrown: unknown): void {
    const why = "the store of the evidence fails: protocols are chosen without it";
    this.#problems.begins(STORE, new AgentError("unavailable", why, { cause: thrown }));
  }
}
