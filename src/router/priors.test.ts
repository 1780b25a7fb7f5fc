import { describe, expect, it } from "vitest";
import { rankingFromResults, tieBreakWithPrior } from "./priors.js";

describe("tieBreakWithPrior()", () => {
  it("selects the best-ranked candidate", () => {
    expect(tieBreakWithPrior(["A2A", "ACP", "Agora"], ["Agora", "ACP", "A2A"])).toBe("Agora");
    expect(tieBreakWithPrior(["A2A", "ACP"], ["Agora", "ACP", "A2A"])).toBe("ACP");
  });

  it("puts unranked candidates last, in the given order", () => {
    expect(tieBreakWithPrior(["ANP", "A2A"], ["A2A"])).toBe("A2A");
    expect(tieBreakWithPrior(["ANP", "Agora"], ["A2A", "ACP"])).toBe("ANP");
    expect(tieBreakWithPrior(["Agora", "ANP"], [])).toBe("Agora");
  });

  it("returns the candidate's spelling, whatever the ranking's", () => {
    expect(tieBreakWithPrior(["ACP", "Agora"], ["AGORA", "acp"])).toBe("Agora");
  });

  it("never returns a name that is no candidate", () => {
    expect(tieBreakWithPrior(["ANP"], ["A2A", "ACP", "Agora"])).toBe("ANP");
    expect(() => tieBreakWithPrior([], ["A2A"])).toThrowError("no candidate");
  });
});

const measured = (protocol: unknown, success: unknown, p50Us?: unknown) => ({ protocol, success, p50Us });

describe("rankingFromResults()", () => {
  it("ranks by success first and by median latency second", () => {
    const protocols = [
      measured("A2A", 0.9, 10),
      measured("ACP", 0.99, 900),
      measured("Agora", 0.99, 800),
      measured("ANP", 0.2, 1),
    ];
    expect(rankingFromResults({ protocols })).toEqual(["Agora", "ACP", "A2A", "ANP"]);
  });

  it("is independent of the order of the file, also among equals", () => {
    const protocols = [measured("ANP", 0.5, 7), measured("Agora", 0.5, 7), measured("A2A", 0.5, 7)];
    const ranking = rankingFromResults({ protocols });
    expect(rankingFromResults({ protocols: protocols.toReversed() })).toEqual(ranking);
    expect(ranking).toHaveLength(3);
  });

  it("needs no latency of a protocol by which nothing succeeded", () => {
    const protocols = [measured("A2A", 0, null), measured("ACP", 0), measured("ANP", 0.1, 5)];
    expect(rankingFromResults({ protocols })[0]).toBe("ANP");
    expect(rankingFromResults({ protocols })).toHaveLength(3);
  });

  it("writes names as decisions do, and looks at no other member", () => {
    const protocols = [{ ...measured("agora", 1, 5), rounds: 30 }];
    expect(rankingFromResults({ schema: 2, bench: "side by side", protocols })).toEqual(["Agora"]);
  });

  const MALFORMED: Readonly<Record<string, readonly [unknown, string]>> = {
    "no object": ["fast", "protocols"],
    nothing: [undefined, "protocols"],
    "no list": [{ protocols: { A2A: 1 } }, "protocols"],
    "an empty list": [{ protocols: [] }, "protocols"],
    "too long a list": [{ protocols: Array.from({ length: 101 }, () => measured("A2A", 1, 1)) }, "protocols"],
    "an entry that is no object": [{ protocols: [null] }, "protocols[0]"],
    "a protocol nobody knows": [{ protocols: [measured("XYZ", 1, 1)] }, "protocols[0].protocol"],
    "a protocol that is no text": [{ protocols: [measured(7, 1, 1)] }, "protocols[0].protocol"],
    "the same protocol twice": [{ protocols: [measured("A2A", 1, 1), measured("a2a", 1, 2)] }, "protocols"],
    "a share above one": [{ protocols: [measured("A2A", 1.1, 1)] }, "protocols[0].success"],
    "no number for a share": [{ protocols: [measured("A2A", "1", 1)] }, "protocols[0].success"],
    "not a number for a share": [{ protocols: [measured("A2A", Number.NaN, 1)] }, "protocols[0].success"],
    "a negative latency": [{ protocols: [measured("A2A", 1, -1)] }, "protocols[0].p50Us"],
    "an endless latency": [{ protocols: [measured("A2A", 1, Number.POSITIVE_INFINITY)] }, "protocols[0].p50Us"],
    "success without a latency": [{ protocols: [measured("A2A", 1)] }, "protocols[0].p50Us"],
  };
  for (const [what, [results, field]] of Object.entries(MALFORMED))
    it(`refuses ${what}, and says where`, () => {
      expect(() => rankingFromResults(results)).toThrowError(
        expect.objectContaining({ code: "invalid_message", facts: { field }, message: expect.stringContaining(field) }),
      );
    });
});
