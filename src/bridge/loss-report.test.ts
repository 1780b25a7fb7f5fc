import { describe, expect, it } from "vitest";
import { LossCounter } from "./loss-report.js";

const loss = (path: string, reason = "no place for it") => ({ protocol: "wire", path, valueKind: "string", reason });

describe("LossCounter", () => {
  it("counts the same loss of different parts as one, the most frequent first", () => {
    const account = new LossCounter();
    account.add(loss("message.parts[0].name"));
    account.add(loss("task.history"));
    account.add(loss("message.parts[17].name"));
    expect(account.losses().map(({ path, count }) => [path, count])).toEqual([
      ["message.parts[].name", 2],
      ["task.history", 1],
    ]);
  });

  it("distinguishes losses of one member by reason", () => {
    const account = new LossCounter();
    account.add(loss("a", "one"));
    account.add(loss("a", "two"));
    expect(account.losses()).toHaveLength(2);
  });

  it("keeps a thousand kinds and counts the rest", () => {
    const account = new LossCounter();
    for (let n = 0; n < 1_500; n++) account.add(loss(`metadata.x${n}`));
    expect(account.losses()).toHaveLength(1_000);
    expect(account.others).toBe(500);
  });
});
