import { AgentError, connect, type Layer, type RemoteAgent } from "../../src/index.js";
import { limitedSignal } from "../../src/internal.js";
import type { Gateway } from "../gateway/index.js";
import { addressOf } from "./addresses.js";
import { SCENES, type Scene } from "./scenes.js";

/** How often a visitor comes, how many are there at a time, and how long one stays at most. */
const EVERY_MS = 600;
const AT_ONCE = 4;
const STAY_MS = 20_000;
/** How many times of each visitor are kept. */
const LATENCIES = 120;

const SHIPS = ["Aurora", "Bora", "Calypso", "Dorade", "Estrella", "Fulmar", "Galatea", "Heron"] as const;

/** How one scene went. */
export interface Played {
  readonly scene: Scene;
  readonly ms: number;
  /** What came of it. */
  readonly says: string;
  readonly error?: AgentError | undefined;
}

/** What a visitor has done so far. */
export interface VisitorCount {
  readonly visitor: string;
  readonly way: string;
  messages: number;
  failures: number;
  /** Of whole visits, oldest first, in milliseconds. */
  readonly latencies: number[];
}

/** Visitors who call agents through the gateway, in protocols that are not the agents' own. */
export class Traffic {
  readonly #gateway: Gateway;
  readonly #present: () => readonly string[];
  readonly #listeners = new Set<() => void>();
  readonly #peers = new Map<string, Promise<RemoteAgent>>();
  readonly #counts = new Map<string, VisitorCount>();
  readonly #playing = new Set<Promise<unknown>>();
  readonly #stopped = new AbortController();
  #timer: ReturnType<typeof setInterval> | undefined;
  #turn = 0;

  constructor(gateway: Gateway, present: () => readonly string[]) {
    this.#gateway = gateway;
    this.#present = present;
  }

  /** Visitors in the order in which they first came. */
  get counts(): readonly VisitorCount[] {
    return [...this.#counts.values()];
  }

  onChange(run: () => void): () => void {
    this.#listeners.add(run);
    return () => void this.#listeners.delete(run);
  }

  /** From now on somebody comes every moment, until it is stopped. */
  start(): void {
    this.#timer ??= setInterval(() => this.#next(), EVERY_MS);
  }

  /** Sends everybody home, and waits until they are. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    this.#stopped.abort();
    await Promise.all(this.#playing);
    await Promise.allSettled([...this.#peers.values()].map(async (peer) => (await peer).close()));
    this.#peers.clear();
  }

  /** Plays one scene. Never throws: how it went is the answer. */
  async play(scene: Scene, ship: string = SHIPS[0]): Promise<Played> {
    const begun = performance.now();
    const { signal, stop } = limitedSignal(this.#stopped.signal, STAY_MS);
    try {
      const peer = await this.#peer(scene);
      const says = await scene.play({ peer, ship, signal });
      return this.#count({ scene, ms: performance.now() - begun, says });
    } catch (thrown) {
      const error = AgentError.from(thrown);
      return this.#count({ scene, ms: performance.now() - begun, says: error.message, error });
    } finally {
      stop();
    }
  }

  /** Only those are visited that are there: who was killed is not blamed for it. */
  #next(): void {
    if (this.#playing.size >= AT_ONCE) return;
    const here = this.#present();
    const scenes = SCENES.filter(({ agent }) => here.includes(agent));
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
    const { way, agent, visitor } = scene;
    const count = this.#countOf(scene);
    const counting: Layer = (next) => (operation, call) => {
      if (operation.kind === "send") count.messages++;
      return next(operation, call);
    };
    const connecting = connect(addressOf(this.#gateway, agent, way), { as: visitor, pin: way, layers: [counting] });
    this.#peers.set(key, connecting);
    connecting.catch(() => this.#peers.delete(key));
    return connecting;
  }

  #countOf({ visitor, way }: Scene): VisitorCount {
    const count = this.#counts.get(visitor) ?? { visitor, way, messages: 0, failures: 0, latencies: [] };
    this.#counts.set(visitor, count);
    return count;
  }

  #count(played: Played): Played {
    const { scene, ms, error } = played;
    // Who was sent home has not failed.
    if (this.#stopped.signal.aborted) return played;
    const count = this.#countOf(scene);
    if (error !== undefined) count.failures++;
    count.latencies.push(Math.round(ms));
    if (count.latencies.length > LATENCIES) count.latencies.shift();
    for (const run of this.#listeners) run();
    return played;
  }
}

const keyOf = ({ agent, way, visitor }: Scene): string => `${visitor} ${agent} ${way}`;
