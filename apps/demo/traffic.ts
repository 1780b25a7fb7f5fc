import { AgentError, type ConnectOptions, connect, type Layer, type RemoteAgent } from "../../src/index.js";
import { limitedSignal } from "../../src/internal.js";
import type { Gateway } from "../gateway/index.js";
import { addressOf } from "./addresses.js";
import { SCENES, type Scene } from "./scenes.js";

/** Interval between visits, limit of concurrent visits, and timeout of one visit. */
const EVERY_MS = 600;
const AT_ONCE = 4;
const STAY_MS = 20_000;
/** Latencies kept per visitor. */
const LATENCIES = 120;

const SHIPS = ["Aurora", "Bora", "Calypso", "Dorade", "Estrella", "Fulmar", "Galatea", "Heron"] as const;

/** The result of one scene. */
export interface Played {
  readonly scene: Scene;
  readonly ms: number;
  /** The result, or the error message. */
  readonly says: string;
  readonly error?: AgentError | undefined;
}

/** Counters of one visitor. */
export interface VisitorCount {
  readonly visitor: string;
  readonly pin: string;
  messages: number;
  failures: number;
  /** Duration of visits, oldest first, in milliseconds. */
  readonly latencies: number[];
}

/** Simulated visitors that call agents through the gateway over other protocols. */
export class Traffic {
  readonly #gateway: Gateway;
  readonly #present: () => readonly string[];
  readonly #connectOptions: { readonly [visitor: string]: ConnectOptions };
  readonly #listeners = new Set<() => void>();
  readonly #peers = new Map<string, Promise<RemoteAgent>>();
  readonly #counts = new Map<string, VisitorCount>();
  readonly #playing = new Set<Promise<unknown>>();
  /** The last visit of each visitor. */
  readonly #visits = new Map<string, Promise<unknown>>();
  readonly #stopped = new AbortController();
  #timer: ReturnType<typeof setInterval> | undefined;
  #turn = 0;

  /** `connectOptions`: of the visitors that prove who they are. */
  constructor(
    gateway: Gateway,
    present: () => readonly string[],
    connectOptions: { readonly [visitor: string]: ConnectOptions },
  ) {
    this.#gateway = gateway;
    this.#present = present;
    this.#connectOptions = connectOptions;
  }

  /** In order of the first visit. */
  get counts(): readonly VisitorCount[] {
    return [...this.#counts.values()];
  }

  onChange(run: () => void): () => void {
    this.#listeners.add(run);
    return () => void this.#listeners.delete(run);
  }

  /** Starts regular visits. */
  start(): void {
    this.#timer ??= setInterval(() => this.#next(), EVERY_MS);
  }

  /** Aborts all visits and waits for their end. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    this.#stopped.abort();
    await Promise.all(this.#playing);
    await Promise.allSettled([...this.#peers.values()].map(async (peer) => (await peer).close()));
    this.#peers.clear();
  }

  /** Plays one scene after those that its visitor is in; `begin` is called when it begins. Never throws: errors are part of the result. */
  async play(scene: Scene, ship: string = SHIPS[0], begin: () => void = () => undefined): Promise<Played> {
    const before = this.#visits.get(scene.visitor);
    const playing = (async () => {
      await before;
      begin();
      return this.#play(scene, ship);
    })();
    this.#visits.set(
      scene.visitor,
      playing.catch(() => undefined),
    );
    return playing;
  }

  async #play(scene: Scene, ship: string): Promise<Played> {
    const startedAt = performance.now();
    const { signal, stop } = limitedSignal(this.#stopped.signal, STAY_MS);
    try {
      const peer = await this.#peer(scene);
      const says = await scene.play({ peer, ship, signal });
      return this.#count({ scene, ms: performance.now() - startedAt, says });
    } catch (thrown) {
      const error = AgentError.from(thrown);
      return this.#count({ scene, ms: performance.now() - startedAt, says: error.message, error });
    } finally {
      stop();
    }
  }

  /** Skips agents that are down: a killed agent does not count as a failure. */
  #next(): void {
    if (this.#playing.size >= AT_ONCE) return;
    const available = this.#present();
    const scenes = SCENES.filter(({ agent }) => available.includes(agent));
    const scene = scenes[this.#turn % scenes.length];
    const ship = SHIPS[this.#turn % SHIPS.length];
    this.#turn++;
    if (scene === undefined) return;
    const playing = this.play(scene, ship).finally(() => this.#playing.delete(playing));
    this.#playing.add(playing);
  }

  #peer(scene: Scene): Promise<RemoteAgent> {
    const key = keyOf(scene);
    const known = this.#peers.get(key);
    if (known !== undefined) return known;
    const { pin, agent, visitor } = scene;
    const count = this.#countOf(scene);
    const counting: Layer = (next) => (operation, call) => {
      if (operation.kind === "send") count.messages++;
      return next(operation, call);
    };
    const connecting = connect(addressOf(this.#gateway, agent, pin), {
      ...this.#connectOptions[visitor],
      ...{ as: visitor, pin, layers: [counting] },
    });
    this.#peers.set(key, connecting);
    connecting.catch(() => this.#peers.delete(key));
    return connecting;
  }

  #countOf({ visitor, pin }: Scene): VisitorCount {
    const count = this.#counts.get(visitor) ?? { visitor, pin, messages: 0, failures: 0, latencies: [] };
    this.#counts.set(visitor, count);
    return count;
  }

  #count(played: Played): Played {
    const { scene, ms, error } = played;
    // An aborted visit is not a failure.
    if (this.#stopped.signal.aborted) return played;
    const count = this.#countOf(scene);
    if (error !== undefined) count.failures++;
    count.latencies.push(Math.round(ms));
    if (count.latencies.length > LATENCIES) count.latencies.shift();
    for (const run of this.#listeners) run();
    return played;
  }
}

const keyOf = ({ agent, pin, visitor }: Scene): string => `${visitor} ${agent} ${pin}`;
