import { describe, expect, it } from "vitest";
import { toy } from "../../test/toy/index.js";
import { protocols } from "./all.js";
import { defaultCandidates, featureRow, featureRows } from "./candidates.js";
import { CAPABILITIES, type CapabilityId, type Features } from "./features.js";
import type { Traits } from "./protocol.js";

/** Which capability of the model each trait stands for. */
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
  for (const protocol of [...protocols, toy])
    for (const [capability, has] of BY_TRAIT)
      it(`${protocol.id}: ${capability} is native exactly where its traits say so`, () => {
        expect(featureRow(protocol).support[capability] === "native").toBe(has(protocol.traits));
      });

  it("lets a protocol that says nothing of itself speak by its traits alone", () => {
    const row = featureRow({ id: "new", traits: { ...toy.traits, streaming: true, sealed: "end-to-end" } });
    expect(row).toMatchObject({ id: "new", name: "NEW", orientation: [], lessSuited: [], inherent: [] });
    expect(row.support).toEqual({ streaming: "native", "end-to-end-secrecy": "native" });
  });
});

describe("featureRows()", () => {
  it("has a row of every registered protocol, and that of ANP though nobody built it", () => {
    expect(protocols.map(({ id }) => id)).not.toContain("anp");
    expect(featureRows().map(({ id }) => id)).toEqual([...protocols.map(({ id }) => id), "anp"]);
    expect(rowNamed("ANP").support["end-to-end-secrecy"]).toBe("native");
  });

  it("prefers the row of a protocol that is built to the one that describes it", () => {
    const rows = featureRows([{ ...toy, id: "anp" }]);
    expect(rows).toHaveLength(1);
    expect(rows[0]?.support).toEqual({});
  });

  it("tells what each is made for and what not, in words and as data of the model", () => {
    const known = new Set<string>(CAPABILITIES.map(({ id }) => id));
    for (const row of featureRows()) {
      expect([row.madeFor, row.lessSuitedFor, row.title].filter((text) => text === "")).toEqual([]);
      expect([...row.orientation, ...row.lessSuited, ...row.inherent].filter((id) => !known.has(id))).toEqual([]);
      expect(row.orientation.filter((id) => row.support[id] === undefined)).toEqual([]);
      expect(row.orientation.filter((id) => row.lessSuited.includes(id))).toEqual([]);
      expect(row.orientation.length).toBeGreaterThan(0);
    }
  });

  it("knows that Agora seals nothing end to end, streams nothing, and proves nobody's identity", () => {
    const { support } = rowNamed("Agora");
    expect(support).not.toHaveProperty("end-to-end-secrecy");
    expect(support).not.toHaveProperty("streaming");
    expect(support).not.toHaveProperty("verified-identity");
  });

  it("knows ANP as the only one that keeps secrets from end to end", () => {
    const secret = featureRows().filter(({ support }) => support["end-to-end-secrecy"] !== undefined);
    expect(secret.map(({ name }) => name)).toEqual(["ANP"]);
  });
});

describe("defaultCandidates()", () => {
  it("are the seeds' four in the order of last resort", () => {
    expect(defaultCandidates().map(({ name }) => name)).toEqual(["A2A", "ACP", "Agora", "ANP"]);
  });

  it("stay the same when another protocol is registered, wherever it stands in the registry", () => {
    expect(defaultCandidates(featureRows([toy, ...protocols]))).toEqual(defaultCandidates());
    expect(defaultCandidates(featureRows([...protocols, toy]))).toEqual(defaultCandidates());
    expect(defaultCandidates(featureRows([...protocols].reverse())).map(({ id }) => id)).toEqual(["a2a", "acp", "agora", "anp"]);
  });
});
