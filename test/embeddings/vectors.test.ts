import { cp, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { embeddingsDir, embeddingsStatus, type LocalEmbedder, openEmbedder } from "../../src/router/embeddings/index.js";
import { readVector } from "../../src/router/embeddings/read-spans.js";
import { READINGS } from "../../src/router/evidence/readings.js";

/** By the Python packages onnxruntime 1.x and tokenizers, from the same files: mean of the rows, divided by its length. */
const REFERENCE: readonly { readonly text: string; readonly first: readonly number[]; readonly later: readonly number[] }[] = [
  {
    text: "The two agents take turns in a long conversation.",
    first: [-0.015903, -0.001927, -0.061486, -0.043501, -0.006582, 0.002066],
    later: [-0.01396, 0.018111, -0.030795],
  },
  {
    text: "Messages must be encrypted end to end so that no relay can read them.",
    first: [0.024777, 0.014039, 0.025107, 0.026319, 0.010774, -0.018133],
    later: [-0.00548, 0.044713, -0.066566],
  },
  {
    text: "Bananas are rich in potassium.",
    first: [-0.015649, -0.011527, 0.012171, 0.045098, -0.016506, 0.040158],
    later: [0.035878, 0.125407, 0.02834],
  },
  {
    // More than the limit of 128 tokens, with accents, quotation marks, dashes and digits.
    text: "Each café's naïve résumé — e.g. “queue_42/retry” — is re-sent, isn't it? ".repeat(20),
    first: [-0.067731, -0.022705, -0.013476, 0.071853, 0.008581, 0.07622],
    later: [-0.003694, 0.03836, -0.008258],
  },
];
const LATER = [100, 200, 383];

/** The worst measured accuracy of the head on an author outside its training data. Guessing would give 0.04. */
const READ_RIGHT = 0.6;
/** Kept whatever the head predicts: its errors on fan-out are documented here. */
const UNSEEN: readonly (readonly [text: string, reading: string])[] = [
  ["Nobody but the addressee must ever be able to open what we send.", "end-to-end-secrecy"],
  ["Tell the whole fleet of helpers at the same moment and gather what they answer.", "fan-out"],
  ["Send the same question to twenty workers in parallel and merge their answers.", "fan-out"],
  ["The members of the group put it to a vote and keep to the outcome.", "collective-decision"],
  ["If the same order arrives a second time, it must not be carried out a second time.", "idempotency"],
  ["Tomatoes ripen on the balcony in August.", "none"],
  ["When the receiver cannot keep up, the sender has to slow down.", "back-pressure"],
  ["Both companies have to prove who they are before the first word is exchanged.", "verified-identity"],
  ["Show the words of the answer on the screen while it is still being written.", "streaming"],
  ["The job runs all night, and in the morning one looks up whether it has finished.", "job-lifecycle"],
  ["Employees sign in with the account that the company has given them.", "enterprise-auth"],
  ["Let the two sides agree on a format before they start.", "protocol-negotiation"],
];

describe("openEmbedder()", () => {
  let embedder: LocalEmbedder;
  beforeAll(async () => {
    embedder = await openEmbedder();
  });
  afterAll(() => embedder.close());

  const embed = async (text: string): Promise<Float32Array> => (await embedder.embed([text]))[0] ?? new Float32Array();
  const cosine = async (one: string, other: string): Promise<number> => {
    const [a, b] = [await embed(one), await embed(other)];
    return a.reduce((sum, value, index) => sum + value * (b[index] ?? 0), 0);
  };

  it.each(REFERENCE)("gives the reference's numbers for $text", async ({ text, first, later }) => {
    const vector = await embed(text);
    expect(vector).toHaveLength(384);
    const found = [...vector.slice(0, first.length), ...LATER.map((at) => vector[at] ?? 0)];
    // The model is quantized, and its integer kernels round differently from one CPU family to another: 0.002 was seen.
    for (const [index, expected] of [...first, ...later].entries())
      expect(Math.abs((found[index] ?? 9) - expected)).toBeLessThan(5e-3);
  });

  it("places sentences of similar meaning close together", async () => {
    const related = await cosine("The parcel was delivered this morning.", "Earlier today the package arrived.");
    const unrelated = await cosine("The parcel was delivered this morning.", "Basalt is a volcanic rock.");
    expect(related).toBeGreaterThan(0.5);
    expect(unrelated).toBeLessThan(0.2);
  });

  it("does not depend on the other texts of a batch", async () => {
    const text = "Each reply waits for the one before.";
    const other = await openEmbedder();
    const alone = await other.embed([text]);
    await other.close();
    const among = await embedder.embed(["Something else.", text, "A third one."]);
    expect(among[1]).toEqual(alone[0]);
  });

  it("returns vectors that may be written to", async () => {
    const first = await embed("A text to spoil.");
    const kept = [...first];
    first.fill(0);
    const second = await embed("A text to spoil.");
    expect([...second]).toEqual(kept);
    second.fill(0);
    expect([...(await embed("A text to spoil."))]).toEqual(kept);
  });

  it("has vectors for the empty text and for an endless word", async () => {
    for (const text of ["", "x".repeat(1_000_000)]) expect(Math.hypot(...(await embed(text)))).toBeCloseTo(1, 4);
  });

  it("refuses calls after close, and may be closed again", async () => {
    const other = await openEmbedder();
    await other.close();
    await other.close();
    await expect(other.embed(["too late"])).rejects.toMatchObject({ code: "unavailable" });
  });

  it("has a head that classifies most sentences correctly", async () => {
    let right = 0;
    for (const [text, reading] of UNSEEN) {
      const shares = readVector(await embed(text));
      if (READINGS[shares.indexOf(Math.max(...shares))] === reading) right++;
    }
    expect(right / UNSEEN.length).toBeGreaterThanOrEqual(READ_RIGHT);
  });
});

describe("a changed model file", () => {
  it("is refused with an error", async () => {
    const dir = await mkdtemp(join(tmpdir(), "koine-embeddings-"));
    try {
      const from = embeddingsDir(undefined);
      await cp(from, dir, { recursive: true, filter: (path) => !path.includes("node_modules") });
      await symlink(join(from, "node_modules"), join(dir, "node_modules"));
      expect(await embeddingsStatus({ dir })).toMatchObject({ state: "ready" });
      await writeFile(join(dir, "model", "tokenizer.json"), " ", { flag: "a" });
      expect(await embeddingsStatus({ dir })).toMatchObject({ state: "damaged" });
      await expect(openEmbedder({ dir })).rejects.toMatchObject({
        code: "unsupported",
        message: expect.stringMatching(/tokenizer\.json is not the file it should be.*koine embeddings install/),
      });
    } finally {
      await rm(dir, { recursive: true, force: true });
    }
  });
});
