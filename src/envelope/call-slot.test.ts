import { expect, test } from "vitest";
import { CallSlot, startCall } from "./call.js";

test("a value is found from the call it was put on and from every call derived from it, later puts included", () => {
  const slot = new CallSlot<string>();
  const call = startCall();
  const derived = call.derive({ hops: 1 }).derive({ agent: "a" });
  expect(slot.of(derived)).toBeUndefined();
  slot.put(call, "outer");
  expect([slot.of(call), slot.of(derived)]).toEqual(["outer", "outer"]);
  slot.put(derived, "inner");
  expect([slot.of(call), slot.of(derived), slot.of(derived.derive({}))]).toEqual(["outer", "inner", "inner"]);
});

test("siblings and other slots see nothing, and undefined is a value like any other", () => {
  const [slot, other] = [new CallSlot<string | undefined>(), new CallSlot<string>()];
  const call = startCall();
  const [first, second] = [call.derive({}), call.derive({})];
  slot.put(call, "outer");
  slot.put(first, undefined);
  expect([slot.of(first), slot.of(second), other.of(first), slot.of(undefined)]).toEqual([
    undefined,
    "outer",
    undefined,
    undefined,
  ]);
});
