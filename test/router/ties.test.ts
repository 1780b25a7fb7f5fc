import { describe, expect, it } from "vitest";
import { type CapabilityId, type Module, type Routing, route } from "../../src/router/index.js";

const RANKING = ["A2A", "ACP", "ANP", "Agora"];

const needing = (id: string, ...requires: CapabilityId[]): Module => ({ id, passages: [], requires });
const saying = (id: string, text: string): Module => ({ id, passages: [{ kind: "need", text }] });

/** Several candidates meet these needs equally. */
const TIES: readonly Module[] = [
  needing("record", "audit-trail"),
  needing("found", "discovery"),
  needing("again", "ordering"),
  needing("rules-and-retries", "routine-governance", "idempotency"),
  needing("ballot-and-records", "collective-decision", "resource-operations"),
];
/** One candidate is designed for these. */
const DECIDED: readonly Module[] = [
  needing("voted", "collective-decision"),
  needing("secret", "end-to-end-secrecy"),
  saying("talk", "The two agents talk to and fro, with follow-up questions, until the plan is settled."),
  saying("greeting", "hello"),
];

const routed = (ranking?: readonly string[]): Promise<Routing> =>
  route({ id: "ties", description: "", modules: [...TIES, ...DECIDED] }, { ranking });
const chosenIn = ({ decisions }: Routing): ReadonlyMap<string, string | null> =>
  new Map(decisions.map(({ module_id, selected_protocol }) => [module_id, selected_protocol]));

describe("a ranking", () => {
  it("changes exactly the decisions in which feasible candidates tie", async () => {
    const [one, other] = [chosenIn(await routed(RANKING)), chosenIn(await routed(RANKING.toReversed()))];
    const changed = [...one.keys()].filter((id) => one.get(id) !== other.get(id));
    expect(changed).toEqual(TIES.map(({ id }) => id));
  });

  it("chooses the best ranked of those that support the need best, and says so", async () => {
    const { decisions, judgements } = await routed(["Agora", "ANP", "ACP", "A2A"]);
    const chosen = new Map(decisions.map((decision) => [decision.module_id, decision]));
    expect(chosen.get("record")).toMatchObject({ selected_protocol: "Agora", margin: 0, abstained: false });
    expect(chosen.get("found")?.selected_protocol).toBe("ANP");
    expect(chosen.get("record")?.rationale).toContain("the ranking decides");
    expect(judgements.slice(0, TIES.length).map(({ decidedBy }) => decidedBy)).toEqual(TIES.map(() => "ranking"));
  });

  it("is not replaced by an order of its own: without one, needs that nobody is made for decide nothing", async () => {
    const chosen = chosenIn(await routed());
    expect([chosen.get("record"), chosen.get("found"), chosen.get("again")]).toEqual([null, null, null]);
    expect(chosen.get("rules-and-retries")).toBe("ACP");
  });

  it("decides nothing for a text that names no need", async () => {
    expect(chosenIn(await routed(RANKING)).get("greeting")).toBeNull();
  });
});
