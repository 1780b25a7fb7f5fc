import { afterEach, describe, expect, it, vi } from "vitest";
import type { Protocol } from "../../src/protocols/index.js";
import { defaultCandidates, featureRow, type Scenario } from "../../src/router/index.js";
import { toy } from "../toy/index.js";
import { decide, moduleSaying } from "./scenarios.js";
import { THIRTY } from "./thirty-texts.js";

/** A protocol that claims to support everything the texts ask for. */
const pushy: Protocol = {
  ...toy,
  features: {
    name: "Toy",
    title: "a toy",
    orientation: ["turn-taking", "resource-operations", "routine-governance", "end-to-end-secrecy", "streaming"],
    madeFor: "play",
    lessSuited: [],
    lessSuitedFor: "work",
    inherent: [],
    support: { "end-to-end-secrecy": "native", "verified-identity": "native", "cross-boundary": "native" },
    facts: [],
  },
};

const SCENARIOS: readonly Scenario[] = THIRTY.map((text, index) => ({
  id: `s${index}`,
  description: "",
  modules: [moduleSaying(text, { id: `s${index}-M1` })],
}));

async function bytes(): Promise<string> {
  const { route } = await import("../../src/router/index.js");
  return JSON.stringify(await route(SCENARIOS));
}

afterEach(() => {
  vi.doUnmock("../../src/protocols/feature-registry.js");
  vi.resetModules();
});

describe("a protocol registered beside the others", () => {
  it("changes no default decision, not by a byte", async () => {
    const before = await bytes();
    vi.resetModules();
    vi.doMock("../../src/protocols/feature-registry.js", async (original) => {
      const registered = await original<typeof import("../../src/protocols/feature-registry.js")>();
      return { toy: pushy, ...registered };
    });
    const { featureRows } = await import("../../src/protocols/candidates.js");
    expect(featureRows().map(({ name }) => name)).toContain("Toy");
    expect(THIRTY).toHaveLength(30);
    expect(await bytes()).toBe(before);
  });

  it("takes part if it is named as a candidate", async () => {
    const [first = ""] = THIRTY;
    const row = featureRow(pushy);
    const among = await decide(moduleSaying(first, { never: ["A2A"] }), { candidates: [...defaultCandidates(), row] });
    expect(among.selected_protocol).toBe("Toy");
    const alone = await decide(moduleSaying(first), { candidates: [row] });
    expect(alone.selected_protocol).toBe("Toy");
    expect(alone.rationale).toContain("There is no other candidate.");
  });

  it("can be allowed by a file, and stays out if only the default four take part", async () => {
    const module = moduleSaying("", { only: ["Toy"] });
    expect((await decide(module)).selected_protocol).toBeNull();
    expect((await decide(module, { candidates: [...defaultCandidates(), featureRow(pushy)] })).selected_protocol).toBe("Toy");
  });
});
