import { describe, expect, it } from "vitest";
import { taskLimits } from "../../../tasks/limits.js";
import { MemoryRecords } from "../../../tasks/stores/memory-records.js";
import { DOCUMENT_BYTES, DOCUMENTS_KEPT, DocumentLibrary, LEARNED_KEPT, LEARNED_PER_CALLER } from "./library.js";

const SAMPLE = "---\nname: Echo\ndescription: ECHO protocol\nmultiround: true\n---\nECHO the JSON body back.\n";
const WEEK_MS = 7 * 24 * 60 * 60 * 1000;

class Clock {
  ms = 1_000;
  now = (): number => this.ms;
}

function recordsOn(clock: Clock): MemoryRecords {
  return new MemoryRecords(taskLimits(), clock.now);
}

describe("DocumentLibrary", () => {
  it("stores the exact text with its front matter, shared through the records", async () => {
    const clock = new Clock();
    const records = recordsOn(clock);
    const added = await new DocumentLibrary(records, clock).add(SAMPLE, { sources: ["https://a.example/echo"] });
    expect(added).toMatchObject({ name: "Echo", description: "ECHO protocol", multiround: true, addedAt: 1_000, learned: false });
    const restarted = new DocumentLibrary(records, clock);
    expect(await restarted.get(added.hash)).toEqual({ ...added, text: SAMPLE, sources: ["https://a.example/echo"] });
    expect(await restarted.list()).toEqual([added]);
    expect(await restarted.get("2jmj7l5rSw0yVb/vlWAYkK/YBwk=")).toBeUndefined();
  });

  it("counts uses and stores ratings, each bound to the exact text", async () => {
    const clock = new Clock();
    const library = new DocumentLibrary(recordsOn(clock), clock);
    const document = await library.add(SAMPLE);
    expect([await library.use(document), await library.use(document), await library.uses(document.hash)]).toEqual([1, 2, 2]);
    expect(await library.suitability(document)).toBe("unknown");
    await library.judge(document, "adequate");
    expect(await library.suitability(document)).toBe("adequate");
    expect(await library.suitability({ hash: document.hash, sha256: "another" })).toBe("unknown");
  });

  it("refuses both of two texts with the same hash", async () => {
    const clock = new Clock();
    const records = recordsOn(clock);
    const fingerprintOf = async (text: string) => ({ sha1: "same", sha256: text });
    const library = new DocumentLibrary(records, { now: clock.now, fingerprintOf });
    await library.add("one", { learned: true });
    await expect(library.add("other", { learned: true })).rejects.toMatchObject({ code: "conflict" });
    for (const text of ["one", "other"]) await expect(library.add(text)).rejects.toMatchObject({ code: "conflict" });
    await expect(library.get("same")).rejects.toMatchObject({ code: "conflict" });
    expect(await records.get("collision/same")).toEqual({ sha256: ["one", "other"], at: 1_000 });
  });

  it("forgets documents received in messages, unless the operator adds them", async () => {
    const clock = new Clock();
    const library = new DocumentLibrary(recordsOn(clock), clock);
    const { hash } = await library.add("brought", { learned: true });
    const chosen = await library.add("chosen", { learned: true });
    expect(await library.add("chosen")).toMatchObject({ hash: chosen.hash, learned: false });
    expect(await library.add("chosen", { learned: true })).toMatchObject({ learned: false });
    clock.ms += WEEK_MS;
    expect(await library.get(hash)).toBeUndefined();
    expect(await library.get(chosen.hash)).toMatchObject({ text: "chosen" });
  });

  it("rejects a text over the limit, counted in bytes", async () => {
    const clock = new Clock();
    const library = new DocumentLibrary(recordsOn(clock), clock);
    await library.add("x".repeat(DOCUMENT_BYTES));
    await expect(library.add("x".repeat(DOCUMENT_BYTES + 1))).rejects.toMatchObject({ code: "too_large" });
    await expect(library.add("ü".repeat(DOCUMENT_BYTES / 2 + 1))).rejects.toMatchObject({ code: "too_large" });
  });

  it("limits the number of documents", async () => {
    const clock = new Clock();
    const library = new DocumentLibrary(recordsOn(clock), clock);
    for (let index = 0; index < DOCUMENTS_KEPT; index++) await library.add(`document ${index}`);
    await expect(library.add("one too many")).rejects.toMatchObject({ code: "overloaded" });
    expect(await library.add("document 0")).toMatchObject({ text: "document 0" });
  });

  it("limits received documents per caller and in total, and reserves room for added ones", async () => {
    const clock = new Clock();
    const library = new DocumentLibrary(recordsOn(clock), clock);
    const bring = (from: string, count: number) => library.add(`${from} brings ${count}`, { learned: true, from });
    for (let count = 0; count < LEARNED_PER_CALLER; count++) await bring("a/", count);
    await expect(bring("a/", LEARNED_PER_CALLER)).rejects.toMatchObject({ code: "overloaded" });
    expect(await bring("a/", 0)).toMatchObject({ learned: true });
    for (let count = LEARNED_PER_CALLER; count < LEARNED_KEPT; count++) await bring(`caller ${count}`, count);
    await expect(bring("another", 0)).rejects.toMatchObject({ code: "overloaded" });
    expect(await library.add("chosen")).toMatchObject({ learned: false });
    clock.ms += WEEK_MS;
    expect(await bring("a/", LEARNED_PER_CALLER)).toMatchObject({ learned: true });
  });

  it("forgets uses and ratings with received documents", async () => {
    const clock = new Clock();
    const records = recordsOn(clock);
    const library = new DocumentLibrary(records, clock);
    for (const document of [await library.add("chosen"), await library.add("brought", { learned: true })]) {
      await library.judge(document, "adequate");
      await library.use(document);
    }
    clock.ms += WEEK_MS;
    const { hash } = await library.add("chosen");
    expect((await records.list("", 10)).map(({ key }) => key)).toEqual([
      `document/${hash}`,
      `suitability/${hash}`,
      `use/${hash}`,
    ]);
  });

  it("ignores records of another format", async () => {
    const clock = new Clock();
    const records = recordsOn(clock);
    await records.put("document/x", { text: 7 });
    const library = new DocumentLibrary(records, clock);
    expect([await library.get("x"), await library.list()]).toEqual([undefined, []]);
  });
});
