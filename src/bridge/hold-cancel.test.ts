import { describe, expect, it } from "vitest";
import { fakeClock } from "../../test/helpers/clock.js";
import { AgentError, CancelSource } from "../envelope/index.js";
import { holdCancel } from "./hold-cancel.js";

const CANCELLED = new AgentError("cancelled", "the task was canceled");
const LOST = new AgentError("lost_place", "another process has it");

function holding(isNamed: boolean) {
  const [above, clock] = [new CancelSource(), fakeClock()];
  return { above, clock, ...holdCancel(above, () => isNamed, clock) };
}

describe("a cancel before the upstream task id is known", () => {
  it("is passed on at once if the id is known", () => {
    const { above, source } = holding(true);
    above.cancel(CANCELLED);
    expect(source.reason).toBe(CANCELLED);
  });

  it("is delayed for five seconds if it is not", async () => {
    const { above, clock, source } = holding(false);
    above.cancel(CANCELLED);
    await clock.advance(4_999);
    expect(source.cancelled).toBe(false);
    await clock.advance(1);
    expect(source.reason).toBe(CANCELLED);
  });

  it("is not delayed for work that another process continues", () => {
    const { above, source } = holding(false);
    above.cancel(LOST);
    expect(source.reason).toBe(LOST);
  });

  it("leaves no timer and no listener", () => {
    const { above, clock, source, unlink } = holding(false);
    above.cancel(CANCELLED);
    unlink();
    expect(clock.waiting).toBe(0);
    const other = holding(true);
    other.unlink();
    other.above.cancel(CANCELLED);
    expect([source.cancelled, other.source.cancelled]).toEqual([false, false]);
  });
});
