import { describe, expect, it } from "vitest";
import type { Embedder } from "../embedder.js";
import { extractEvidenceSpans, type Span } from "../evidence/extract.js";
import { READINGS } from "../evidence/readings.js";
import { readSpans, readVector } from "./read-spans.js";

const SIZE = 384;

/** Remembers what it was asked for. */
class Listener implements Embedder {
  readonly heard: string[] = [];

  async embed(texts: readonly string[]): Promise<readonly Float32Array[]> {
    this.heard.push(...texts);
    return texts.map(() => new Float32Array(SIZE).fill(1 / Math.sqrt(SIZE)));
  }
}

/** All of a text as one span. */
function spanOf(text: string): Span {
  const module = { id: "m", passages: [{ kind: "need", text }] } as const;
  const [span] = extractEvidenceSpans({ id: "s", description: "", modules: [module] }, module, { stance: false, locks: true });
  if (span === undefined) throw new Error("no words");
  return span;
}

/** Words that no training sentence has, so that nothing is clear about them. */
function unheardOf(count: number, start = 0): string {
  return Array.from({ length: count }, (_, index) => `zqv${String.fromCharCode(97 + ((start + index) % 26))}xw`).join(" ");
}

describe("readSpans()", () => {
  it("embeds only spans that are unclear from their words", async () => {
    const clear = spanOf("All content is encrypted end to end, so that no intermediary can read the encrypted messages.");
    const unclear = spanOf(unheardOf(6));
    const embedder = new Listener();
    const readings = await readSpans([clear, unclear], embedder);
    expect(embedder.heard).toEqual([unclear.text]);
    expect([...readings.keys()]).toEqual([unclear]);
  });

  it("embeds the words in order, with an ellipsis for gaps", async () => {
    const whole = spanOf("Zqvaxw-zqvbxw, (zqvcxw) nothing zqvdxw!");
    const embedder = new Listener();
    await readSpans([{ ...whole, words: whole.words.filter(({ text }) => text !== "nothing") }], embedder);
    expect(embedder.heard).toEqual(["Zqvaxw-zqvbxw, (zqvcxw … zqvdxw"]);
  });

  it("returns shares that sum to one", async () => {
    const span = spanOf(unheardOf(5));
    const shares = (await readSpans([span], new Listener())).get(span);
    expect(shares).toHaveLength(READINGS.length);
    expect(shares?.reduce((sum, share) => sum + share, 0)).toBeCloseTo(1, 10);
  });

  it("takes the longest first, and at most four hundred characters", async () => {
    // A word and its blank are seven characters.
    const lengths = [10, 20, 15, 30, 18];
    const embedder = new Listener();
    await readSpans(
      lengths.map((length) => spanOf(unheardOf(length))),
      embedder,
    );
    expect(embedder.heard.map((text) => text.split(" ").length)).toEqual([30, 20]);
  });

  it("takes at most eight spans", async () => {
    const embedder = new Listener();
    await readSpans(
      Array.from({ length: 30 }, (_, index) => spanOf(unheardOf(2, index))),
      embedder,
    );
    expect(embedder.heard).toHaveLength(8);
  });

  it("reads the beginning of a span that is longer than all that may be read", async () => {
    const embedder = new Listener();
    await readSpans([spanOf(unheardOf(500))], embedder);
    expect(embedder.heard).toEqual([unheardOf(500).slice(0, 400)]);
  });

  it("embeds nothing without words", async () => {
    const embedder = new Listener();
    expect((await readSpans([{ ...spanOf("nothing"), words: [] }], embedder)).size).toBe(0);
    expect(embedder.heard).toEqual([]);
  });
});

describe("readVector()", () => {
  it("has a weight for each number of a vector in each reading", () => {
    // A table that is too short would give NaN for the last number.
    const last = new Float32Array(SIZE);
    last[SIZE - 1] = 1;
    expect(readVector(last).every((share) => share > 0 && share < 1)).toBe(true);
    const beyond = new Float32Array(SIZE + 1);
    beyond[SIZE] = 1;
    expect(readVector(beyond).some(Number.isNaN)).toBe(true);
  });
});
