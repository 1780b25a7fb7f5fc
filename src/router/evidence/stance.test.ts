import { describe, expect, it } from "vitest";
import { sentencesOf } from "../text/clauses.js";
import { wordsOf } from "../text/words.js";
import { stanceAt, turnedIn } from "./stance.js";
import type { Stance } from "./stance-frames.js";

/** How the word stands, in each sentence that has it. */
function stancesOf(word: string, text: string): readonly Stance[] {
  return sentencesOf(text).flatMap((sentence) => {
    const turned = turnedIn(text, sentence);
    return wordsOf(text, sentence.start, sentence.end)
      .filter((each) => each.text === word)
      .map((each) => stanceAt(turned, each));
  });
}

const STANCES: readonly (readonly [Stance, string])[] = [
  ["wanted", "We ask for votes."],
  ["wanted", "Never without votes."],
  ["denied", "There is no need for votes."],
  ["denied", "It doesn't need any votes."],
  ["denied", "It doesn’t need any votes."],
  ["denied", "Votes are not required here."],
  ["denied", "Votes: not needed."],
  ["denied", "Nobody cares about signatures or votes."],
  ["denied", "We need no seals, nor votes."],
  ["wanted", "There is no need for signatures, but votes are what we live by."],
  ["wanted", "Signatures are irrelevant. Votes count."],
  ["avoided", "Avoid votes."],
  ["avoided", "A talk rather than votes."],
  ["wanted", "Votes rather than a talk."],
  ["avoided", "Instead of votes they hold a talk."],
  ["avoided", "Votes are to be avoided."],
  ["elsewhere", "Votes are handled by the council."],
  ["elsewhere", "The old system had votes."],
  ["elsewhere", "Votes come in a later phase."],
  ["wanted", "The old system is gone; now there are votes."],
  ["avoided", "We do not need, and in fact avoid, votes."],
];

describe("stanceAt()", () => {
  for (const [stance, text] of STANCES)
    it(`takes votes for ${stance} in: ${text}`, () => {
      expect(stancesOf("votes", text)).toEqual([stance]);
    });

  it("ends with the clause: text after a long list item has its own stance", () => {
    const text = "Avoid meetings, minutes, and votes at noon, the ballots at dusk are what everybody waits for.";
    expect(stancesOf("minutes", text)).toEqual(["avoided"]);
    expect(stancesOf("ballots", text)).toEqual(["wanted"]);
  });

  it("continues a clause after a comma", () => {
    const text = "There is no need for seals: or for stamps, nor for votes.";
    expect(stancesOf("stamps", text)).toEqual(["denied"]);
    expect(stancesOf("votes", text)).toEqual(["denied"]);
  });

  it("finds nothing turned in a plain sentence", () => {
    const text = "The members vote on it.";
    expect(sentencesOf(text).map((sentence) => turnedIn(text, sentence).size)).toEqual([0]);
  });
});
