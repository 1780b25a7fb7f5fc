import { expect, test } from "vitest";
import { AgentError, startCall } from "../../envelope/index.js";
import { CallStates } from "./call-states.js";
import type { SageSession } from "./session/session.js";
import { challenge } from "./signatures/challenge.js";

/** After a call was told that its session has ended, with this nonce. */
function ended(nonce: string): CallStates {
  const state = new CallStates();
  const call = startCall({});
  // Nothing of a session is used here but its end.
  state.use(call, { close: () => undefined } as SageSession);
  state.mayRepeat(call, new AgentError("unauthenticated", "refused", { detail: { error: "ErrSessionExpired", nonce } }));
  return state;
}

test("the nonce of an ended session is for one handshake, and not for the message", () => {
  const state = ended("n-1");
  const [first, second] = [state.begun(startCall({})), state.begun(startCall({}))];
  expect([state.nonceOf(first), state.nonceOf(second), state.nonceOf(startCall({}))]).toEqual(["n-1", undefined, undefined]);
});

test("a handshake with such a nonce is challenged once, if another process answers it", () => {
  const state = ended("of-the-first");
  const call = state.begun(startCall({}));
  state.mayRepeat(call, challenge("of-the-second"));
  expect(state.nonceOf(call)).toBe("of-the-second");
  expect(() => state.mayRepeat(call, challenge("of-a-third"))).toThrow("has just started");
});

test("what is no nonce is not sent", () => {
  const state = ended('n"; x="');
  expect(state.nonceOf(state.begun(startCall({})))).toBeUndefined();
});
