import type { EventEmitter } from "node:events";
import type { Maybe } from "../../envelope/index.js";
import type { HandshakeSink } from "../exchange.js";
import type { Limits } from "../limits.js";

/** Handshakes that begin in one turn of the event loop. Each is up to 2 ms of CPU, during which nobody else is served. */
const HANDSHAKES_PER_TURN = 8;

/** A connection that has sent the first bytes of a TLS handshake. */
export interface PendingHandshake {
  /** Unique among open connections. */
  readonly id: string;
  /** The network whose share it belongs to. */
  readonly network: string;
  readonly socket: EventEmitter & { destroy(): unknown };
  begin(): void;
}

interface Waiting extends PendingHandshake {
  readonly late: NodeJS.Timeout;
}

/**
 * TLS handshakes are expensive for a server and cheap for a caller: a burst of connections would keep everybody else waiting. A few begin
 * in each turn, and those in progress are limited, in all and for each network. Others wait; networks take turns, so that a network
 * with many connections delays only itself.
 */
export class HandshakeQueue {
  readonly #limits: Pick<Limits, "handshakes" | "handshakesPerNetwork" | "headersMs">;
  readonly #sink: Maybe<HandshakeSink>;
  /** By network, the one whose turn it is first. */
  readonly #waiting = new Map<string, Map<string, Waiting>>();
  /** The network of each handshake in progress. */
  readonly #begun = new Map<string, string>();
  readonly #begunByNetwork = new Map<string, number>();
  #begunThisTurn = 0;
  #nextTurn: NodeJS.Immediate | undefined;

  constructor(limits: Pick<Limits, "handshakes" | "handshakesPerNetwork" | "headersMs">, sink?: Maybe<HandshakeSink>) {
    this.#limits = limits;
    this.#sink = sink;
  }

  /** Begins the handshake now or when its turn comes. */
  add(pending: PendingHandshake): void {
    const { id, network, socket } = pending;
    socket.once("close", () => this.#closed(id, network));
    if (this.#hasRoom() && this.#hasRoomFor(network)) {
      this.#begin(pending);
      return;
    }
    const late = setTimeout(() => {
      this.#sink?.refused();
      socket.destroy();
    }, this.#limits.headersMs);
    socket.on("error", ignore);
    const ofNetwork = this.#waiting.get(network) ?? new Map<string, Waiting>();
    ofNetwork.set(id, { ...pending, late });
    this.#waiting.set(network, ofNetwork);
    this.#sink?.waiting(1);
  }

  /** The handshake is complete. */
  done(id: string): void {
    const network = this.#begun.get(id);
    if (network === undefined) return;
    this.#begun.delete(id);
    const left = (this.#begunByNetwork.get(network) ?? 1) - 1;
    if (left === 0) this.#begunByNetwork.delete(network);
    else this.#begunByNetwork.set(network, left);
    this.#beginWaiting();
  }

  #closed(id: string, network: string): void {
    const waiting = this.#waiting.get(network)?.get(id);
    if (waiting !== undefined) this.#take(waiting);
    this.done(id);
  }

  #hasRoom(): boolean {
    return this.#begunThisTurn < HANDSHAKES_PER_TURN && this.#begun.size < this.#limits.handshakes;
  }

  #hasRoomFor(network: string): boolean {
    return (this.#begunByNetwork.get(network) ?? 0) < this.#limits.handshakesPerNetwork;
  }

  #begin({ id, network, begin }: PendingHandshake): void {
    this.#begun.set(id, network);
    this.#begunByNetwork.set(network, (this.#begunByNetwork.get(network) ?? 0) + 1);
    this.#begunThisTurn++;
    this.#nextTurn ??= setImmediate(() => {
      this.#nextTurn = undefined;
      this.#begunThisTurn = 0;
      this.#beginWaiting();
    });
    begin();
  }

  #beginWaiting(): void {
    // A network that was taken from is visited again, after all others: it is then last in the map.
    for (const [network, ofNetwork] of this.#waiting) {
      if (!this.#hasRoom()) return;
      const [first] = ofNetwork.values();
      if (first === undefined || !this.#hasRoomFor(network)) continue;
      this.#take(first);
      this.#begin(first);
    }
  }

  /** Takes one out, and lets the other networks go first. */
  #take({ id, network, socket, late }: Waiting): void {
    clearTimeout(late);
    socket.off("error", ignore);
    this.#sink?.waiting(-1);
    const ofNetwork = this.#waiting.get(network);
    ofNetwork?.delete(id);
    this.#waiting.delete(network);
    if (ofNetwork !== undefined && ofNetwork.size > 0) this.#waiting.set(network, ofNetwork);
  }
}

/** A connection that breaks while it waits is closed, which is enough. */
function ignore(): void {}
