import type { ConnectOptions, Store } from "../../src/index.js";
import type { Bandit } from "../../src/router/index.js";
import type { LearnDocument } from "./learn-schema.js";

/** Chooses protocols of upstreams by the outcomes of earlier calls, which all gateways on a store share. */
export class LearnedChoices {
  readonly #records: Store["records"];
  readonly #notify: (line: string) => void;
  /** By seed. */
  readonly #bandits = new Map<number, Promise<Bandit>>();

  constructor(records: Store["records"], notify: (line: string) => void) {
    this.#records = records;
    this.#notify = notify;
  }

  /** What `connect` needs to choose the protocol of an upstream. */
  forUpstream(id: string, { feasible, context = id, seed = 0 }: LearnDocument): Pick<ConnectOptions, "feasible" | "chooser"> {
    return {
      ...(feasible === undefined ? {} : { feasible }),
      chooser: {
        choose: async (protocols) => (await this.#bandit(seed)).choose(protocols, context),
        learn: async (protocol, outcome) => (await this.#bandit(seed)).learn(context, protocol, outcome),
      },
    };
  }

  /** Writes what was learned. Call it before the store is closed. */
  async settled(): Promise<void> {
    await Promise.all(Array.from(this.#bandits.values(), async (bandit) => (await bandit).settled()));
  }

  /** Loaded on first use: most gateways choose nothing. */
  #bandit(seed: number): Promise<Bandit> {
    let bandit = this.#bandits.get(seed);
    if (bandit === undefined) {
      bandit = this.#open(seed);
      this.#bandits.set(seed, bandit);
    }
    return bandit;
  }

  async #open(seed: number): Promise<Bandit> {
    const { createBandit } = await import("../../src/router/index.js");
    return createBandit({ records: this.#records, seed, onProblem: ({ message }) => this.#notify(message) });
  }
}
