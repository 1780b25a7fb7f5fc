import { describe, expect, it } from "vitest";
import { defaultCandidates, featureRow, readScenarios, route } from "../../src/router/index.js";
import { toy } from "../toy/index.js";
import { decide, decideText, moduleSaying } from "./scenarios.js";

const turnedAway = (decision: Awaited<ReturnType<typeof decide>>, protocol: string): string =>
  decision.rejected.find((each) => each.protocol === protocol)?.because ?? "";

describe("hard constraints in structured fields, without any prose", () => {
  it("strict end-to-end secrecy leaves only protocols that support it", async () => {
    const decision = await decide(moduleSaying("", { requires: ["end-to-end-secrecy"] }));
    expect(decision).toMatchObject({ selected_protocol: "ANP", abstained: false, evidence_spans: [], margin: 1 });
    expect(decision.rationale).toContain("end-to-end secrecy");
    expect(decision.rejected.map(({ protocol }) => protocol)).toEqual(["A2A", "ACP", "Agora"]);
    for (const { because } of decision.rejected) expect(because).toBe("cannot carry end-to-end secrecy");
  });

  for (const capability of ["verified-identity", "cross-boundary", "non-repudiation"] as const)
    it(`${capability} leaves only who brings it`, async () => {
      expect((await decide(moduleSaying("", { requires: [capability] }))).selected_protocol).toBe("ANP");
    });

  it("streaming excludes Agora, even if nothing else is allowed", async () => {
    const chosen = await decide(moduleSaying("", { requires: ["streaming"] }));
    expect(chosen.selected_protocol).toBe("A2A");
    expect(turnedAway(chosen, "Agora")).toBe("cannot carry streaming");
    const stuck = await decide(moduleSaying("", { requires: ["streaming"], only: ["Agora"] }));
    expect(stuck).toMatchObject({ selected_protocol: null, abstained: true, margin: 0 });
  });

  it("long jobs exclude protocols without tasks", async () => {
    const candidates = [featureRow(toy), ...defaultCandidates()];
    const decision = await decide(moduleSaying("", { requires: ["job-lifecycle"] }), { candidates });
    expect(decision.selected_protocol).toBe("ACP");
    expect(turnedAway(decision, "TOY")).toBe("cannot carry long-running jobs");
  });

  it("avoiding resource operations excludes ACP, whatever the evidence for it", async () => {
    const text = "Each ledger row sits at its own URL and is created, read, updated and deleted by plain web requests.";
    expect((await decideText(text)).selected_protocol).toBe("ACP");
    const decision = await decide(moduleSaying(text, { avoids: ["resource-operations"] }));
    expect(decision.selected_protocol).not.toBe("ACP");
    expect(turnedAway(decision, "ACP")).toBe("brings resource operations, which is to be avoided");
  });

  it("one allowed name, or all but one forbidden, decides with full margin", async () => {
    for (const names of [{ only: ["Agora"] }, { never: ["A2A", "ACP", "ANP"] }]) {
      const decision = await decide(moduleSaying("", names));
      expect(decision).toMatchObject({ selected_protocol: "Agora", margin: 1, abstained: false });
      expect(decision.rationale).toContain("The file allows no other.");
    }
  });

  it("a forbidden protocol is not chosen even if the text asks for nothing else", async () => {
    const text = "The two agents chat to and fro, question and answer, until they understand each other.";
    expect((await decideText(text)).selected_protocol).toBe("A2A");
    const decision = await decide(moduleSaying(text, { never: ["A2A"] }));
    expect(decision.selected_protocol).not.toBe("A2A");
    expect(turnedAway(decision, "A2A")).toBe("is ruled out by the file");
  });

  const CONTRADICTIONS = [
    { requires: ["end-to-end-secrecy"], never: ["ANP"] },
    { requires: ["verified-identity"], only: ["ACP", "Agora"] },
    { requires: ["verified-identity"], avoids: ["verified-identity"] },
    { only: ["A2A"], never: ["A2A"] },
  ] as const;
  for (const fields of CONTRADICTIONS)
    it(`${JSON.stringify(fields)} meets nowhere: no choice, and a reason for each candidate`, async () => {
      const decision = await decide(moduleSaying("The two agents chat to and fro.", fields));
      expect(decision).toMatchObject({ selected_protocol: null, abstained: true, margin: 0, evidence_spans: [] });
      expect(decision.rationale).toBe("No candidate can carry all that is demanded.");
      expect(decision.rejected.map(({ protocol }) => protocol).sort()).toEqual(["A2A", "ACP", "ANP", "Agora"]);
      expect(decision.rejected.filter(({ because }) => because === "")).toEqual([]);
    });

  it("a module without text is left undecided", async () => {
    expect(await decide(moduleSaying(""))).toMatchObject({ selected_protocol: null, abstained: true, margin: 0 });
  });

  it("survive a round trip through a file", async () => {
    const { scenarios, excluded } = readScenarios({
      scenario: "mill",
      modules: [
        { requires: ["end-to-end-secrecy"] },
        { avoids: ["resource-operations"], only: ["acp", "a2a"] },
        { never: ["agora"] },
      ],
    });
    expect(excluded).toEqual([]);
    const { decisions } = await route(scenarios);
    expect(decisions.map(({ module_id }) => module_id)).toEqual(["mill-M1", "mill-M2", "mill-M3"]);
    expect(decisions.map(({ selected_protocol }) => selected_protocol)).toEqual(["ANP", "A2A", null]);
  });
});

describe("hard constraints in words", () => {
  it("a demand for end-to-end secrecy excludes the others, although other needs are stronger", async () => {
    const decision = await decideText(
      "The planners chat to and fro and hand over to each other. All of it has to be encrypted from end to end so that no relay or operator in between can ever read the content.",
    );
    expect(decision.selected_protocol).toBe("ANP");
  });

  const EXCLUSIONS = ["Avoid resource semantics.", "No REST.", "Deliberately without REST endpoints."];
  for (const exclusion of EXCLUSIONS)
    it(`${JSON.stringify(exclusion)} does not end with ACP`, async () => {
      const decision = await decideText(
        `${exclusion} The two agents simply chat to and fro, question and answer, until both understand.`,
      );
      expect(decision.selected_protocol).toBe("A2A");
    });

  it("exclusions in words exclude the protocols that match", async () => {
    const excludes = ["resources with their own addresses that are created, read, updated and deleted by web requests"];
    const { scenarios } = readScenarios({
      scenario_id: "pier",
      modules: [{ text: "Berths are listed, fetched and updated at their own URLs.", locks: [], excludes }],
    });
    const [decision] = (await route(scenarios)).decisions;
    expect(decision?.selected_protocol).not.toBe("ACP");
    expect(decision?.rejected.find(({ protocol }) => protocol === "ACP")?.because).toContain("resource operations");
  });

  it("a lock by the name of a capability excludes the others", async () => {
    const { scenarios } = readScenarios({
      scenario_id: "pier",
      modules: [{ text: "Something about boats.", locks: ["end-to-end secrecy"], excludes: [] }],
    });
    expect((await route(scenarios)).decisions[0]?.selected_protocol).toBe("ANP");
  });

  it("have no effect if locks are switched off", async () => {
    const module = moduleSaying("The two agents chat to and fro, question and answer.", { only: ["ANP"] });
    expect((await decide(module)).selected_protocol).toBe("ANP");
    expect((await decide(module, { without: ["locks"] })).selected_protocol).toBe("A2A");
  });
});

describe("exclusions in prose", () => {
  it.each(["Orders are created and read over the web. No REST.", "Without any REST: records are created, updated and deleted."])(
    "exclude protocols with the avoided feature: %s",
    async (text) => {
      const decision = await decideText(text);
      expect(decision.selected_protocol).not.toBe("ACP");
      expect(turnedAway(decision, "ACP")).toContain("resource operations");
    },
  );

  it("are read from the excludes of a file, verbatim", async () => {
    const { scenarios } = readScenarios({
      scenario_id: "S",
      modules: [{ text: "Clerks look entries up and change them.", excludes: ["no REST"] }],
    });
    const [decision] = (await route(scenarios)).decisions;
    expect(decision?.selected_protocol).not.toBe("ACP");
  });
});

describe("short forms", () => {
  it("reads E2E as the words it abbreviates, with its priority", async () => {
    const decision = await decideText("Payloads must be E2E encrypted; REST resources are created and updated.");
    expect(decision.selected_protocol).toBe("ANP");
    expect(decision.evidence_spans.some((span) => span.includes("E2E"))).toBe(true);
  });
});

describe("an invalid scenario", () => {
  it.each([undefined, "a text", { scenario: "s", modules: [{ id: "a", text: "b" }] }, [{}]])(
    "is refused by name: %j",
    async (input) => {
      await expect(route(input as never)).rejects.toMatchObject({ code: "invalid_message" });
    },
  );
});
