import { describe, expect, test } from "vitest";
import { formatElapsed, startProgress } from "./progress.js";

function terminal(isTTY: boolean, columns: number) {
  const written: string[] = [];
  let now = 0;
  let tick: () => void = () => undefined;
  const line = startProgress({
    stream: { isTTY, columns, write: (text) => written.push(text) },
    now: () => now,
    every: (_ms, run) => {
      tick = run;
      return () => {
        tick = () => undefined;
      };
    },
  });
  return {
    line,
    written,
    at(ms: number) {
      now = ms;
      tick();
    },
  };
}

const ERASE = "\r\u001b[2K";

describe("startProgress", () => {
  test("shows state, time and the last text, and erases itself", () => {
    const { line, written, at } = terminal(true, 80);
    at(100);
    expect(written).toEqual([]);
    line.show("working", "page 1");
    at(2_000);
    line.show("working", "");
    at(65_000);
    line.stop();
    at(66_000);
    expect(written).toEqual([`${ERASE}⠋ working 2s · page 1`, `${ERASE}⠙ working 1m 05s · page 1`, ERASE]);
  });

  test("stays on one line, whatever the peer sends and however narrow the terminal is", () => {
    const { line, written, at } = terminal(true, 21);
    line.show("working", "a\nb\u001b[2J and a lot more than fits");
    at(1_000);
    expect(written).toEqual([`${ERASE}⠋ working 1s · a b�…`]);
  });

  test("a terminal that reports no columns gets eighty", () => {
    const { line, written, at } = terminal(true, 0);
    line.show("working", "x".repeat(100));
    at(1_000);
    expect(written).toEqual([`${ERASE}⠋ working 1s · ${"x".repeat(63)}…`]);
  });

  test("without a terminal there is no line", () => {
    const { line, written, at } = terminal(false, 80);
    line.show("working", "page 1");
    at(5_000);
    line.stop();
    expect(written).toEqual([]);
  });
});

test("formatElapsed", () => {
  expect([0, 59_999, 60_000, 3_725_000].map(formatElapsed)).toEqual(["0s", "59s", "1m 00s", "62m 05s"]);
});
