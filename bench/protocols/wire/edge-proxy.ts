import { createServer, connect as dial, type Server, type Socket } from "node:net";
import { chance } from "../../harness/chance.js";

/** Bytes of one edge since it was opened. `sent` is from the caller to the agent. */
export interface EdgeCounts {
  readonly connections: number;
  readonly sent: number;
  readonly received: number;
}

/** What the proxy does with the bytes of an edge. */
export interface EdgeConditions {
  /** Added to every piece on its way to the agent. */
  readonly toAgentMs?: number | undefined;
  readonly toCallerMs?: number | undefined;
  /** The chance of each piece to cut its connection instead: what loss becomes for a program above TCP that gives up. */
  readonly loss?: number | undefined;
  /** Nothing passes. What was sent meanwhile arrives afterwards, as TCP would deliver it. */
  readonly partition?: boolean | undefined;
}

/** A TCP proxy in the path of one edge: counts bytes, delays, cuts and partitions. It works on bytes, so it serves any protocol. */
export class EdgeProxy {
  readonly #server: Server;
  readonly #pairs = new Set<Pair>();
  readonly #host: string;
  readonly #random: () => number;
  #port = 0;
  #conditions: EdgeConditions = {};
  #connections = 0;
  #sent = 0;
  #received = 0;

  constructor(seed: number, host = "127.0.0.1") {
    this.#host = host;
    this.#random = chance(seed);
    this.#server = createServer({ noDelay: true }, (caller) => this.#accept(caller));
  }

  /** Listens at this port, or at a free one. Returns it. Throws with the code EADDRINUSE. */
  async listen(port: number): Promise<number> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once("error", reject);
      this.#server.listen(port, "127.0.0.1", resolve);
    });
    const address = this.#server.address();
    return typeof address === "object" && address !== null ? address.port : port;
  }

  /** Where the agent listens. */
  set target(port: number) {
    this.#port = port;
  }

  get counts(): EdgeCounts {
    return { connections: this.#connections, sent: this.#sent, received: this.#received };
  }

  /** Applies to open connections too. */
  set conditions(conditions: EdgeConditions) {
    this.#conditions = conditions;
    for (const pair of this.#pairs) pair.resume();
  }

  /** Whether the agent refuses connections: tried past the proxy, and not counted. */
  isRefused(): Promise<boolean> {
    return new Promise((resolve) => {
      const socket = dial(this.#port, this.#host);
      const settle = (refused: boolean): void => {
        socket.destroy();
        resolve(refused);
      };
      socket.once("connect", () => settle(false));
      socket.once("error", () => settle(true));
    });
  }

  close(): void {
    this.#server.close();
    for (const pair of this.#pairs) pair.end();
  }

  #accept(caller: Socket): void {
    this.#connections++;
    const agent = dial({ port: this.#port, host: this.#host, noDelay: true });
    const rules: Rules = {
      conditions: () => this.#conditions,
      isLost: () => this.#random() < (this.#conditions.loss ?? 0),
    };
    const toAgent = new Direction(caller, agent, rules, {
      delayMs: () => this.#conditions.toAgentMs ?? 0,
      count: (bytes) => {
        this.#sent += bytes;
      },
    });
    const toCaller = new Direction(agent, caller, rules, {
      delayMs: () => this.#conditions.toCallerMs ?? 0,
      count: (bytes) => {
        this.#received += bytes;
      },
    });
    const pair = new Pair(caller, agent, [toAgent, toCaller], () => this.#pairs.delete(pair));
    this.#pairs.add(pair);
  }
}

interface Rules {
  conditions(): EdgeConditions;
  isLost(): boolean;
}

interface DirectionRules {
  delayMs(): number;
  count(bytes: number): void;
}

/** One direction of one connection. Pieces keep their order. */
class Direction {
  readonly #from: Socket;
  readonly #to: Socket;
  readonly #rules: Rules;
  readonly #own: DirectionRules;
  readonly #held: { readonly piece: Buffer | undefined; readonly at: number }[] = [];
  #timer: NodeJS.Timeout | undefined;

  constructor(from: Socket, to: Socket, rules: Rules, own: DirectionRules) {
    this.#from = from;
    this.#to = to;
    this.#rules = rules;
    this.#own = own;
    from.on("data", (piece: Buffer) => this.#take(piece));
    from.on("end", () => this.#hold(undefined));
    to.on("drain", () => from.resume());
  }

  #take(piece: Buffer): void {
    if (this.#rules.isLost()) {
      this.#from.destroy();
      this.#to.destroy();
      return;
    }
    this.#hold(piece);
  }

  #hold(piece: Buffer | undefined): void {
    this.#held.push({ piece, at: performance.now() + this.#own.delayMs() });
    this.pass();
  }

  /** Passes on what is due. */
  pass(): void {
    if (this.#timer !== undefined || this.#rules.conditions().partition === true) return;
    for (let next = this.#held[0]; next !== undefined; next = this.#held[0]) {
      const waitMs = next.at - performance.now();
      if (waitMs > 0) {
        this.#timer = setTimeout(() => {
          this.#timer = undefined;
          this.pass();
        }, Math.ceil(waitMs));
        return;
      }
      this.#held.shift();
      this.#write(next.piece);
    }
  }

  #write(piece: Buffer | undefined): void {
    if (this.#to.destroyed) return;
    if (piece === undefined) return void this.#to.end();
    this.#own.count(piece.length);
    if (!this.#to.write(piece)) this.#from.pause();
  }

  stop(): void {
    clearTimeout(this.#timer);
  }
}

/** The two sockets of one connection. */
class Pair {
  readonly #sockets: readonly Socket[];
  readonly #directions: readonly Direction[];

  constructor(caller: Socket, agent: Socket, directions: readonly Direction[], ended: () => void) {
    this.#sockets = [caller, agent];
    this.#directions = directions;
    for (const socket of this.#sockets) {
      socket.on("error", () => this.end());
      socket.on("close", () => {
        // The other side still gets what was sent before.
        if (socket.readableEnded && !socket.errored) return;
        this.end();
      });
    }
    caller.on("close", () => {
      ended();
      this.end();
    });
  }

  resume(): void {
    for (const direction of this.#directions) direction.pass();
  }

  end(): void {
    for (const direction of this.#directions) direction.stop();
    for (const socket of this.#sockets) socket.destroy();
  }
}
