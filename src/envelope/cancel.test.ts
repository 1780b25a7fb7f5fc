import { describe, expect, test } from "vitest";
import { CancelSource, cancelFrom, signalOf } from "./cancel.js";
import { AgentError } from "./error.js";

const STOP = new AgentError("cancelled", "stop");

describe("CancelSource", () => {
  test("notifies every listener once, with the first reason", () => {
    const source = new CancelSource();
    const heard: string[] = [];
    source.onCancel(({ message }) => heard.push(`a ${message}`));
    source.onCancel(({ message }) => heard.push(`b ${message}`));
    expect(source.cancelled).toBe(false);
    source.cancel(STOP);
    source.cancel(new AgentError("deadline", "again"));
    expect(heard).toEqual(["a stop", "b stop"]);
    expect(source.reason).toBe(STOP);
    expect(source.cancelled).toBe(true);
  });

  test("notifies a late listener immediately and a removed one never", () => {
    const source = new CancelSource();
    const heard: string[] = [];
    source.onCancel(() => heard.push("removed"))();
    source.cancel(STOP);
    source.onCancel(() => heard.push("late"))();
    expect(heard).toEqual(["late"]);
  });
});

test("signalOf() aborts with the reason", () => {
  const source = new CancelSource();
  const signal = signalOf(source);
  expect(signal.aborted).toBe(false);
  source.cancel(STOP);
  expect(signal.reason).toBe(STOP);
});

describe("cancelFrom()", () => {
  test("keeps an AgentError as the reason and converts others", () => {
    expect(cancelFrom(AbortSignal.abort(STOP)).reason).toBe(STOP);
    expect(cancelFrom(AbortSignal.abort()).reason).toMatchObject({ code: "cancelled" });
    expect(cancelFrom(AbortSignal.abort(new DOMException("late", "TimeoutError"))).reason).toMatchObject({ code: "deadline" });
  });

  test("follows a later abort", () => {
    const controller = new AbortController();
    const cancel = cancelFrom(controller.signal);
    expect(cancel.cancelled).toBe(false);
    controller.abort(STOP);
    expect(cancel.reason).toBe(STOP);
  });
});
