import { describe, expect, it } from "vitest";
import { toy } from "../../test/toy/index.js";
import { protocols } from "./all.js";
import { defaultCandidates, featureRow, featureRows } from "./candidates.js";
import { CAPABILITIES, type CapabilityId, type Features } from "./features.js";
import type { Traits } from "./protocol.js";

/** The capability of the model for each trait. */
const BY_TRAIT: readonly (readonly [CapabilityId, (traits: Traits) => boolean])[] = [
  ["streaming", ({ streaming }) => streaming],
  ["job-lifecycle", ({ tasks }) => tasks],
  ["ordering", ({ resume }) => resume],
  ["idempotency", ({ idempotentSend }) => idempotentSend],
  ["turn-taking", ({ inputTurns }) => inputTurns],
  ["verified-identity", ({ signed }) => signed === "end-to-end"],
  ["non-repudiation", ({ signed }) => signed === "end-to-end"],
  ["end-to-end-secrecy", ({ sealed }) => sealed === "end-to-end"],
];

const rowNamed = (name: string, rows: readonly Features[] = featureRows()): Features => {
  const row = rows.find((each) => each.name === name);
  if (row === undefined) throw new Error(`no row is called ${name}`);
  return row;
};

describe("featureRow()", () => {
  for (const protocol of [...protocols, toy].filter(({ features }) => features?.complete !== true))
    for (const [capability, has] of BY_TRAIT)
      it(`${protocol.id}: ${capability} is native exactly if its traits say so`, () => {
        expect(featureRow(protocol).support[capability] === "native").toBe(has(protocol.traits));
      });

  it("leaves the row of a protocol alone whose claims are complete", () => {
    const { support } = rowNamed("ANP");
    expect([support["job-lifecycle"], support.idempotency, support["verified-identity"]]).toEqual([
      "composed",
      "composed",
      "native",
    ]);
  });

  it("derives the row of a protocol without claims from its traits", () => {
    const row = featureRow({ id: "new", traits: { ...toy.traits, streaming: true, sealed: "end-to-end" } });
    expect(row).toMatchObject({ id: "new", name: "NEW", orientation: [], lessSuited: [], inherent: [] });
    expect(row.support).toEqual({ streaming: "native", "end-to-end-secrecy": "native" });
  });
});

describe("featureRows()", () => {
  it("has a row for every registered protocol, with its own traits and claims", () => {
    expect(featureRows()).toEqual(featureRows(protocols));
    expect(rowNamed("ANP").support["end-to-end-secrecy"]).toBe("native");
  });

  it("describes what each protocol is suited for, as text and as data of the model", () => {
    const known = new Set<string>(CAPABILITIES.map(({ id }) => id));
    for (const row of featureRows()) {
      expect([row.madeFor, row.lessSuitedFor, row.title].filter((text) => text === "")).toEqual([]);
      expect([...row.orientation, ...row.lessSuited, ...row.inherent].filter((id) => !known.has(id))).toEqual([]);
      expect(row.orientation.filter((id) => row.support[id] === undefined)).toEqual([]);
      expect(row.orientation.filter((id) => row.lessSuited.includes(id))).toEqual([]);
      expect(row.orientation.length).toBeGreaterThan(0);
    }
  });

  it("Agora has no end-to-end encryption, no streaming and no verified identity", () => {
    const { support } = rowNamed("Agora");
    expect(support).not.toHaveProperty("end-to-end-secrecy");
    expect(support).not.toHaveProperty("streaming");
    expect(support).not.toHaveProperty("verified-identity");
  });

  it("ANP and SAGE are the only ones with end-to-end encryption", () => {
    const secret = featureRows().filter(({ support }) => support["end-to-end-secrecy"] !== undefined);
    expect(secret.map(({ name }) => name)).toEqual(["ANP", "SAGE"]);
  });
});

describe("defaultCandidates()", () => {
  it("are the four of the seed in tie-breaking order", () => {
    expect(defaultCandidates().map(({ name }) => name)).toEqual(["A2A", "ACP", "Agora", "ANP"]);
  });

  it("do not change when another protocol is registered, at any position", () => {
    expect(defaultCandidates(featureRows([toy, ...protocols]))).toEqual(defaultCandidates());
    expect(defaultCandidates(featureRows([...protocols, toy]))).toEqual(defaultCandidates());
    expect(defaultCandidates(featureRows([...protocols].reverse())).map(({ id }) => id)).toEqual(["a2a", "acp", "agora", "anp"]);
  });
});
