import { describe, expect, test } from "vitest";
import { ANONYMOUS, ownerOf, SELF, startCall, subjectOf } from "./call.js";
import { CancelSource } from "./cancel.js";
import { AgentError } from "./error.js";
import { NO_FLOOR } from "./floor.js";

describe("startCall()", () => {
  test("defaults to the agent's own in-process call", () => {
    const call = startCall();
    expect(call).toMatchObject({ agent: "", hops: 0, deadline: undefined, via: { protocol: "memory" } });
    expect(call.caller).toBe(SELF);
    expect(call.floor).toEqual({ encrypted: false, signed: false, endToEnd: false, identity: false });
  });

  test("makes cancel and signal once, and they belong together", () => {
    const call = startCall();
    expect(call.cancel).toBe(call.cancel);
    expect(call.signal).toBe(call.signal);
    const stop = new AgentError("cancelled", "stop");
    call.cancel.cancel(stop);
    expect(call.signal.reason).toBe(stop);
  });
});

describe("derive()", () => {
  test("raises the floor and never lowers it", () => {
    const signed = startCall({ floor: { ...NO_FLOOR, signed: true } });
    const both = signed.derive({ floor: { ...NO_FLOOR, encrypted: true } });
    expect(both.floor).toEqual({ encrypted: true, signed: true, endToEnd: false, identity: false });
    expect(both.derive({ floor: NO_FLOOR }).floor).toEqual(both.floor);
  });

  test("moves the deadline only forward", () => {
    expect(startCall({ deadline: 100 }).derive({ deadline: 200 }).deadline).toBe(100);
    expect(startCall({ deadline: 100 }).derive({ deadline: 50 }).deadline).toBe(50);
    expect(startCall().derive({ deadline: 50 }).deadline).toBe(50);
    expect(startCall({ deadline: 100 }).derive({}).deadline).toBe(100);
  });

  test("keeps the caller, the cancel and the loss sink, or uses the new ones", () => {
    const lost: string[] = [];
    const call = startCall({ caller: ANONYMOUS, reportLoss: ({ path }) => lost.push(path) });
    const next = call.derive({ agent: "b", hops: 1 });
    expect(next).toMatchObject({ agent: "b", hops: 1, caller: ANONYMOUS });
    expect(next.cancel).toBe(call.cancel);
    next.reportLoss({ protocol: "p", path: "x", valueKind: "string", reason: "r" });
    expect(lost).toEqual(["x"]);
    const cancel = new CancelSource();
    expect(call.derive({ cancel }).cancel).toBe(cancel);
  });
});

test.each([
  ["bearer", "alice", undefined],
  ["bearer", "alice", "acme"],
  ["key", "b:c", "a:3:x"],
  ["mtls", "spiffe://x/y@z:1", ""],
  ["bearer", "line\nbreak", "t"],
] as const)("subjectOf() removes the tenant: %s %j %j", (scheme, id, tenant) => {
  expect(subjectOf(ownerOf(scheme, id, tenant))).toBe(ownerOf(scheme, id));
});

test("ownerOf() distinguishes tenants and schemes", () => {
  expect(ownerOf("bearer", "alice")).toBe("bearer:alice");
  expect(ownerOf("bearer", "alice", "acme")).toBe("bearer@4:acme:alice");
  const subjects = [
    ownerOf("bearer", "b:c", "a"),
    ownerOf("bearer", "c", "a:b"),
    ownerOf("bearer", "a:b:c"),
    ownerOf("bearer", "alice@acme"),
    ownerOf("bearer", "alice", "acme"),
  ];
  expect(new Set(subjects).size).toBe(subjects.length);
  expect(ownerOf("did", "alice")).toBe("did:alice");
});
