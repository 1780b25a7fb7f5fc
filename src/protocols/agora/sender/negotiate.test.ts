import { describe, expect, it } from "vitest";
import { finalProtocol } from "./negotiate.js";

describe("finalProtocol()", () => {
  // The results of `extract_substring` of agora-protocol 0.2.0, except for an empty document, which is useless.
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

  it("handles letters that are longer in lower case, unlike the library", () => {
    expect(finalProtocol("İ <FINALPROTOCOL>İstanbul</FINALPROTOCOL>")).toBe("İstanbul");
  });

  it("is linear in a text full of open tags", () => {
    expect(finalProtocol("<FINALPROTOCOL>".repeat(200_000))).toBeUndefined();
  });
});
