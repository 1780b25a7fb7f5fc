import type { Limits } from "./limits.js";

/** The session that the timers end. */
interface TimedSession {
  readonly isHeld: boolean;
  /** Sent messages that wait for the connection. */
  readonly unsentBytes: number;
  close(code: number, reason: string): void;
  /** Ends the session without the closing handshake. */
  abort(code: number, reason: string): void;
}

type Timer = ReturnType<typeof setTimeout>;

/**
 * The time limits of an accepted session: the server's own end with the upgrade. Messages only store the time, because restarting a
 * timer for each costs more.
 */
export class SessionTimers {
  readonly #session: TimedSession;
  readonly #limits: Limits;
  #timer: Timer;
  #stall: Timer | undefined;
  #hasReceived = false;
  #lastMessage = 0;

  constructor(session: TimedSession, limits: Limits) {
    this.#session = session;
    this.#limits = limits;
    this.#timer = after(limits.sessionFirstMessageMs, () => this.#checkFirst());
  }

  received(): void {
    this.active();
    if (this.#hasReceived) return;
    this.#hasReceived = true;
    this.#watchIdle(this.#limits.sessionIdleMs);
  }

  /** A message was sent or received, or the last call ended. */
  active(): void {
    this.#lastMessage = performance.now();
  }

  /** A sent message waits for the peer to read. */
  sendWaits(): void {
    this.#stall ??= this.#watchStall();
  }

  drained(): void {
    clearTimeout(this.#stall);
    this.#stall = undefined;
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.drained();
  }

  #checkFirst(): void {
    if (this.#session.isHeld) this.#watchIdle(this.#limits.sessionIdleMs);
    else this.#session.close(1008, "no message arrived in time");
  }

  #watchIdle(ms: number): void {
    clearTimeout(this.#timer);
    this.#timer = after(ms, () => this.#checkIdle());
  }

  /** 1001 and not 1008: the peer did nothing wrong and may connect again. */
  #checkIdle(): void {
    const { sessionIdleMs } = this.#limits;
    const left = this.#session.isHeld ? sessionIdleMs : this.#lastMessage + sessionIdleMs - performance.now();
    if (left > 0) this.#watchIdle(left);
    else this.#session.close(1001, "idle");
  }

  /** Pings of the peer are no progress, so this is not the socket's own timer, which they would restart. */
  #watchStall(): Timer {
    const before = this.#session.unsentBytes;
    return after(this.#limits.writeStallMs, () => {
      if (this.#session.unsentBytes >= before) this.#session.abort(1008, "the peer does not read");
      else this.#stall = this.#watchStall();
    });
  }
}

/** Does not keep the process alive: the connection does. */
function after(ms: number, run: () => void): Timer {
  const timer = setTimeout(run, ms);
  timer.unref?.();
  return timer;
}
