import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { limitsOf } from "../../test/helpers/sessions.js";
import { SessionTimers } from "./session-timers.js";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** A session that only records how it was ended. */
class Recorded {
  isHeld = false;
  unsentBytes = 0;
  readonly ends: (readonly [at: number, how: string, code: number])[] = [];
  readonly timers: SessionTimers;
  readonly #start = performance.now();

  constructor() {
    const limits = limitsOf({ sessionFirstMessageMs: 100, sessionIdleMs: 1_000, writeStallMs: 300 });
    this.timers = new SessionTimers(this, limits);
  }

  close(code: number): void {
    this.ends.push([performance.now() - this.#start, "closed", code]);
    this.timers.stop();
  }

  abort(code: number): void {
    this.ends.push([performance.now() - this.#start, "aborted", code]);
    this.timers.stop();
  }
}

describe("the time limits of an accepted session", () => {
  test("the first message must arrive; what is sent does not count", () => {
    const session = new Recorded();
    vi.advanceTimersByTime(99);
    session.timers.active();
    expect(session.ends).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(session.ends).toEqual([[100, "closed", 1008]]);
  });

  test("a session that a call holds need not begin with a message, and is idle afterwards", () => {
    const session = new Recorded();
    session.isHeld = true;
    vi.advanceTimersByTime(5_000);
    session.isHeld = false;
    session.timers.active();
    vi.advanceTimersByTime(999);
    expect(session.ends).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(session.ends).toEqual([[6_000, "closed", 1001]]);
  });

  test("every message in either direction restarts the idle time", () => {
    const session = new Recorded();
    session.timers.received();
    vi.advanceTimersByTime(900);
    session.timers.received();
    vi.advanceTimersByTime(900);
    session.timers.active();
    vi.advanceTimersByTime(999);
    expect(session.ends).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(session.ends).toEqual([[2_800, "closed", 1001]]);
  });

  test("the idle time does not pass while a call holds the session, and starts again when it ends", () => {
    const session = new Recorded();
    session.timers.received();
    vi.advanceTimersByTime(500);
    session.isHeld = true;
    vi.advanceTimersByTime(10_100);
    session.isHeld = false;
    session.timers.active();
    vi.advanceTimersByTime(999);
    expect(session.ends).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(session.ends).toEqual([[11_600, "closed", 1001]]);
  });

  test("a peer that reads, however slowly, is not disconnected; one that does not is", () => {
    const session = new Recorded();
    session.timers.received();
    session.isHeld = true;
    session.unsentBytes = 1_000;
    session.timers.sendWaits();
    for (let count = 0; count < 5; count++) {
      vi.advanceTimersByTime(299);
      session.unsentBytes -= 1;
      session.timers.sendWaits(); // another sender waits as well
      vi.advanceTimersByTime(1);
    }
    expect(session.ends).toEqual([]);
    vi.advanceTimersByTime(300);
    expect(session.ends).toEqual([[1_800, "aborted", 1008]]);
  });

  test("a drained connection is not watched", () => {
    const session = new Recorded();
    session.timers.received();
    session.isHeld = true;
    session.unsentBytes = 1_000;
    session.timers.sendWaits();
    session.timers.drained();
    vi.advanceTimersByTime(10_000);
    expect(session.ends).toEqual([]);
  });
});
