import { describe, expect, it } from "vitest";
import { finalProtocol } from "./final-protocol.js";

describe("finalProtocol()", () => {
  // What `extract_substring` of agora-protocol 0.2.0 gives for the same texts, an empty document apart: nobody can follow one.
  const CASES: readonly (readonly [text: string, want: string | undefined])[] = [
    ["<FINALPROTOCOL>\n---\nname: A\n---\nSend x.\n\n</FINALPROTOCOL>", "---\nname: A\n---\nSend x."],
    ["Agreed! <FinalProtocol> one </finalPROTOCOL> bye", "one"],
    ["<FINALPROTOCOL>one</FINALPROTOCOL><FINALPROTOCOL>two</FINALPROTOCOL>", "one"],
    ["</FINALPROTOCOL>one<FINALPROTOCOL>two</FINALPROTOCOL>", "two"],
    ["<FINALPROTOCOL>never closed", undefined],
    ["no tags at all", undefined],
    ["<FINALPROTOCOL>  \n </FINALPROTOCOL>", undefined],
  ];
  for (const [text, want] of CASES)
    it(`reads ${JSON.stringify(text)}`, () => {
      expect(finalProtocol(text)).toBe(want);
    });

  it("keeps its place where a letter is longer in lower case; the library does not, and cuts the document", () => {
    expect(finalProtocol("İ <FINALPROTOCOL>İstanbul</FINALPROTOCOL>")).toBe("İstanbul");
  });

  it("does not take long over a text full of open tags", () => {
    expect(finalProtocol("<FINALPROTOCOL>".repeat(200_000))).toBeUndefined();
  });
});
