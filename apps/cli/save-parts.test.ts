import { mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { safeName, savePart } from "./save-parts.js";

describe("safeName", () => {
  test.each([
    ["report.pdf", undefined, "report.pdf"],
    ["../../etc/passwd", undefined, "passwd"],
    ["..\\..\\evil.exe", undefined, "evil.exe"],
    ["/absolute", undefined, "absolute"],
    [".bashrc", undefined, "bashrc"],
    ["-rf", undefined, "rf"],
    ["..", "application/pdf", "part.pdf"],
    ["", "image/png", "part.png"],
    [undefined, undefined, "part.bin"],
    ["nul.txt", undefined, "_nul.txt"],
    ["a\u0000b\u001b[2J.txt", undefined, "a_b__2J.txt"],
    ["Ångström 1.txt", undefined, "Ångström 1.txt"],
  ])("%j of type %s is %s", (name, mediaType, want) => {
    expect(safeName(name, mediaType)).toBe(want);
  });

  test("is always one plain, visible, short piece of a path", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 300 }), (name) => {
        const got = safeName(name, undefined);
        expect(basename(got)).toBe(got);
        expect(got).toMatch(/^[^./\\\s-][^/\\]*$/u);
        expect(got.length).toBeLessThanOrEqual(120);
      }),
    );
  });
});

describe("savePart", () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "koine-save-"));
  });
  afterAll(() => rm(folder, { recursive: true }));

  test("never overwrites a file nor follows a link", async () => {
    const outside = join(folder, "outside.txt");
    const target = join(folder, "target");
    await writeFile(outside, "mine");
    const first = await savePart({ kind: "raw", bytes: Buffer.from("one"), name: "a.txt" }, target);
    await symlink(outside, join(target, "a-2.txt"));
    const second = await savePart({ kind: "raw", bytes: Buffer.from("two"), name: "x/a.txt" }, target);
    expect([first, second]).toEqual([join(target, "a.txt"), join(target, "a-3.txt")]);
    expect(await readFile(first, "utf8")).toBe("one");
    expect(await readFile(second, "utf8")).toBe("two");
    expect(await readFile(outside, "utf8")).toBe("mine");
    expect(await readdir(target)).toEqual(["a-2.txt", "a-3.txt", "a.txt"]);
  });
});
