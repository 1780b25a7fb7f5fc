import { describe, expect, it } from "vitest";
import { NOTHING } from "../probes/observe.js";
import { isDenial, outcomeOf } from "./classify.js";
import type { Attempt, Observation } from "./event.js";

function attempt(observed: Partial<Observation>, more: Partial<Attempt> = {}): Attempt {
  return {
    type: "attempt",
    target: "target",
    probe: "replay",
    variant: "later",
    round: 1,
    scored: true,
    refusals: ["denied", "alert"],
    observed: { ...NOTHING, ...observed },
    before: true,
    after: true,
    controls: [],
    evidence: "evidence/file.json",
    ...more,
  };
}

describe("the outcome of an attempt", () => {
  it("is blocked only by the right refusal", () => {
    expect(outcomeOf(attempt({ status: 401 }))).toBe("blocked");
    expect(outcomeOf(attempt({ status: 403 }))).toBe("blocked");
    expect(outcomeOf(attempt({ alert: "protocol_version" }))).toBe("blocked");
    // In the form of a protocol whose errors have status 200.
    expect(outcomeOf(attempt({ status: 200, name: "invalid_nonce" }))).toBe("blocked");
    expect(outcomeOf(attempt({ status: 400, name: "ErrInvalidSignature" }))).toBe("blocked");
  });

  it("is inconclusive for 404, 500, a timeout and a refused connection, whatever they say", () => {
    expect(outcomeOf(attempt({ status: 404, name: "forbidden" }))).toBe("inconclusive");
    expect(outcomeOf(attempt({ status: 500, name: "invalid signature" }))).toBe("inconclusive");
    expect(outcomeOf(attempt({ status: 503, name: "denied" }))).toBe("inconclusive");
    expect(outcomeOf(attempt({ error: "timeout" }))).toBe("inconclusive");
    expect(outcomeOf(attempt({ error: "ECONNREFUSED: connect ECONNREFUSED" }))).toBe("inconclusive");
    expect(outcomeOf(attempt({ status: 400, name: "invalid_message" }))).toBe("inconclusive");
  });

  it("does not count a refusal of another kind", () => {
    expect(outcomeOf(attempt({ closed: true }))).toBe("inconclusive");
    expect(outcomeOf(attempt({ closed: true }, { refusals: ["closed"] }))).toBe("blocked");
    expect(outcomeOf(attempt({ status: 401 }, { refusals: ["alert"] }))).toBe("inconclusive");
    expect(outcomeOf(attempt({ certificate: "CERT_HAS_EXPIRED" }, { refusals: ["certificate"] }))).toBe("blocked");
    expect(outcomeOf(attempt({ error: "ERR_SSL_WRONG_VERSION_NUMBER" }, { refusals: ["not_tls"] }))).toBe("blocked");
    expect(outcomeOf(attempt({ status: 400, name: "requires TLS" }, { refusals: ["tls_required"] }))).toBe("blocked");
    expect(outcomeOf(attempt({ status: 400, name: "bad request" }, { refusals: ["tls_required"] }))).toBe("inconclusive");
  });

  it("is an absence only if something was searched", () => {
    expect(outcomeOf(attempt({ searched: 100 }, { refusals: ["absent"] }))).toBe("blocked");
    expect(outcomeOf(attempt({ searched: 0 }, { refusals: ["absent"] }))).toBe("inconclusive");
    expect(outcomeOf(attempt({ searched: 100, goal: true }, { refusals: ["absent"] }))).toBe("succeeded");
  });

  it("is succeeded if the attacker got it, also with a refusal beside it", () => {
    expect(outcomeOf(attempt({ goal: true, status: 401 }))).toBe("succeeded");
  });

  it("is inconclusive without a legitimate request on both sides, or with a control that failed", () => {
    expect(outcomeOf(attempt({ status: 401 }, { before: false }))).toBe("inconclusive");
    expect(outcomeOf(attempt({ goal: true }, { after: false }))).toBe("inconclusive");
    const controls = [{ name: "the canary was found", passed: false }];
    expect(outcomeOf(attempt({ searched: 100 }, { refusals: ["absent"], controls }))).toBe("inconclusive");
  });

  it("knows the reasons of clients, which have no status", () => {
    expect(isDenial(null, "bad_signature: the signature has expired")).toBe(true);
    expect(isDenial(null, "unavailable: nobody listens")).toBe(false);
    expect(isDenial(null, null)).toBe(false);
  });
});
