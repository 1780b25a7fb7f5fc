import { describe, expect, test } from "vitest";
import { fakeClock } from "../../test/helpers/clock.js";
import { AgentError, CancelSource } from "../envelope/index.js";
import { systemClock } from "./clock.js";

describe("fakeClock", () => {
  test("runs due timers in order of time", async () => {
    const clock = fakeClock(1_000);
    const ran: string[] = [];
    clock.after(30, () => ran.push(`b ${clock.now()}`));
    clock.after(10, () => ran.push(`a ${clock.now()}`));
    clock.after(31, () => ran.push("never"));
    await clock.advance(30);
    expect(ran).toEqual(["a 1010", "b 1030"]);
    expect(clock.now()).toBe(1_030);
    expect(clock.waiting).toBe(1);
  });

  test("microtasks of a timer run before the next timer", async () => {
    const clock = fakeClock();
    const woke: number[] = [];
    const loop = (async () => {
      for (let turn = 0; turn < 3; turn++) {
        await clock.sleep(10);
        woke.push(clock.now());
      }
    })();
    await clock.advance(30);
    await loop;
    expect(woke).toEqual([10, 20, 30]);
  });

  test("a timer taken back never runs", async () => {
    const clock = fakeClock();
    let ran = 0;
    clock.after(5, () => ran++)();
    await clock.advance(10);
    expect(ran).toBe(0);
  });
});

describe("sleep", () => {
  test("rejects at once when cancelled, and removes its timer", async () => {
    const clock = fakeClock();
    const cancel = new CancelSource();
    const reason = new AgentError("cancelled", "enough");
    const sleeping = clock.sleep(1_000, cancel).catch((thrown: unknown) => thrown);
    cancel.cancel(reason);
    expect(await sleeping).toBe(reason);
    expect(clock.waiting).toBe(0);
  });

  test("does not start when already cancelled", async () => {
    const clock = fakeClock();
    const cancel = new CancelSource();
    const reason = new AgentError("cancelled", "enough");
    cancel.cancel(reason);
    await expect(clock.sleep(1_000, cancel)).rejects.toBe(reason);
    expect(clock.waiting).toBe(0);
  });
});

describe("systemClock", () => {
  test("sleeps", async () => {
    await expect(systemClock.sleep(1)).resolves.toBeUndefined();
  });

  test("a wait longer than a platform timer holds does not fire at once", async () => {
    let fired = 0;
    const takeBack = systemClock.after(2 ** 31 + 1_000, () => fired++);
    await systemClock.sleep(20);
    takeBack();
    expect(fired).toBe(0);
  });
});
