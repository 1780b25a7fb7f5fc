import { AgentError, type Maybe } from "../envelope/index.js";
import type { Limits } from "../transport/limits.js";

/** Counts the open sessions of a host: in all, of each caller, and of callers that are not authenticated yet. */
export class SessionSlots {
  readonly #limits: Limits;
  readonly #byOwner = new Map<string, number>();
  #all = 0;
  #unadmitted = 0;

  constructor(limits: Limits) {
    this.#limits = limits;
  }

  /** Takes a slot for an owner, or for a caller that is not known yet. Throws `overloaded`. */
  take(owner: Maybe<string>): SessionSlot {
    const { sessions } = this.#limits;
    if (this.#all >= sessions) throw full(`${sessions} sessions are open, which is the limit of this server`);
    this.#enter(owner);
    this.#all++;
    return new SessionSlot(
      owner,
      (from, to) => {
        this.#enter(to);
        this.#leave(from);
      },
      (last) => {
        this.#leave(last);
        this.#all--;
      },
    );
  }

  #enter(owner: Maybe<string>): void {
    const { sessionsPerCaller, sessionsUnadmitted } = this.#limits;
    if (owner === undefined) {
      if (this.#unadmitted >= sessionsUnadmitted) throw full(`${sessionsUnadmitted} sessions wait for authentication`);
      this.#unadmitted++;
      return;
    }
    const open = this.#byOwner.get(owner) ?? 0;
    if (open >= sessionsPerCaller) throw full(`this caller has ${sessionsPerCaller} open sessions, which is the limit`);
    this.#byOwner.set(owner, open + 1);
  }

  #leave(owner: Maybe<string>): void {
    if (owner === undefined) {
      this.#unadmitted--;
      return;
    }
    const open = this.#byOwner.get(owner) ?? 0;
    if (open <= 1) this.#byOwner.delete(owner);
    else this.#byOwner.set(owner, open - 1);
  }
}

/** The place of one session. */
export class SessionSlot {
  #owner: Maybe<string>;
  readonly #move: (from: Maybe<string>, to: string) => void;
  readonly #free: (owner: Maybe<string>) => void;
  #freed = false;

  constructor(owner: Maybe<string>, move: (from: Maybe<string>, to: string) => void, free: (owner: Maybe<string>) => void) {
    this.#owner = owner;
    this.#move = move;
    this.#free = free;
  }

  /** The caller is known now. Throws `overloaded`. */
  assign(owner: string): void {
    if (this.#freed || owner === this.#owner) return;
    this.#move(this.#owner, owner);
    this.#owner = owner;
  }

  free(): void {
    if (this.#freed) return;
    this.#freed = true;
    this.#free(this.#owner);
  }
}

function full(message: string): AgentError {
  return new AgentError("overloaded", message, { retryAfterMs: 1_000 });
}
