import { AgentError, type Maybe, type RemoteAgent } from "../../src/index.js";
import type { Clock } from "../../src/public/policies.js";
import { LIMITS } from "./limits.js";

/** The URL of an agent, and an optional tool name. */
export interface AgentSource {
  /** The address of the agent. */
  readonly url: string;
  /** The tool name. Default: derived from the name on its card. */
  readonly name?: Maybe<string>;
}

export interface CachedAgentOptions {
  connect(url: string): Promise<RemoteAgent>;
  readonly clock: Clock;
  readonly random: () => number;
  /** Interval between card refreshes. */
  readonly refreshMs: number;
  /** Called after every refresh attempt. */
  onRefresh(agent: CachedAgent): void;
}

/** Connects to an agent with retries, and refreshes its card periodically. */
export class CachedAgent {
  readonly source: AgentSource;
  readonly #options: CachedAgentOptions;
  #peer: Maybe<RemoteAgent>;
  #problem: Maybe<AgentError>;
  #failures = 0;
  #refreshing: Maybe<Promise<void>>;
  #stopTimer: () => void = () => undefined;
  #closed = false;

  constructor(source: AgentSource, options: CachedAgentOptions) {
    this.source = source;
    this.#options = options;
  }

  /** Kept while the agent is unreachable: the tool is made from its card. */
  get peer(): Maybe<RemoteAgent> {
    return this.#peer;
  }

  /** Why the last refresh failed. */
  get problem(): Maybe<AgentError> {
    return this.#problem;
  }

  /** Refreshes now, or joins the refresh in progress. Never throws. */
  refresh(): Promise<void> {
    this.#refreshing ??= this.#refreshOnce().finally(() => {
      this.#refreshing = undefined;
    });
    return this.#refreshing;
  }

  /** Refreshes soon after a failed call: the agent may have been replaced. */
  suspect(): void {
    if (this.#closed || this.#refreshing !== undefined) return;
    this.#failures = Math.max(1, this.#failures);
    this.#scheduleRefresh(this.#backoff());
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#stopTimer();
    await this.#peer?.close();
  }

  async #refreshOnce(): Promise<void> {
    this.#stopTimer();
    try {
      if (this.#peer === undefined) this.#peer = await this.#options.connect(this.source.url);
      else await this.#peer.initialize();
      this.#problem = undefined;
      this.#failures = 0;
    } catch (thrown) {
      this.#problem = AgentError.from(thrown);
      this.#failures++;
    }
    // close() does not wait for a refresh in progress.
    if (this.#closed) return this.#peer?.close();
    this.#scheduleRefresh(this.#problem === undefined ? this.#options.refreshMs : this.#backoff());
    this.#options.onRefresh(this);
  }

  #scheduleRefresh(ms: number): void {
    this.#stopTimer();
    this.#stopTimer = this.#options.clock.after(ms, () => void this.refresh());
  }

  /** Exponential backoff with jitter of up to half. */
  #backoff(): number {
    const longest = Math.min(LIMITS.retryMaxMs, LIMITS.retryMs * 2 ** Math.min(this.#failures - 1, 16));
    return longest * (1 - this.#options.random() / 2);
  }
}
