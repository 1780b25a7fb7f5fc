import type { Redis } from "ioredis";
import type { Maybe } from "../../../envelope/index.js";
import { storeFailure } from "./away.js";

/** What was said with the ringing; undefined when the line was down and something may have been missed. */
type Heard = (said: Maybe<string>) => void;

interface Channel {
  readonly listeners: Set<Heard>;
  /** Until Redis has taken note of the subscription. */
  standing: Maybe<Promise<void>>;
}

/** A line on which nothing is said is tried this often: one that broke without a word would never ring again. */
const TRY_LINE_MS = 5_000;
const CHANNELS_AT_ONCE = 500;

/**
 * Wake-ups from other processes, over one connection for all channels. They carry no data, so one that is lost costs a look:
 * after every break of the line all listeners are rung.
 */
export class Bells {
  readonly #line: Redis;
  readonly #channels = new Map<string, Channel>();
  readonly #trying: NodeJS.Timeout;

  private constructor(line: Redis) {
    this.#line = line;
    line.on("error", () => undefined);
    line.on("message", (channel: string, said: string) => this.#tell(channel, said));
    line.on("ready", () => void this.#subscribeAgain());
    this.#trying = setInterval(() => this.#tryLine(), TRY_LINE_MS);
    this.#trying.unref();
  }

  static async open(commands: Redis): Promise<Bells> {
    const bells = new Bells(commands.duplicate());
    try {
      await bells.#line.connect();
    } catch (thrown) {
      bells.close();
      throw storeFailure(thrown);
    }
    return bells;
  }

  on(name: string, heard: Heard): () => void {
    let channel = this.#channels.get(name);
    if (channel === undefined) {
      channel = { listeners: new Set(), standing: undefined };
      this.#channels.set(name, channel);
      this.#subscribe(name, channel);
    }
    const { listeners } = channel;
    listeners.add(heard);
    return () => {
      if (!listeners.delete(heard) || listeners.size > 0 || this.#channels.get(name)?.listeners !== listeners) return;
      this.#channels.delete(name);
      this.#line.unsubscribe(name).catch(() => undefined);
    };
  }

  /** Something happened in this very process: nobody has to be asked. */
  ringHere(name: string): void {
    this.#tell(name, undefined);
  }

  /** Who looks after this misses nothing: what was written before is seen, what comes later rings. */
  standing(name: string): Maybe<Promise<void>> {
    return this.#channels.get(name)?.standing;
  }

  close(): void {
    clearInterval(this.#trying);
    this.#channels.clear();
    this.#line.disconnect();
  }

  #subscribe(name: string, channel: Channel): void {
    // A line that is down subscribes to everything when it is up again.
    if (this.#line.status !== "ready") return;
    const done = (): void => {
      channel.standing = undefined;
    };
    channel.standing = this.#line.subscribe(name).then(done, done);
  }

  async #subscribeAgain(): Promise<void> {
    const names = [...this.#channels.keys()];
    try {
      for (let from = 0; from < names.length; from += CHANNELS_AT_ONCE) {
        await this.#line.subscribe(...names.slice(from, from + CHANNELS_AT_ONCE));
      }
    } catch {
      // The line broke once more; it will be ready once more.
      return;
    }
    for (const name of names) this.#tell(name, undefined);
  }

  #tell(name: string, said: Maybe<string>): void {
    const listeners = this.#channels.get(name)?.listeners;
    if (listeners !== undefined) for (const heard of [...listeners]) heard(said);
  }

  #tryLine(): void {
    if (this.#channels.size > 0) this.#line.ping().catch(() => undefined);
  }
}
