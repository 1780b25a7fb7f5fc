import { describe, expect, test } from "vitest";
import { limitsOf, upgradeTo } from "../../test/helpers/sessions.js";
import { BaseSession } from "./base-session.js";
import type { Chunk } from "./exchange.js";

const KIB = 1024;

/** A carrier that does not stop when it is paused. */
class Careless extends BaseSession {
  readonly done: string[] = [];
  protected readonly isOpen = true;
  protected readonly hasRoom = true;
  readonly unsentBytes = 0;

  constructor() {
    super({
      request: upgradeTo("ws://h/"),
      subprotocol: "",
      limits: limitsOf({ sessionQueuedBytes: 100 * KIB }),
      accepted: false,
      onError: () => undefined,
      ended: () => undefined,
    });
  }

  arrive(frame: Chunk, bytes: number): void {
    this.receive(frame, bytes);
  }

  protected byteLength(text: string): number {
    return text.length;
  }
  protected write(): void {}
  protected pauseReading(): void {
    this.done.push("pause");
  }
  protected resumeReading(): void {
    this.done.push("resume");
  }
  protected startClosing(code: number): void {
    this.done.push(`close ${code}`);
  }
  destroy(): void {}
}

describe("back-pressure of a session", () => {
  test("a full queue pauses the connection once, and a half empty one resumes it", async () => {
    const session = new Careless();
    for (let count = 0; count < 3; count++) session.arrive("x", 40 * KIB);
    expect(session.done).toEqual(["pause"]);
    await session.frames.next();
    expect(session.done).toEqual(["pause"]);
    await session.frames.next();
    expect(session.done).toEqual(["pause", "resume"]);
    for (let count = 0; count < 2; count++) session.arrive("x", 40 * KIB);
    expect(session.done).toEqual(["pause", "resume", "pause"]);
  });

  test("one read of the socket may still arrive while it is paused, however long the message before was; more closes with 1008", () => {
    const session = new Careless();
    session.arrive("x", 1_000 * KIB);
    for (let count = 0; count < 63; count++) session.arrive("x", KIB);
    expect(session.done).toEqual(["pause"]);
    session.arrive("x", KIB);
    expect(session.done).toEqual(["pause", "close 1008"]);
    expect(session.frames.bytes).toBe(0);
  });

  test("empty messages count as well", () => {
    const session = new Careless();
    session.arrive("x", 101 * KIB);
    for (let count = 0; count < 32 * KIB; count++) session.arrive("", 0);
    expect(session.done).toEqual(["pause"]);
    session.arrive("", 0);
    expect(session.done).toEqual(["pause", "close 1008"]);
  });
});
