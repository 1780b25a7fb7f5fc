import type { BehaviourContext } from "../behaviours/behaviour.js";
import type { RingMessage } from "./messages.js";

export interface HealthOptions {
  readonly heartbeatMs: number;
  readonly deadAfterMs: number;
}

type Context = Pick<BehaviourContext, "name" | "agents" | "peers" | "note">;

/** Of so many heartbeats one goes to the dead that are no neighbours. */
const BEATS_TO_DEAD = 4;
const HEARTBEAT = JSON.stringify({ kind: "heartbeat" } satisfies RingMessage);

/**
 * Which peers are alive, as one agent sees it. A broken connection decides at once; a peer that is silent, because it is stopped or cut
 * off, is decided by the heartbeat. Neighbours are always watched, others while something waits for them. A dead one that is no neighbour
 * is asked rarely: it greets everybody when it is back, and questions to it pass through its neighbours anyway.
 */
export class PeerHealth {
  readonly #context: Context;
  readonly #options: HealthOptions;
  readonly #neighbours: readonly string[];
  readonly #dead = new Set<string>();
  readonly #waiting = new Map<string, Set<AbortController>>();
  readonly #asking = new Set<string>();
  #timer: NodeJS.Timeout | undefined;
  #beats = 0;

  constructor(context: Context, options: HealthOptions) {
    this.#context = context;
    this.#options = options;
    const { agents, name } = context;
    const at = agents.indexOf(name);
    const around = [agents[(at + 1) % agents.length], agents[(at + agents.length - 1) % agents.length]];
    this.#neighbours = [...new Set(around)].filter((each) => each !== undefined && each !== name) as string[];
  }

  start(): void {
    this.#timer ??= setInterval(() => this.#beat(), this.#options.heartbeatMs);
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  get neighbours(): readonly string[] {
    return this.#neighbours;
  }

  isDead(peer: string): boolean {
    return this.#dead.has(peer);
  }

  /** The peer is there: it answered, or it said so. */
  alive(peer: string, seenBy: "heartbeat" | "message" | "join"): void {
    if (this.#dead.delete(peer)) this.#context.note("alive", { about: peer, values: { seenBy } });
  }

  /** The peer is gone. Everything that waits for it is told. */
  dead(peer: string, seenBy: "connection" | "heartbeat"): void {
    if (!this.#dead.has(peer)) {
      this.#dead.add(peer);
      this.#context.note("dead", { about: peer, values: { seenBy } });
    }
    for (const each of this.#waiting.get(peer) ?? []) each.abort();
  }

  /** Watches a peer while something waits for it. The signal ends when the peer is dead. */
  watch(peer: string): { readonly signal: AbortSignal; end(): void } {
    const controller = new AbortController();
    const all = this.#waiting.get(peer) ?? new Set();
    this.#waiting.set(peer, all);
    all.add(controller);
    return {
      signal: controller.signal,
      end: () => {
        all.delete(controller);
        if (all.size === 0) this.#waiting.delete(peer);
      },
    };
  }

  #beat(): void {
    const dead = this.#beats++ % BEATS_TO_DEAD === 0 ? this.#dead : [];
    for (const peer of new Set([...this.#neighbours, ...this.#waiting.keys(), ...dead])) void this.#ask(peer);
  }

  async #ask(peer: string): Promise<void> {
    // One question at a time: a silent peer does not collect them.
    if (this.#asking.has(peer)) return;
    this.#asking.add(peer);
    const answer = await this.#context.peers.send(peer, HEARTBEAT, { retries: 0, timeoutMs: this.#options.deadAfterMs });
    this.#asking.delete(peer);
    if (answer.ok) this.alive(peer, "heartbeat");
    else this.dead(peer, answer.why === "unreachable" ? "connection" : "heartbeat");
  }
}
