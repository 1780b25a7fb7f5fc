import { AgentError, type Envelope, type Maybe, type Principal } from "../envelope/index.js";

/** Takes the answers that it expects. */
export interface ReplyTaker {
  /** False: there is no room for it; undefined: it is not expected here, or not of this sender. */
  takeReply(envelope: Envelope, from: Principal, correlation: string): Maybe<boolean>;
}

/** Connections of a process whose answers arrive at one server. */
const MAX_JOINED = 1_000;

/** The answers that arrive at a server as messages of their own, for the connections of its process that expect them. */
export class Replies {
  readonly #takers = new Set<ReplyTaker>();

  /** From now on the taker is asked. Returns how to leave. */
  join(taker: ReplyTaker): () => void {
    if (this.#takers.size >= MAX_JOINED)
      throw new AgentError("overloaded", `${MAX_JOINED} connections already receive their answers at this server`, {
        sent: "no",
      });
    this.#takers.add(taker);
    return () => void this.#takers.delete(taker);
  }

  /** Undefined if no connection expects it. */
  offer(envelope: Envelope, from: Principal, correlation: string): Maybe<boolean> {
    for (const taker of this.#takers) {
      const taken = taker.takeReply(envelope, from, correlation);
      if (taken !== undefined) return taken;
    }
    return undefined;
  }
}
