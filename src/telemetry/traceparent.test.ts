import { describe, expect, test } from "vitest";
import { type AgentEvent, type Call, type Envelope, NO_META, startCall } from "../envelope/index.js";
import { carryTrace, outgoingTraceparent, spanIdOf } from "./traceparent.js";

const HEADER = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
const envelope = (id: string, traceId?: string): Envelope => ({
  id,
  ts: 1,
  src: "a",
  dst: "b",
  intent: "",
  role: "user",
  content: [],
  context: { traceId },
  meta: NO_META,
});

describe("outgoingTraceparent", () => {
  test("forwards the received header", () => {
    const call = startCall({ parameters: { traceparent: HEADER } });
    expect(outgoingTraceparent(envelope("m", "11111111-1111-1111-1111-111111111111"), call)).toBe(HEADER);
    expect(outgoingTraceparent(undefined, call)).toBe(HEADER);
  });

  test("else the trace of the message, in hex, with a span made from its id", () => {
    const id = "0b9f5a0e-7d52-4f7c-9c63-2a1f0f3d8e11";
    const want = "00-4bf92f3577b34da6a3ce929d0e0e4736-9c632a1f0f3d8e11-01";
    expect(outgoingTraceparent(envelope(id, "4BF92F35-77B3-4DA6-A3CE-929D0E0E4736"), startCall())).toBe(want);
    expect(outgoingTraceparent(envelope(id, "4bf92f3577b34da6a3ce929d0e0e4736"), startCall())).toBe(want);
  });

  test("a header that is none is replaced, not passed on", () => {
    const call = startCall({ parameters: { traceparent: "00-zz-1-01" } });
    expect(outgoingTraceparent(envelope("m"), call)).toBeUndefined();
  });

  test.each([
    ["of another form", "order-17"],
    ["all zeros", "0".repeat(32)],
    ["absent", undefined],
  ])("a trace id %s makes none", (_name, traceId) => {
    expect(outgoingTraceparent(envelope("m", traceId), startCall())).toBeUndefined();
  });
});

describe("spanIdOf", () => {
  test.each([
    // FNV-1a 64 of "" and "a", from the reference tables of the algorithm.
    ["", "cbf29ce484222325"],
    ["a", "af63dc4c8601ec8c"],
    ["00000000-0000-0000-0000-000000000000", "0000000000000001"],
  ])("%j", (id, want) => {
    expect(spanIdOf(id)).toBe(want);
  });
});

describe("carryTrace", () => {
  const seen = async (message: Envelope, call: Call): Promise<Call> => {
    let below: Call | undefined;
    const done: AgentEvent = { kind: "done" };
    await carryTrace(async (_operation, inner) => {
      below = inner;
      return done;
    })({ kind: "send", envelope: message, delivery: "answer", task: "auto" }, call);
    return below ?? startCall();
  };

  test("puts the message's trace where protocol clients look", async () => {
    const call = startCall({ parameters: { tenant: "x" } });
    expect((await seen(envelope("a", "4bf92f3577b34da6a3ce929d0e0e4736"), call)).parameters).toEqual({
      tenant: "x",
      traceparent: "00-4bf92f3577b34da6a3ce929d0e0e4736-af63dc4c8601ec8c-01",
    });
  });

  test("leaves every other call as it is", async () => {
    const call = startCall({ parameters: { traceparent: HEADER } });
    expect(await seen(envelope("a", "4bf92f3577b34da6a3ce929d0e0e4736"), call)).toBe(call);
    expect(await seen(envelope("a"), call)).toBe(call);
  });
});
