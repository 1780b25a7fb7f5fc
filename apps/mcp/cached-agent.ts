import { AgentError, type Maybe, type RemoteAgent } from "../../src/index.js";
import type { Clock } from "../../src/public/policies.js";
import { LIMITS } from "./limits.js";

/** Where an agent is, and what its tool is to be called if somebody said so. */
export interface AgentSource {
  readonly url: string;
  readonly name?: Maybe<string>;
}

export interface Keeping {
  connect(url: string): Promise<RemoteAgent>;
  readonly clock: Clock;
  readonly random: () => number;
  /** Between two looks at a card that is there. */
  readonly refreshMs: number;
  /** The agent was reached, was lost, or has another card. */
  onLook(agent: CachedAgent): void;
}

/** An agent that is looked for until it is found, and looked at again now and then. */
export class CachedAgent {
  readonly source: AgentSource;
  readonly #keeping: Keeping;
  #peer: Maybe<RemoteAgent>;
  #problem: Maybe<AgentError>;
  #failures = 0;
  #looking: Maybe<Promise<void>>;
  #stopTimer: () => void = () => undefined;
  #closed = false;

  constructor(source: AgentSource, keeping: Keeping) {
    this.source = source;
    this.#keeping = keeping;
  }

  /** Once it was found it stays, also while it does not answer: its card is what the tool is made of. */
  get peer(): Maybe<RemoteAgent> {
    return this.#peer;
  }

  /** Why the last look failed. */
  get problem(): Maybe<AgentError> {
    return this.#problem;
  }

  /** Looks now, or joins the look that is under way. Never throws. */
  look(): Promise<void> {
    this.#looking ??= this.#lookOnce().finally(() => {
      this.#looking = undefined;
    });
    return this.#looking;
  }

  /** A call could not be carried: what comes back in its place may be another. */
  suspect(): void {
    if (this.#closed || this.#looking !== undefined) return;
    this.#failures = Math.max(1, this.#failures);
    this.#lookIn(this.#pause());
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#stopTimer();
    await this.#peer?.close();
  }

  async #lookOnce(): Promise<void> {
    this.#stopTimer();
    try {
      if (this.#peer === undefined) this.#peer = await this.#keeping.connect(this.source.url);
      else await this.#peer.initialize();
      this.#problem = undefined;
      this.#failures = 0;
    } catch (thrown) {
      this.#problem = AgentError.from(thrown);
      this.#failures++;
    }
    // Found too late: a look is not waited for when everything ends.
    if (this.#closed) return this.#peer?.close();
    this.#lookIn(this.#problem === undefined ? this.#keeping.refreshMs : this.#pause());
    this.#keeping.onLook(this);
  }

  #lookIn(ms: number): void {
    this.#stopTimer();
    this.#stopTimer = this.#keeping.clock.after(ms, () => void this.look());
  }

  /** Twice as long each time, less a random part of up to half: many that lost the same agent do not come back at once. */
  #pause(): number {
    const most = Math.min(LIMITS.retryMaxMs, LIMITS.retryMs * 2 ** Math.min(this.#failures - 1, 16));
    return most * (1 - this.#keeping.random() / 2);
  }
}
