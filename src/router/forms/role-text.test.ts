import { describe, expect, it } from "vitest";
import { shareOut } from "./role-text.js";

const TRIO = [
  { id: "RB-L3-01-M1", role: "retriever" },
  { id: "RB-L3-01-M2", role: "coordinator" },
  { id: "RB-L3-01-M3", role: "auditor" },
];

/** What each of the three gets, and what nobody gets. */
function shared(text: string, roles: readonly { readonly id: string; readonly role: string }[] = TRIO) {
  const { pieces, rest } = shareOut(text, roles);
  return [...pieces.map((own) => own.join(" | ")), rest];
}

describe("shareOut()", () => {
  it("assigns sentences to the roles they name, and keeps the rest separate", () => {
    expect(
      shared(
        "A newsroom checks tips overnight. The retriever pulls clippings from the morgue. The coordinator hands out shifts. Everything stays in one building. The auditor countersigns what is printed.",
      ),
    ).toEqual([
      "The retriever pulls clippings from the morgue",
      "The coordinator hands out shifts",
      "The auditor countersigns what is printed",
      "A newsroom checks tips overnight\nEverything stays in one building",
    ]);
  });

  it("follows a pronoun until another role is named", () => {
    expect(
      shared(
        "The retriever pulls clippings. It picks up where it stopped. Paper is expensive. However, it never pulls twice. The auditor signs. Its seal is public.",
      ),
    ).toEqual([
      "The retriever pulls clippings. It picks up where it stopped | it never pulls twice".replace(
        "it never",
        "However, it never",
      ),
      "",
      "The auditor signs. Its seal is public",
      "Paper is expensive",
    ]);
  });

  it("resolves it to the subject, they to all, the latter to the last", () => {
    const begin = "The retriever reports to the auditor.";
    expect(shared(`${begin} It must resume.`)).toEqual([`${begin} It must resume`, "", begin.slice(0, -1), ""]);
    expect(shared(`${begin} They share a key.`)[2]).toBe(`${begin} They share a key`);
    expect(shared(`${begin} The latter keeps a ledger.`)).toEqual([
      begin.slice(0, -1),
      "",
      `${begin} The latter keeps a ledger`,
      "",
    ]);
  });

  it.each([
    [
      "The retriever streams hits while the auditor seals them.",
      ["The retriever streams hits", "", "the auditor seals them", ""],
    ],
    ["The retriever streams hits, the auditor seals them.", ["The retriever streams hits", "", "the auditor seals them", ""]],
    ["The retriever streams hits; the auditor seals them.", ["The retriever streams hits", "", "the auditor seals them", ""]],
    ["The retriever is chatty, whereas the auditor is not.", ["The retriever is chatty", "", "the auditor is not", ""]],
    ["All of it is internal, but the auditor seals it.", ["", "", "the auditor seals it", "All of it is internal"]],
    ["The retriever wants order but no seals.", ["The retriever wants order but no seals", "", "", ""]],
    [
      "Every night, the retriever uploads, archives, and rests.",
      ["Every night, the retriever uploads, archives, and rests", "", "", ""],
    ],
    [
      "For the retriever, use forms, for the auditor, use seals.",
      ["For the retriever, use forms", "", "for the auditor, use seals", ""],
    ],
  ])("parts the clauses of: %s", (text, expected) => {
    expect(shared(text)).toEqual(expected);
  });

  it.each([
    "The retriever, coordinator, and auditor share one key.",
    "Notes from the retriever, the coordinator, and the auditor must be sealed.",
    "The retriever calls the coordinator, auditor, and nobody else.",
    "The retriever and the coordinator obey the auditor.",
  ])("leaves a list in one piece, for everyone in it: %s", (text) => {
    const whole = text.slice(0, -1);
    expect(shared(text)).toEqual([whole, whole, whole, ""]);
  });

  it("does not treat a compared role as the subject", () => {
    expect(shared("Unlike the auditor, the retriever needs no seal.")).toEqual([
      "Unlike the auditor, the retriever needs no seal",
      "",
      "",
      "",
    ]);
  });

  it("assigns an incidental remark to the role it is about", () => {
    expect(shared("The retriever, which feeds the auditor, streams.")).toEqual([
      "The retriever, which feeds the auditor, streams",
      "",
      "",
      "",
    ]);
  });

  it("recognizes roles of several words, by all of them, by the last, hyphenated, in the plural and with an apostrophe", () => {
    const roles = [
      { id: "a", role: "claims adjuster" },
      { id: "b", role: "fraud_analyst" },
      { id: "c", role: "Lead analyst" },
    ];
    expect(shared("Claims-adjusters work by post. The adjuster's files are big.", roles)[0]).toBe(
      "Claims-adjusters work by post. The adjuster's files are big",
    );
    expect(shared("The fraud analyst digs. The lead analysts vote. The analyst rests.", roles)).toEqual([
      "",
      "The fraud analyst digs",
      "The lead analysts vote",
      "The analyst rests",
    ]);
  });

  it("recognizes modules by number and id", () => {
    const roles = [
      { id: "RB-L2-04-M1", role: "M1" },
      { id: "RB-L2-04-M2", role: "M2" },
    ];
    expect(shared("M1 chats. Module 2 files reports. The first module may pause. RB-L2-04-M2 never pauses.", roles)).toEqual([
      "M1 chats | The first module may pause",
      "Module 2 files reports | RB-L2-04-M2 never pauses",
      "",
    ]);
  });

  it("keeps notes under their heading", () => {
    expect(
      shared("Retriever: bulk pulls. Resumable; checksummed.\nAuditor — Seals only. No chatter.\n\nBudget is small."),
    ).toEqual(["Retriever: bulk pulls. Resumable; checksummed", "", "Auditor — Seals only. No chatter", "Budget is small"]);
  });

  it("assigns everything to a single module", () => {
    expect(shareOut("Prints labels. Nobody may forge one.", [{ id: "x", role: "printer" }])).toEqual({
      pieces: [["Prints labels. Nobody may forge one."]],
      rest: "",
    });
  });

  it("is independent of the order of the modules", () => {
    const text = "The auditor signs; the retriever pulls, the coordinator plans. It also bills.";
    const turned = shareOut(text, TRIO.toReversed());
    expect(turned.pieces.toReversed()).toEqual(shareOut(text, TRIO).pieces);
  });

  it("reads a long text in time that grows with its length only", () => {
    const text = "The retriever, coordinator, and auditor talk; it goes on, and on. ".repeat(1_500);
    expect(shareOut(text, TRIO).pieces[2]?.join("").length).toBeGreaterThan(90_000);
  });
});
