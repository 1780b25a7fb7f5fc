import { describe, expect, it } from "vitest";
import { newEnvelope, type Operation, startCall } from "../../envelope/index.js";
import type { Destination } from "../destination.js";
import { firstMatch } from "./first-match.js";

function to(id: string, declared: Partial<Destination> = {}): Destination {
  return { id, handler: async () => ({ kind: "done" }), ...declared };
}

function send(intent = "", tags?: readonly string[]): Operation {
  const envelope = newEnvelope(
    { content: "go", src: "a", dst: "b", intent, context: { tags } },
    { now: () => 1, newId: () => "m" },
  );
  return { kind: "send", envelope, delivery: "answer", task: "auto" };
}

function orderOf(destinations: readonly Destination[], operation: Operation): readonly string[] {
  return firstMatch()
    .order(destinations, operation, startCall())
    .order.map(({ id }) => id);
}

describe("firstMatch, and matching destinations", () => {
  const plain = [to("a"), to("b"), to("c")];
  const tagged = [to("a"), to("b", { tags: ["eu"] }), to("c", { tags: ["eu", "gpu"] })];
  const skilled = [to("a", { skills: ["write"] }), to("b", { skills: ["read"] }), to("c", { skills: ["read"], tags: ["eu"] })];

  it.each([
    ["nothing asked: the order given", plain, send(), ["a", "b", "c"]],
    ["tags count for nothing where nobody declares any", plain, send("", ["eu"]), ["a", "b", "c"]],
    ["tags: only where all are known", tagged, send("", ["eu"]), ["b", "c"]],
    ["every one of the tags", tagged, send("", ["gpu", "eu"]), ["c"]],
    ["no tags asked: also those who declare some", tagged, send(), ["a", "b", "c"]],
    ["tags nobody knows: nobody", tagged, send("", ["moon"]), []],
    ["intent: only who has the skill", skilled, send("read"), ["b", "c"]],
    ["an intent that is nobody's skill: everybody", skilled, send("dream"), ["a", "b", "c"]],
    ["both at once", skilled, send("read", ["eu"]), ["c"]],
    ["both at once and nobody has both", skilled, send("write", ["eu"]), []],
    ["what is no message fits everywhere", tagged, { kind: "ping" } as const, ["a", "b", "c"]],
  ])("%s", (_name, destinations, operation, expected) => {
    expect(orderOf(destinations, operation)).toEqual(expected);
  });

  it("puts weight 0 last, and uses it when no other matches", () => {
    const spares = [to("spare", { weight: 0, skills: ["read"] }), to("a"), to("b")];
    expect(orderOf(spares, send())).toEqual(["a", "b", "spare"]);
    expect(orderOf(spares, send("read"))).toEqual(["spare"]);
  });

  it("reports the reason, without message content", () => {
    const { because } = firstMatch().order(skilled, send("read"), startCall());
    expect(because).toBe("has the skill requested; the first in order that matches");
  });
});
