import type { Redis } from "ioredis";
import type { Maybe } from "../../../envelope/index.js";
import { storeFailure } from "./failures.js";

/** The payload of the notification; undefined after a reconnect, when some may have been missed. */
type Listener = (payload: Maybe<string>) => void;

interface Channel {
  readonly listeners: Set<Listener>;
  /** Set until Redis has confirmed the subscription. */
  subscribing: Maybe<Promise<void>>;
}

/** Ping interval, to detect a silently broken connection. */
const PING_EVERY_MS = 5_000;
const CHANNELS_AT_ONCE = 500;

/**
 * Wake-ups from other processes, over one connection for all channels. They carry no data, so a lost one costs a read:
 * after every reconnect all listeners are notified.
 */
export class WakeChannels {
  readonly #connection: Redis;
  readonly #channels = new Map<string, Channel>();
  readonly #pinging: NodeJS.Timeout;

  private constructor(connection: Redis) {
    this.#connection = connection;
    connection.on("error", () => undefined);
    connection.on("message", (channel: string, payload: string) => this.#notify(channel, payload));
    connection.on("ready", () => void this.#subscribeAgain());
    this.#pinging = setInterval(() => this.#ping(), PING_EVERY_MS);
    this.#pinging.unref();
  }

  static async open(commands: Redis): Promise<WakeChannels> {
    const channels = new WakeChannels(commands.duplicate());
    try {
      await channels.#connection.connect();
    } catch (thrown) {
      channels.close();
      throw storeFailure(thrown);
    }
    return channels;
  }

  on(name: string, listener: Listener): () => void {
    let channel = this.#channels.get(name);
    if (channel === undefined) {
      channel = { listeners: new Set(), subscribing: undefined };
      this.#channels.set(name, channel);
      this.#subscribe(name, channel);
    }
    const { listeners } = channel;
    listeners.add(listener);
    return () => {
      if (!listeners.delete(listener) || listeners.size > 0 || this.#channels.get(name)?.listeners !== listeners) return;
      this.#channels.delete(name);
      this.#connection.unsubscribe(name).catch(() => undefined);
    };
  }

  /** Notifies local listeners without a round trip. */
  notifyLocal(name: string): void {
    this.#notify(name, undefined);
  }

  /** Reads after this promise miss nothing: later changes notify. */
  subscribing(name: string): Maybe<Promise<void>> {
    return this.#channels.get(name)?.subscribing;
  }

  close(): void {
    clearInterval(this.#pinging);
    this.#channels.clear();
    this.#connection.disconnect();
  }

  #subscribe(name: string, channel: Channel): void {
    // A broken connection subscribes to everything when it is ready again.
    if (this.#connection.status !== "ready") return;
    const done = (): void => {
      channel.subscribing = undefined;
    };
    channel.subscribing = this.#connection.subscribe(name).then(done, done);
  }

  async #subscribeAgain(): Promise<void> {
    const names = [...this.#channels.keys()];
    try {
      for (let from = 0; from < names.length; from += CHANNELS_AT_ONCE) {
        await this.#connection.subscribe(...names.slice(from, from + CHANNELS_AT_ONCE));
      }
    } catch {
      // The connection broke again; it will become ready again.
      return;
    }
    for (const name of names) this.#notify(name, undefined);
  }

  #notify(name: string, payload: Maybe<string>): void {
    const listeners = this.#channels.get(name)?.listeners;
    if (listeners !== undefined) for (const listener of [...listeners]) listener(payload);
  }

  #ping(): void {
    if (this.#channels.size > 0) this.#connection.ping().catch(() => undefined);
  }
}
